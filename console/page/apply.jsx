/** Makes the change that was tried, if the metadata is still the version that the dry run has read; where an operator or `pergola up` writes, it is left to
 *  them: the operator would undo it, or take it for a change by hand.
 *  In: `patch_metadata`. Not here: the dry run (effects.jsx), the folder of `pergola up` (folder-file.jsx). */
import { useState } from 'react';
import { FolderFile } from './folder-file.jsx';
import { perform } from './requests.js';
import { IS_READ_ONLY } from './session.js';

const CHANGED = 'The metadata has changed since. Try it again.';

export function Apply({ session, file, result: { edits, version, manager, changes }, onDone }) {
  const [problem, setProblem] = useState('');
  if (IS_READ_ONLY) {
    return (
      <p>
        This console changes nothing (--console-mode): keep the resource with the files of your API, which are
        applied from there.
      </p>
    );
  }
  /** Resolves when the engine accepts the edits and nothing has changed since the dry run. */
  const send = async (more) => {
    try {
      await perform(session, 'patch_metadata', { put: edits, ...more }, version);
    } catch (error) {
      throw error.code === 'conflict' ? new Error(CHANGED) : error;
    }
  };
  if (manager.folder !== undefined && changes.some(({ owner }) => owner !== undefined)) {
    return <p>{`${file.resource} is in a file of ${manager.folder} already: change it there.`}</p>;
  }
  if (manager.folder !== undefined) {
    const check = () => send({ dry_run: true });
    return <FolderFile key={file.name} {...{ session, file, check, onDone }} folder={manager.folder} />;
  }
  if (manager.isOperator) return <p>An operator manages this engine: apply the resource to the cluster.</p>;
  if (changes.every(({ change }) => change === 'unchanged')) return null;
  const apply = () =>
    send({}).then(
      () => onDone('Applied. Keep the resource with the files of your API.'),
      ({ message }) => setProblem(message),
    );
  return (
    <>
      <button type="button" onClick={apply}>
        Apply to this engine
      </button>
      <p role="alert" className="problem">
        {problem}
      </p>
    </>
  );
}
