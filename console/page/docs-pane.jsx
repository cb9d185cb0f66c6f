/** The documentation of the schema of the role: its types, fields and arguments with their descriptions, and a search. In place of the pane of GraphiQL, which
 *  renders thousands of types, or all fields of a root type, at once. A click with Ctrl on a name in the editor leads here.
 *  Not here: the coordinates (docs-coordinates.js), the search (docs-search.js). */
import { MarkdownContent, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { getNamedType, isEnumType } from 'graphql';
import { useContext, useEffect, useState } from 'react';
import {
  coordinateOf,
  coordinateText,
  defaultOf,
  foundAt,
  membersIn,
  relatedTo,
} from './docs-coordinates.js';
import { searchedIn } from './docs-search.js';
import { ExploreContext } from './editor.js';
import { PaneIcon } from './pane-icon.jsx';

export const DOCS_PANE = {
  title: 'Documentation',
  icon: Icon,
  content: Pane,
};

/** The most items of a list at first. */
const MOST_ITEMS = 50;
/** The most coordinates that a search finds. */
const MOST_FOUND = 100;

function Icon() {
  return <PaneIcon path="M6 4h11a2 2 0 0 1 2 2v14H7a2 2 0 0 1-2-2V5a1 1 0 0 1 1-1zM9 9h6M9 13h6" />;
}

function Pane() {
  const { schema, reference, problem } = useGraphiQL((state) => ({
    schema: state.schema,
    reference: state.schemaReference,
    problem: state.fetchError,
  }));
  const { setSchemaReference } = useGraphiQLActions();
  const { visited, setVisited } = useContext(ExploreContext).docs;
  const [search, setSearch] = useState('');
  const open = (coordinate) => {
    setSearch('');
    setVisited([...visited, coordinate]);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each click
  useEffect(() => {
    if (!reference) return;
    const coordinate = coordinateOf(reference);
    if (coordinate) open(coordinate);
    setSchemaReference(null);
  }, [reference]);
  const coordinate = visited.at(-1);
  return (
    <div className="pane docs">
      <h2>Documentation</h2>
      {problem && <Problem text={problem} />}
      {coordinate && (
        <button type="button" onClick={() => setVisited(visited.slice(0, -1))}>
          Back
        </button>
      )}
      {schema && !coordinate?.field && (
        <div className="controls">
          <label>
            {coordinate ? `Find in ${coordinate.type}` : 'Find a type, a field or an argument'}
            <input type="search" value={search} onChange={(event) => setSearch(event.target.value)} />
          </label>
        </div>
      )}
      {schema && coordinate && (
        <Described key={coordinateText(coordinate)} {...{ schema, coordinate, search, open }} />
      )}
      {schema && !coordinate && search !== '' && <Found {...{ schema, search, open }} />}
      {schema && !coordinate && search === '' && <Types {...{ schema, open }} />}
    </div>
  );
}

function Problem({ text }) {
  return (
    <p className="problem" role="status">
      The schema could not be read: {text}
    </p>
  );
}

/** The root types and all types. */
function Types({ schema, open }) {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
    .filter(Boolean)
    .map(({ name }) => name);
  const names = schema.packed.head.types.map(({ name }) => name);
  const others = names.filter((name) => !roots.includes(name) && !name.startsWith('__'));
  return (
    <>
      <Description text={schema.description} />
      <Names title="Root types" {...{ names: roots, open }} />
      <Names title="All types" {...{ names: others, open }} />
    </>
  );
}

function Found({ schema, search, open }) {
  const [found, setFound] = useState(null);
  useEffect(() => {
    const controller = new AbortController();
    searchedIn(schema, search, MOST_FOUND, controller.signal).then(
      (coordinates) => controller.signal.aborted || setFound(coordinates),
    );
    return () => controller.abort();
  }, [schema, search]);
  return (
    <>
      <p role="status">
        {found === null && 'Searching…'}
        {found?.length === 0 && 'Nothing has this name.'}
        {found?.length === MOST_FOUND && `The first ${MOST_FOUND}:`}
      </p>
      <ul className="fields">
        {found?.map((coordinate) => (
          <li key={coordinateText(coordinate)}>
            <Link text={coordinateText(coordinate)} onClick={() => open(coordinate)} />
            {coordinate.argument && <span className="faint"> ({coordinate.argument})</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** A type with its members, or one of them with its arguments. */
function Described({ schema, coordinate, search, open }) {
  const { type, member } = foundAt(schema, coordinate);
  if (!type) {
    return <p role="status">The schema of this role has no {coordinateText(coordinate)}.</p>;
  }
  const { description } = member ?? type;
  const text = search.toLowerCase();
  const members = member ? (member.args ?? []) : membersIn(type);
  return (
    <>
      <h3>{member ? `${type.name}.${member.name}` : type.name}</h3>
      {member && (
        <p>
          <TypeLink type={member.type} open={open} />
        </p>
      )}
      <Description text={description} />
      <Deprecation reason={member?.deprecationReason} />
      {!member &&
        relatedTo(schema, type).map(([title, names]) => <Names key={title} {...{ title, names, open }} />)}
      <Limited
        title={titleFor(type, member)}
        items={members.filter(({ name }) => name.toLowerCase().includes(text))}
        render={(each) => (
          <Member
            key={each.name}
            {...{ member: each, open }}
            coordinate={each.args && { type: type.name, field: each.name }}
          />
        )}
      />
    </>
  );
}

function titleFor(type, member) {
  if (member) return 'Arguments';
  return isEnumType(type) ? 'Values' : 'Fields';
}

/** A field that leads to its own description, or an argument, an input field or a value. */
function Member({ member, coordinate, open }) {
  const value = defaultOf(member);
  return (
    <li>
      {coordinate ? <Link text={member.name} onClick={() => open(coordinate)} /> : <code>{member.name}</code>}
      {member.args?.length > 0 && '(…)'}
      {member.type && ': '}
      {member.type && <TypeLink type={member.type} open={open} />}
      {value !== undefined && <span className="faint"> = {value}</span>}
      <Description text={member.description} />
      <Deprecation reason={member.deprecationReason} />
    </li>
  );
}

function Names({ title, names, open }) {
  return (
    <Limited
      title={title}
      items={names}
      render={(name) => (
        <li key={name}>
          <Link text={name} onClick={() => open({ type: name })} />
        </li>
      )}
    />
  );
}

/** A list whose first items are shown, and more when the user wants them. */
function Limited({ title, items, render }) {
  const [shown, setShown] = useState(MOST_ITEMS);
  if (items.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul className="fields">{items.slice(0, shown).map(render)}</ul>
      {items.length > shown && (
        <button type="button" onClick={() => setShown(shown + MOST_ITEMS * 4)}>
          Show more of {items.length}
        </button>
      )}
    </>
  );
}

function TypeLink({ type, open }) {
  const { name } = getNamedType(type);
  const [before, after] = String(type).split(name);
  return (
    <>
      {before}
      <Link text={name} onClick={() => open({ type: name })} />
      {after}
    </>
  );
}

function Link({ text, onClick }) {
  return (
    <button type="button" className="link" onClick={onClick}>
      {text}
    </button>
  );
}

function Description({ text }) {
  return text ? <MarkdownContent type="description">{text}</MarkdownContent> : null;
}

function Deprecation({ reason }) {
  return typeof reason === 'string' ? <p className="problem">Deprecated: {reason}</p> : null;
}
