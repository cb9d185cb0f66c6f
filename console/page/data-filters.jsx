/** The filters of a page of rows: those that apply, and a form for another one, with the columns and operators that the schema of the role offers. */
import { useState } from 'react';
import { operatorText } from './words.js';

export function Filters({ columns, filters, onChange }) {
  const filterable = columns.filter(({ operators }) => operators.length > 0);
  const [name, setName] = useState('');
  const column = filterable.find((each) => each.name === name) ?? filterable[0];
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
            <select name="operator">
              {column.operators.map((operator) => (
                <option key={operator.name} value={operator.name}>
                  {operatorText(operator.name)}
                </option>
              ))}
            </select>
          </label>
          <label>
            Value
            <input name="text" spellCheck={false} autoComplete="off" />
          </label>
          <button type="submit">Add filter</button>
        </form>
      )}
      {filters.length > 0 && (
        <ul className="filters" aria-label="Filters">
          {filters.map((filter, i) => {
            const text = `${filter.column} ${filter.operator} ${filter.text}`;
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
