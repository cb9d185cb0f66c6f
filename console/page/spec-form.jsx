/** A form for a value of a schema: each field with the sentence that documents it. Required fields are shown, others are added. `known` has names to
 *  choose from while a field is written, by the name of the field.
 *  Not here: what is wrong with a value (spec-value.js), the page (change.jsx). */

import { createContext, use, useId, useState } from 'react';
import { isNumber } from './digits.js';
import { textsIn, UNREADABLE, valueIn } from './spec-entry.js';
import { choicesOf, emptyOf, fieldsIn, shapeOf, withMember } from './spec-value.js';

const FORMS = {
  choice: Choice,
  text: Text,
  number: NumberField,
  flag: Flag,
  texts: Texts,
  list: List,
  object: ObjectFields,
  json: Yaml,
};

/** The most names that are offered at once; more of the name finds the others. */
const MOST_NAMES = 50;
const Known = createContext({});

export function SpecForm({ schema, value, onChange, known }) {
  return (
    <Known value={known}>
      <ObjectFields schema={schema} value={value} onChange={onChange} label="spec" />
    </Known>
  );
}

function Member({ schema, ...rest }) {
  const Form = FORMS[shapeOf(schema)];
  return <Form schema={schema} {...rest} />;
}

function ObjectFields({ schema, value = {}, onChange, label }) {
  const { shown, others } = fieldsIn(schema, value);
  const { required = [], properties } = schema;
  return (
    <fieldset>
      <legend>{label}</legend>
      {shown.map((name) => (
        <div key={name} className="member">
          <Member
            schema={properties[name]}
            label={name}
            value={value[name]}
            onChange={(member) => onChange(withMember(value, name, member))}
          />
          {!required.includes(name) && (
            <button type="button" onClick={() => onChange(withMember(value, name, undefined))}>
              Remove {name}
            </button>
          )}
        </div>
      ))}
      {others.length > 0 && (
        <label className="add">
          {`Add to ${label}`}
          <select
            value=""
            onChange={({ target }) =>
              onChange({ ...value, [target.value]: emptyOf(properties[target.value]) })
            }
          >
            <option value="">–</option>
            {others.map((name) => (
              <option key={name} value={name} title={properties[name].description}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
    </fieldset>
  );
}

function List({ schema, value = [], onChange, label }) {
  const change = (i, item) => onChange(value.with(i, item));
  return (
    <fieldset>
      <legend>{label}</legend>
      <Note schema={schema} />
      {value.map((item, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity while they are written
        <div key={i} className="member">
          <Member
            schema={schema.items}
            label={`${label} ${i + 1}`}
            value={item}
            onChange={(next) => change(i, next)}
          />
          <button type="button" onClick={() => onChange(value.toSpliced(i, 1))}>
            Remove {label} {i + 1}
          </button>
        </div>
      ))}
      <button type="button" onClick={() => onChange([...value, emptyOf(schema.items)])}>
        Add to {label}
      </button>
    </fieldset>
  );
}

function Note({ schema, id }) {
  return schema.description ? (
    <small id={id} className="faint">
      {schema.description}
    </small>
  ) : null;
}

/** A label, a control, and the sentence about the field. `control` receives the identifiers that connect them. */
function Labelled({ label, schema, control }) {
  const id = useId();
  return (
    <div className="labelled">
      <label htmlFor={id}>{label}</label>
      {control({ id, 'aria-describedby': schema.description ? `${id}-note` : undefined })}
      <Note schema={schema} id={`${id}-note`} />
    </div>
  );
}

function Choice({ schema, value, onChange, label }) {
  const choices = choicesOf(schema);
  const choose = ({ target }) => onChange(choices.find((choice) => String(choice) === target.value));
  return (
    <Labelled
      {...{ label, schema }}
      control={(attributes) => (
        <select {...attributes} value={value === undefined ? '' : String(value)} onChange={choose}>
          {value === undefined && <option value="">–</option>}
          {choices.map((choice) => (
            <option key={String(choice)}>{String(choice)}</option>
          ))}
        </select>
      )}
    />
  );
}

function Text({ schema, value = '', onChange, label }) {
  const change = ({ target }) => onChange(target.value === '' ? undefined : target.value);
  const Tag = schema.maxLength > 5_000 ? 'textarea' : 'input';
  const names = use(Known)[label] ?? [];
  return (
    <Labelled
      {...{ label, schema }}
      control={(attributes) => (
        <>
          <Tag
            {...attributes}
            value={value}
            onChange={change}
            autoComplete="off"
            list={names.length > 0 ? `${attributes.id}-names` : undefined}
          />
          {names.length > 0 && <Names id={`${attributes.id}-names`} names={names} text={value} />}
        </>
      )}
    />
  );
}

function Names({ id, names, text }) {
  const found = names.filter((name) => name.toLowerCase().includes(text.toLowerCase()));
  return (
    <datalist id={id}>
      {found.slice(0, MOST_NAMES).map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

function NumberField({ schema, value = '', onChange, label }) {
  const change = ({ target }) => onChange(target.value === '' ? undefined : target.valueAsNumber);
  return (
    <Labelled
      {...{ label, schema }}
      control={(attributes) => (
        <input
          {...attributes}
          type="number"
          min={schema.minimum}
          max={schema.maximum}
          value={isNumber(value) ? JSON.stringify(value) : value}
          onChange={change}
        />
      )}
    />
  );
}

function Flag({ schema, value = false, onChange, label }) {
  return (
    <Labelled
      {...{ label, schema }}
      control={(attributes) => (
        <input
          {...attributes}
          type="checkbox"
          checked={value}
          onChange={({ target }) => onChange(target.checked)}
        />
      )}
    />
  );
}

/** A list of texts, one on each line. */
function Texts({ schema, value, onChange, label }) {
  const [text, setText] = useTextOf(value, (texts) => (texts ?? []).join('\n'));
  const change = ({ target }) => onChange(setText(target.value, textsIn(target.value)));
  return (
    <Labelled
      {...{ label: `${label}, one on each line or as a list in brackets`, schema }}
      control={(attributes) => (
        <textarea {...attributes} rows={3} value={text} onChange={change} spellCheck={false} />
      )}
    />
  );
}

/** Returns the text of a value as it was entered, or printed when the value comes from elsewhere; and a function that keeps a text and returns its value. */
function useTextOf(value, print) {
  const [entry, setEntry] = useState({ text: print(value), value });
  const set = (text, next) => {
    setEntry({ text, value: next });
    return next;
  };
  return [entry.value === value ? entry.text : print(value), set];
}

function Yaml({ schema, value, onChange, label }) {
  const [text, setText] = useTextOf(value, (own) =>
    own === undefined || own === UNREADABLE ? '' : JSON.stringify(own),
  );
  const change = ({ target }) => onChange(setText(target.value, valueIn(schema, target.value)));
  return (
    <>
      <Labelled
        {...{ label: `${label}, as YAML or JSON`, schema }}
        control={(attributes) => (
          <textarea {...attributes} rows={2} value={text} onChange={change} spellCheck={false} />
        )}
      />
      {value === UNREADABLE && (
        <p className="problem" role="alert">
          This is {schema.type === 'object' ? 'no object' : 'no value'} of YAML or JSON. Write it as in{' '}
          {'{id: {_eq: 1}}'}.
        </p>
      )}
    </>
  );
}
