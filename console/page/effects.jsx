/** The effect of a resource: the objects that would not fit, what each role gains and loses, and how its schema changes, in the words of
 *  `pergola plan`. Not here: the comparison, which the engine makes (engine/change/effects.ts). */

import { effectLines } from '@pergola/operator/effects';
import { useState } from 'react';
import { FolderFile } from './folder-file.jsx';
import { managerIn } from './managed-by.js';
import { perform } from './requests.js';
import { editAt, editsOf, fieldOf } from './resource.js';
import { IS_READ_ONLY } from './session.js';

export function Effects({ row, spec, isComplete, session, file }) {
  const [result, setResult] = useState(null);
  const isCurrent = result !== null && result.of === JSON.stringify(spec);
  if (session.access !== 'administrator')
    return <p>An administrator can see here what the resource would change, by a dry run.</p>;
  const tryIt = async () => {
    const of = JSON.stringify(spec);
    setResult({ of, ...(await effectsOf(row, spec, session)) });
  };
  return (
    <section aria-label="Effect">
      <h2>Effect</h2>
      <button type="button" onClick={tryIt} disabled={!isComplete}>
        Try it, without changing anything
      </button>
      <div role="status">
        {isCurrent && <Lines title="The engine would refuse it" lines={result.problems} isProblem />}
        {isCurrent && result.problems.length === 0 && (
          <Lines
            title="The engine would accept it"
            lines={result.effects.length > 0 ? result.effects : ['No role gains or loses anything.']}
          />
        )}
        {isCurrent && result.problems.length === 0 && !IS_READ_ONLY && (
          <Apply {...{ session, file }} edits={result.edits} manager={result.manager} />
        )}
        {result !== null && !isCurrent && <p>The spec has changed since.</p>}
      </div>
    </section>
  );
}

/** Makes the change where nobody else would: an operator would undo it, or take it for somebody's change by hand. */
function Apply({ edits, manager: { isOperator, folder }, session, file }) {
  const [outcome, setOutcome] = useState('');
  if (folder !== undefined) return <FolderFile key={file.name} {...{ session, folder, file }} />;
  if (isOperator) return <p>An operator manages this engine: apply the resource to the cluster.</p>;
  const apply = () =>
    perform(session, 'patch_metadata', { put: edits }).then(
      () => setOutcome('Applied. Keep the resource with the files of your API.'),
      ({ message }) => setOutcome(message),
    );
  return (
    <>
      <button type="button" onClick={apply}>
        Apply to this engine
      </button>
      <p>{outcome}</p>
    </>
  );
}

function Lines({ title, lines, isProblem = false }) {
  if (lines.length === 0) return null;
  return (
    <>
      <h3 className={isProblem ? 'problem' : undefined}>{title}</h3>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </>
  );
}

/** Resolves to `{problems, effects, edits, manager}`: lines of text, what would be written, and what writes here. */
async function effectsOf(row, spec, session) {
  let edits = [];
  try {
    edits = editsOf(row, spec);
    const put = edits.map(({ key, definition }) => ({ key, definition }));
    const args = { put, dry_run: true, include_effects: true, include_keys: true };
    const answer = await perform(session, 'patch_metadata', args);
    const found = answer.inconsistent_objects;
    const own = found.filter(({ key }) => edits.some((edit) => edit.key === key));
    const others = found.filter((object) => !own.includes(object));
    return {
      edits: put,
      manager: IS_READ_ONLY ? {} : managerIn(await perform(session, 'get_catalog_state', {})),
      problems: own.map(({ key, reason, path }) => {
        const field = fieldOf(
          row,
          spec,
          edits.find((edit) => edit.key === key),
          path ?? [],
        );
        return field === undefined ? reason : `${field}: ${reason}`;
      }),
      effects: [
        ...effectLines(answer),
        ...others.map(({ name }) => `${name} does not fit, with or without this resource`),
      ],
    };
  } catch ({ message, path }) {
    const place = editAt(path);
    const field = place && fieldOf(row, spec, edits[place.edit], place.steps);
    return { problems: [field === undefined ? message : `${field}: ${message}`], effects: [] };
  }
}
