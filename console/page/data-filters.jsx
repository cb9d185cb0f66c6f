/** The filters of a page of rows: those that apply, and a form for another one, with the columns and operators that the schema of the role offers. */
import { useState } from 'react';
import { isListType, namedType } from './data-schema.js';
import { operatorText } from './words.js';

export function Filters({ columns, filters, onChange }) {
  const filterable = columns.filter(({ operators }) => operators.length > 0);
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState('');
  const column = filterable.find((each) => each.name === name) ?? filterable[0];
  const operator = column?.operators.find((each) => each.name === chosen) ?? column?.operators[0];
  const add = (event) => {
    event.preventDefault();
    const given = new FormData(event.target);
    onChange([...filters, { column: column.name, operator: given.get('operator'), text: given.get('text') }]);
  };
  return (
    <>
      {column && (
        <form className="controls" onSubmit={add}>
          <label>
            Filter by
            <select value={column.name} onChange={(event) => setName(event.target.value)}>
              {filterable.map((each) => (
                <option key={each.name}>{each.name}</option>
              ))}
            </select>
          </label>
          <label>
            Operator
            <select name="operator" value={operator.name} onChange={(event) => setChosen(event.target.value)}>
              {column.operators.map((each) => (
                <option key={each.name} value={each.name}>
                  {operatorText(each.name)}
                </option>
              ))}
            </select>
          </label>
          <Operand type={operator.type} />
          <button type="submit">Add filter</button>
        </form>
      )}
      {filters.length > 0 && (
        <ul className="filters" aria-label="Filters">
          {filters.map((filter, i) => {
            const text = `${filter.column} ${operatorText(filter.operator)} ${filter.text}`;
            return (
              <li key={text}>
                <code>{text}</code>
                <button
                  type="button"
                  aria-label={`Remove the filter ${text}`}
                  onClick={() => onChange(filters.toSpliced(i, 1))}
                >
                  ×
                </button>
              </li>
            );
          })}
        </ul>
      )}
    </>
  );
}

/** Asks for an operand in the form that its type has (operandOf of data-query.js reads it). */
function Operand({ type }) {
  const isList = isListType(type);
  const { name, enumValues } = namedType(type);
  const choices = name === 'Boolean' ? ['true', 'false'] : enumValues?.map((value) => value.name);
  if (!isList && choices) {
    return (
      <label>
        Value
        <select name="text">
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      </label>
    );
  }
  const hint = isList ? 'one, another' : undefined;
  return (
    <label>
      Value
      <input name="text" placeholder={hint} spellCheck={false} autoComplete="off" />
    </label>
  );
}
