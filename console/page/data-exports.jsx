/** Buttons that copy the query of the page, and save the rows that are shown. Secrets are environment variables in what is copied.
 *  Not here: the texts (code.js, data-export.js). */
import { useState } from 'react';
import { LANGUAGES } from './code.js';
import { copy } from './copy.js';
import { headersOf } from './credentials.js';
import { asCsv, asJson, formulasIn } from './data-export.js';
import { asDocument } from './data-query.js';
import { sentHeaders } from './headers.js';
import { ROOT } from './session.js';

export function Exports({ session, headers, question, names, rows, name }) {
  const [said, setSaid] = useState('');
  const copied = (text, what) =>
    copy(text).then((isDone) => setSaid(isDone ? `${what} copied.` : 'The browser refuses to copy.'));
  const curl = () => {
    const url = new URL('../v1/graphql', ROOT).href;
    return LANGUAGES.curl({ url, headers: sentHeaders(headersOf(session), headers), operation: question });
  };
  const saveCsv = () => {
    save(`${name}.csv`, 'text/csv', asCsv(names, rows));
    const count = formulasIn(names, rows);
    setSaid(
      count === 0 ? '' : `Saved. ${count === 1 ? 'One text has' : `${count} texts have`} ${APOSTROPHE}`,
    );
  };
  return (
    <>
      <button type="button" onClick={() => copied(asDocument(question), 'GraphQL')}>
        Copy GraphQL
      </button>
      <button type="button" onClick={() => copied(curl(), 'curl')}>
        Copy curl
      </button>
      <button type="button" disabled={rows.length === 0} title="Save the rows shown" onClick={saveCsv}>
        CSV
      </button>
      <button
        type="button"
        disabled={rows.length === 0}
        title="Save the rows shown"
        onClick={() => save(`${name}.json`, 'application/json', asJson(names, rows))}
      >
        JSON
      </button>
      <span role="status">{said}</span>
    </>
  );
}

const APOSTROPHE = 'an apostrophe in front, because a spreadsheet would evaluate what begins like this.';

/** Saves a text as a file of the browser's downloads. */
function save(file, type, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = file;
  link.click();
  URL.revokeObjectURL(link.href);
}
