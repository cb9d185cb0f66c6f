/** A button that has `pergola up` write a resource into its folder: the page stores the text in the state of the engine, where `up` finds it and says what
 *  became of it. In: `get_catalog_state` and `patch_catalog_state`. Not here: writing the file (bin/up/console-files.ts). */
import { useState } from 'react';
import { perform } from './requests.js';

const PAUSE_MS = 500;
/** How long `pergola up` may take. */
const MOST_TRIES = 20;

export function FolderFile({ session, folder, file: { name, text } }) {
  const [outcome, setOutcome] = useState('');
  const write = () => {
    setOutcome('Writing…');
    written(session, name, text).then(
      ({ file, problem }) => setOutcome(problem ?? `Written: ${file}. It is applied now.`),
      ({ message }) => setOutcome(message),
    );
  };
  return (
    <>
      <button type="button" onClick={write}>
        Write it into the folder
      </button>
      <p>{outcome || <code>{folder}</code>}</p>
    </>
  );
}

/** Resolves to `{file}` or `{problem}`. */
async function written(session, name, text) {
  const patch = { pergola_up: { resources: { [name]: text }, written: { [name]: null } } };
  await perform(session, 'patch_catalog_state', { type: 'console', patch });
  for (let left = MOST_TRIES; left > 0; left--) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    const { console_state: state } = await perform(session, 'get_catalog_state', { type: 'console' });
    const outcome = state?.pergola_up?.written?.[name];
    if (outcome) return outcome;
  }
  const nothing = { pergola_up: { resources: { [name]: null } } };
  await perform(session, 'patch_catalog_state', { type: 'console', patch: nothing });
  return { problem: 'pergola up does not answer. Download the file instead.' };
}
