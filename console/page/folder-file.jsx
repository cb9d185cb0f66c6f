/** A button that has `pergola up` write a resource into its folder: the page stores the text in the state of the engine, where `up` finds it and says what
 *  became of it. Then the page waits for what the operator makes of the resource.
 *  In: `get_catalog_state`, `patch_catalog_state`, `get_ownership`. Not here: writing the file (bin/up/console-files.ts). */
import { useState } from 'react';
import { perform } from './requests.js';
import { ROOT } from './session.js';

const PAUSE_MS = 500;
/** How long `pergola up` may take for each step. */
const MOST_TRIES = 20;

export function FolderFile({ session, folder, file: { name, text }, check, onDone }) {
  const [state, setState] = useState({ isWriting: false, problem: '' });
  const write = async () => {
    setState({ isWriting: true, problem: '' });
    try {
      await check();
      const { file, problem, resource } = await written(session, name, text);
      if (problem !== undefined) throw new Error(problem);
      setState({ isWriting: true, problem: '', file });
      onDone(<Outcome {...{ file, resource }} found={await appliedAs(session, resource)} />);
    } catch ({ message }) {
      setState({ isWriting: false, problem: message });
    }
  };
  return (
    <>
      <button type="button" onClick={write} disabled={state.isWriting}>
        Write it into the folder
      </button>
      <p>
        <code>{folder}</code>
      </p>
      <p role="status">
        {state.isWriting && (state.file ? `Written: ${state.file}. Applying…` : 'Writing…')}
      </p>
      <p role="alert" className="problem">
        {state.problem}
      </p>
    </>
  );
}

/** What became of the resource: `found` is its reason with its message, or that it is applied, as the operator has recorded it. */
function Outcome({ file, resource, found }) {
  const address = `${new URL('ownership', ROOT).pathname}?resource=${encodeURIComponent(resource)}`;
  return (
    <>
      Written: {file}.{' '}
      {found?.reason !== undefined && (
        <span className="warning">
          It is not applied: {found.reason}: {found.message}.
        </span>
      )}
      {found?.isApplied && 'It is applied.'}
      {found === undefined && (
        <>
          pergola up has not applied it yet: <a href={address}>Ownership</a> says what becomes of it.
        </>
      )}
    </>
  );
}

/** Resolves to `{file, resource}` or `{problem}`. */
async function written(session, name, text) {
  const patch = { pergola_up: { resources: { [name]: text }, written: { [name]: null } } };
  await perform(session, 'patch_catalog_state', { type: 'console', patch });
  const found = await repeated(async () => {
    const { console_state: state } = await perform(session, 'get_catalog_state', { type: 'console' });
    return state?.pergola_up?.written?.[name];
  });
  if (found) return found;
  const nothing = { pergola_up: { resources: { [name]: null } } };
  await perform(session, 'patch_catalog_state', { type: 'console', patch: nothing });
  return { problem: 'pergola up does not answer. Download the file instead.' };
}

/** Resolves to the reason why the engine does not serve the resource, to `{isApplied: true}`, or to undefined when the operator has recorded nothing. */
function appliedAs(session, resource) {
  return repeated(async () => {
    const { unserved, resources } = await perform(session, 'get_ownership', {});
    const isOf = (each) => each.resource === resource;
    return unserved.find(isOf) ?? (resources.some(isOf) ? { isApplied: true } : undefined);
  });
}

/** Resolves to what the request finds; it is sent again while that is nothing. */
async function repeated(request) {
  for (let left = MOST_TRIES; left > 0; left--) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    const found = await request();
    if (found) return found;
  }
  return undefined;
}
