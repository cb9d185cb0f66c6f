/** One object of the metadata: what is wrong with it, its relationships as a diagram and as a list, the columns of a table, and its definition without
 *  secrets. In: `describe_object`, which runs no statement. */
import { useState } from 'react';
import { adviceFor, reasonOf } from './model-advice.js';
import { Diagram } from './model-diagram.jsx';
import { kindInWords, partsOf } from './model-index.js';
import { Scrolling } from './scrolling.jsx';
import { ROOT } from './session.js';
import { useAnswer } from './use-answer.js';
import { useTitle } from './use-title.js';

export function ObjectDetails({ session, index, objectKey, addressOf, onOpen }) {
  const { answer, problem } = useAnswer(session, 'describe_object', { key: objectKey });
  const { kind, name } = partsOf(objectKey);
  useTitle(name);
  const object = index.byKey.get(objectKey);
  const link = (key) => <ObjectLink {...{ index, addressOf, onOpen }} objectKey={key} />;
  const owner = index.ownerOf(objectKey);
  const description = (answer?.graphql ?? answer?.table)?.description;
  const center = [owner, objectKey].find(
    (key) => key && index.edgesOf(key).length > 0 && index.byKey.has(key),
  );
  return (
    <article>
      <h1>{name}</h1>
      <p className="faint subtitle">
        {kindInWords(kind)}
        {answer?.table?.type && answer.table.type !== 'table' && ` (${answer.table.type})`}
        {owner && <> in {link(owner)}</>}
        {object?.to && <> → {link(object.to)}</>}
      </p>
      <div role="status">
        {problem && <p className="problem">{problem.replace(/[^.)]$/, '$&.')}</p>}
        {!answer && !problem && <p className="faint">Loading…</p>}
      </div>
      {description && <p>{description}</p>}
      {answer && (
        <Problems
          found={index.problemsOf(objectKey)}
          titleOf={(found) =>
            found.key === objectKey ? (
              STATES[found.isConsistent === true]
            ) : (
              <ProblemTitle {...{ found, index }} links={{ addressOf, onOpen }} />
            )
          }
        />
      )}
      {kind === 'table' && object && <TableLinks object={object} />}
      {center && <Diagram key={center} {...{ center, index, addressOf, onOpen }} />}
      {answer && (
        <>
          {answer.table && (
            <Columns table={answer.table} graphql={answer.graphql} link={link} object={object} />
          )}
          {answer.enum_values && <EnumValues values={answer.enum_values} />}
          <Relationships {...{ objectKey, index, link }} />
          <Nested objects={answer.objects} link={link} index={index} />
          <Definition definition={answer.definition} />
        </>
      )}
    </article>
  );
}

const STATES = { true: 'Not as declared', false: 'Inconsistent' };

export function ObjectLink({ index, objectKey, addressOf, onOpen }) {
  const { name } = index.byKey.get(objectKey) ?? partsOf(objectKey);
  return (
    <a href={addressOf(objectKey)} onClick={(event) => onOpen(event, objectKey)}>
      {name}
    </a>
  );
}

export function Problems({ found, titleOf }) {
  return found.map((each) => (
    <section key={`${each.key} ${each.reason}`} className="inconsistent">
      <h2>{titleOf(each)}</h2>
      <p>{reasonOf(each)}</p>
      {adviceFor(each).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </section>
  ));
}

/** The kind and name of an inconsistent object, and the object that it is nested in. */
export function ProblemTitle({ found: { key, name }, index, links }) {
  if (!key) return name;
  const owner = index.ownerOf(key);
  return (
    <>
      {kindInWords(partsOf(key).kind)} <ObjectLink index={index} objectKey={key} {...links} />
      {owner && !owner.startsWith('source/') && (
        <>
          {' '}
          in <ObjectLink index={index} objectKey={owner} {...links} />
        </>
      )}
    </>
  );
}

function TableLinks({ object }) {
  const table = object.segments
    .slice(1)
    .filter((part, i) => i > 0 || part !== 'public')
    .join('.');
  return (
    <p className="links">
      {object.root_field && (
        <a href={`${new URL('data', ROOT).pathname}?table=${encodeURIComponent(object.root_field)}`}>Rows</a>
      )}
      <a href={`${new URL('access', ROOT).pathname}?table=${encodeURIComponent(table)}`}>Access</a>
    </p>
  );
}

function Columns({ table, graphql, link, object }) {
  const [source] = object.segments;
  const foreign = (name) => table.foreign_keys.find(({ columns }) => columns.includes(name));
  const rows = table.columns.map((column) => {
    const key = foreign(column.name);
    const field = graphql?.fields[column.name];
    const notes = [
      table.primary_key?.includes(column.name) && 'primary key',
      table.unique_keys.some(({ columns }) => columns.length === 1 && columns[0] === column.name) && 'unique',
      column.is_generated ? 'generated' : column.has_default && 'default',
    ].filter(Boolean);
    return [
      column.name,
      field === column.name ? '' : (field ?? 'not in GraphQL'),
      `${column.type}${column.nullable ? '' : ', not null'}`,
      <span key="notes">
        {notes.join(', ')}
        {key && <> → {link(tableKey(source, key.foreign_table))}</>}
      </span>,
      (graphql ? graphql.descriptions[column.name] : column.description) ?? '',
    ];
  });
  return (
    <Facts
      title={`Columns (${rows.length})`}
      heads={['Column', 'Field', 'Type', 'Keys and defaults', 'Description']}
      rows={rows}
    />
  );
}

function tableKey(source, { schema, name }) {
  return `table/${[source, schema, name].map(encodeURIComponent).join('/')}`;
}

function EnumValues({ values }) {
  const rows = values.map(({ name, description }) => [name, description ?? '']);
  return <Facts title={`Values (${values.length})`} heads={['Value', 'Description']} rows={rows} />;
}

/** The relationships of a table, and those of others that lead to it. */
function Relationships({ objectKey, index, link }) {
  const [shown, setShown] = useState(MOST_RELATIONSHIPS);
  const edges = index.edgesOf(objectKey);
  if (edges.length === 0) return null;
  const rows = edges.slice(0, shown).map(({ key, from, to, type }) => [
    link(key),
    from === objectKey ? '' : link(from),
    <span key="to">
      {{ array: 'many rows', object: 'one row' }[type] ?? type} of {link(to)}
    </span>,
  ]);
  return (
    <>
      <Facts title={`Relationships (${edges.length})`} heads={['Name', 'Of', 'Leads to']} rows={rows} />
      {edges.length > shown && (
        <button type="button" onClick={() => setShown(Number.POSITIVE_INFINITY)}>
          Show all {edges.length}
        </button>
      )}
    </>
  );
}

const MOST_RELATIONSHIPS = 50;

/** The other objects that are nested in the object, by kind. */
function Nested({ objects, link, index }) {
  const kinds = Map.groupBy(
    objects.filter(({ key }) => !isShownAbove(key, index)),
    ({ key }) => partsOf(key).kind,
  );
  return [...kinds].map(([kind, list]) => (
    <section key={kind}>
      <h2>
        {kindInWords(kind)}s ({list.length})
      </h2>
      <p>
        {list.slice(0, MOST_NESTED).map(({ key }, i) => (
          <span key={key}>
            {i > 0 && ', '}
            {link(key)}
          </span>
        ))}
        {list.length > MOST_NESTED && ` and ${list.length - MOST_NESTED} more`}
      </p>
    </section>
  ));
}

const MOST_NESTED = 100;

/** Returns true for a relationship that resolves, which is in the table above. */
function isShownAbove(key, { byKey }) {
  const { kind, to } = byKey.get(key) ?? {};
  return kind?.endsWith('_relationship') === true && byKey.has(to);
}

function Facts({ title, heads, rows }) {
  // A column without any text would be a heading above nothing.
  const used = heads.map((_, i) => rows.some((row) => row[i] !== ''));
  return (
    <section>
      <h2>{title}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable */}
      <section className="scrolls" aria-label={title} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {heads.map(
                (head, i) =>
                  used[i] && (
                    <th key={head} scope="col">
                      {head}
                    </th>
                  ),
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own
              <tr key={at}>
                {row.map((cell, i) => {
                  if (!used[i]) return null;
                  return i === 0 ? (
                    <th key={heads[i]} scope="row">
                      {cell}
                    </th>
                  ) : (
                    <td key={heads[i]}>{cell}</td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function Definition({ definition }) {
  if (definition === undefined) return null;
  return (
    <section>
      <h2>Definition</h2>
      <Scrolling label="Definition" text={JSON.stringify(definition, null, 2)} />
    </section>
  );
}
