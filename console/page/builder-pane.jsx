/** The pane in which operations are built by ticking fields and arguments of the schema of the role. It changes the text in the editor, where
 *  the rest is written. Not here: the changes of the text (builder.js). */
import { useGraphiQL } from '@graphiql/react';
import { getNamedType, isObjectType } from 'graphql';
import { useId, useState } from 'react';
import {
  fieldsOf,
  newOperation,
  operationIn,
  withArgument,
  withField,
  withoutArgument,
  withoutField,
} from './builder.js';
import { useEditorContents } from './editor.js';
import { PaneIcon } from './pane-icon.jsx';
import { IS_READ_ONLY } from './session.js';

export const BUILDER_PANE = {
  title: 'Build',
  icon: Icon,
  content: Pane,
};

/** The most fields of a type at first, so that a schema of thousands of fields is shown at once. */
const MOST_FIELDS = 50;

function Icon() {
  return <PaneIcon path="M4 5h4v4H4zM4 15h4v4H4zM12 7h8M12 17h8" />;
}

function Pane() {
  const { schema, editor } = useGraphiQL((state) => ({ schema: state.schema, editor: state.queryEditor }));
  const { operation: written } = useEditorContents();
  const { operation, problem } = operationIn(written);
  const [chosen, setChosen] = useState(null);
  const [search, setSearch] = useState('');
  const roots = schema ? rootsOf(schema) : {};
  const kind = chosen ?? operation?.operation ?? 'query';
  const owner = operation?.operation === kind ? operation : null;
  const change = (text) => {
    setChosen(null);
    replaceText(editor, text);
  };
  const startWith = (field) => change(newOperation(kind, field));
  return (
    <div className="pane">
      <h2>Build</h2>
      <div className="controls">
        <label>
          Operation
          <select value={kind} onChange={(event) => setChosen(event.target.value)}>
            {Object.keys(roots).map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <label>
          Find a field
          <input type="search" value={search} onChange={(event) => setSearch(event.target.value)} />
        </label>
      </div>
      {problem !== undefined && (
        <p className="problem" role="status">
          {problem}
        </p>
      )}
      {problem === undefined && roots[kind] && (
        <Fields
          type={roots[kind]}
          owner={owner}
          text={written.query}
          search={search.toLowerCase()}
          onChange={change}
          onStart={startWith}
        />
      )}
    </div>
  );
}

function rootsOf(schema) {
  const roots = {
    query: schema.getQueryType(),
    mutation: IS_READ_ONLY ? undefined : schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  };
  return Object.fromEntries(Object.entries(roots).filter(([, type]) => type));
}

/** Replaces the text so that the editor can undo it. */
function replaceText(editor, text) {
  editor.pushUndoStop();
  editor.executeEdits('builder', [{ range: editor.getModel().getFullModelRange(), text }]);
  editor.pushUndoStop();
}

/** The fields of a type, those that are selected first. `onStart` begins an operation where there is none yet. */
function Fields({ type, owner, text, search = '', onChange, onStart }) {
  const [shown, setShown] = useState(MOST_FIELDS);
  const nodes = new Map(fieldsOf(owner).map((node) => [node.name.value, node]));
  const fields = Object.values(type.getFields());
  const found = [
    ...fields.filter(({ name }) => nodes.has(name)),
    ...fields.filter(({ name }) => !nodes.has(name) && name.toLowerCase().includes(search)),
  ];
  const toggle = (field) => {
    const node = nodes.get(field.name);
    if (!owner) onStart(field);
    else onChange(node ? withoutField(text, owner, node) : withField(text, owner, field));
  };
  return (
    <ul className="fields">
      {found.slice(0, shown).map((field) => (
        <Field
          key={field.name}
          {...{ field, text, onChange }}
          node={nodes.get(field.name)}
          onToggle={() => toggle(field)}
        />
      ))}
      {found.length === 0 && <li>No field has this name.</li>}
      {found.length > shown && (
        <li>
          <button type="button" onClick={() => setShown(shown + MOST_FIELDS * 4)}>
            Show more of {found.length} fields
          </button>
        </li>
      )}
    </ul>
  );
}

function Field({ field, node, text, onChange, onToggle }) {
  const named = getNamedType(field.type);
  return (
    <li>
      <Tick
        label={field.name}
        type={field.type}
        note={field.description}
        isOn={node !== undefined}
        onToggle={onToggle}
      />
      {node && field.args.length > 0 && <Arguments {...{ field, node, text, onChange }} />}
      {node?.selectionSet && isObjectType(named) && (
        <Fields type={named} owner={node} {...{ text, onChange }} />
      )}
    </li>
  );
}

function Arguments({ field, node, text, onChange }) {
  const given = new Set(node.arguments?.map(({ name }) => name.value));
  return (
    <details>
      <summary>
        Arguments of {field.name}
        {given.size > 0 && `: ${[...given].join(', ')}`}
      </summary>
      <ul className="fields">
        {field.args.map((argument) => {
          const isOn = given.has(argument.name);
          return (
            <li key={argument.name}>
              <Tick
                label={argument.name}
                type={argument.type}
                note={argument.description}
                isOn={isOn}
                onToggle={() =>
                  onChange(
                    isOn ? withoutArgument(text, node, argument.name) : withArgument(text, node, argument),
                  )
                }
              />
            </li>
          );
        })}
      </ul>
    </details>
  );
}

function Tick({ label, type, note, isOn, onToggle }) {
  const id = useId();
  return (
    <span className="tick" title={note ?? undefined}>
      <input type="checkbox" id={id} checked={isOn} onChange={onToggle} />
      <label htmlFor={id}>
        {label} <span className="faint">{String(type)}</span>
      </label>
    </span>
  );
}
