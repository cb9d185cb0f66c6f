/** The effect of a resource: the objects that would change, those that would not fit or belong to another resource, what each role gains and loses, and how
 *  its schema changes.
 *  In: a dry run of `patch_metadata`. Not here: the comparison, which the engine makes (engine/change/effects.ts, engine/admin/object-changes.ts), making the
 *  change (apply.jsx). */
import { effectLines } from '@pergola/operator/effects';
import { useState } from 'react';
import { Apply } from './apply.jsx';
import { hasResources, managerIn } from './managed-by.js';
import { ObjectChange } from './object-change.jsx';
import { printedKey } from './object-key.js';
import { perform } from './requests.js';
import { editAt, editsOf, fieldOf } from './resource.js';

export function Effects({ row, spec, isComplete, session, file }) {
  const [result, setResult] = useState(null);
  const of = JSON.stringify([file.resource, spec]);
  const isCurrent = result !== null && result.of === of;
  if (session.access !== 'administrator')
    return <p>An administrator can see here what the resource would change, by a dry run.</p>;
  const tryIt = async () => {
    setResult(null);
    setResult({ of, ...(await effectsOf(row, spec, session, file.resource)) });
  };
  return (
    <section aria-label="Effect">
      <h2>Effect</h2>
      <button type="button" onClick={tryIt} disabled={!isComplete}>
        Try it, without changing anything
      </button>
      <div role="status">
        {isCurrent && result.outcome !== undefined && <p>{result.outcome}</p>}
        {result !== null && !isCurrent && <p>The resource has changed since.</p>}
        {isCurrent && result.outcome === undefined && <Found result={result} />}
      </div>
      {isCurrent && result.outcome === undefined && result.problems.length === 0 && (
        <Apply
          {...{ session, file, result }}
          onDone={(outcome) => setResult({ of, outcome, problems: [] })}
        />
      )}
    </section>
  );
}

/** The most objects whose change is shown, so that the page answers at once. */
const MOST_CHANGES = 25;

/** What the dry run found. */
function Found({ result: { problems, changes, effects } }) {
  if (problems.length > 0) return <Lines title="It would not be applied" lines={problems.map(asWarning)} />;
  const different = changes.filter(({ change }) => change !== 'unchanged');
  return (
    <>
      <h3>The engine would accept it</h3>
      {different.length === 0 && <p>The engine has all of it: nothing changes.</p>}
      {different.slice(0, MOST_CHANGES).map((change) => (
        <ObjectChange key={change.key} of={change} />
      ))}
      {different.length > MOST_CHANGES && <p>And {different.length - MOST_CHANGES} more objects.</p>}
      {different.length > 0 && <Lines title="What roles gain and lose" lines={orNothing(effects)} />}
    </>
  );
}

function orNothing(effects) {
  return effects.length > 0 ? effects : [{ text: 'No role gains or loses anything.', isWarning: false }];
}

function asWarning(text) {
  return { text, isWarning: true };
}

function Lines({ title, lines }) {
  if (lines.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {lines.map(({ text, isWarning }) => (
          <li key={text} className={isWarning ? 'warning' : undefined}>
            {text}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Resolves to `{problems, effects, changes, edits, version, manager}`: lines of text, what would change, what would be written to which version of the
 *  metadata, and what writes here. */
async function effectsOf(row, spec, session, resource) {
  let edits = [];
  try {
    edits = editsOf(row, spec);
    const put = edits.map(({ key, definition }) => ({ key, definition }));
    const args = { put, dry_run: true, include_effects: true, include_changes: true, include_keys: true };
    const answer = await perform(session, 'patch_metadata', args);
    const found = answer.inconsistent_objects;
    const own = found.filter(({ key }) => edits.some((edit) => edit.key === key));
    const others = found.filter((object) => !own.includes(object));
    const problems = own.map(({ key, reason, path }) => {
      const edit = edits.find((each) => each.key === key);
      const field = fieldOf(row, spec, edit, path ?? []);
      return field === undefined ? reason : `${field}: ${reason}`;
    });
    const manager = managerIn(await perform(session, 'get_catalog_state', {}));
    const { changes } = answer;
    if (problems.length === 0) problems.push(...(await missingFor(put, session)));
    const unowned = hasResources(manager) && spec.adoptionPolicy !== 'Always' ? unownedIn(changes) : [];
    return {
      edits: put,
      version: answer.resource_version,
      manager,
      changes,
      problems: [...problems, ...conflictsIn(changes, resource), ...unowned],
      effects: [
        ...effectLines(answer),
        ...others.map(({ name }) => asWarning(`${name} does not fit, with or without this resource`)),
      ],
    };
  } catch ({ message, path }) {
    const place = editAt(path);
    const field = place && fieldOf(row, spec, edits[place.edit], place.steps);
    return {
      problems: [field === undefined ? message : `${field}: ${message}`],
      changes: [],
      effects: [],
    };
  }
}

/** Resolves to a line for each object that waits for another one: the operator does not apply it, although an engine keeps some of them. */
async function missingFor(put, session) {
  const args = { put, dry_run: true, admit: { protect: 'unchanged' } };
  const { left_out: left } = await perform(session, 'patch_metadata', args);
  const isOwn = (missing) => put.some(({ key }) => key === missing);
  return left
    .filter(({ because, missing }) => because === 'missing' && !isOwn(missing))
    .map(
      ({ key, missing }) =>
        `${printedKey(key)} waits for ${printedKey(missing)}, which the engine does not have`,
    );
}

/** Returns a line for each object that somebody has made by hand and that the resource would change: the operator leaves such an object as it is. */
function unownedIn(changes) {
  return changes
    .filter(({ change, owner }) => change === 'changed' && owner === undefined)
    .map(
      ({ key }) =>
        `${printedKey(key)} exists, differs, and belongs to no resource: set adoptionPolicy: Always to take it over`,
    );
}

/** Returns a line for each object of another resource: the operator leaves it to that one. A resource of the same kind and name is the same one. */
function conflictsIn(changes, resource) {
  return changes
    .filter(({ owner }) => owner !== undefined && owner.replace(/ .*\//, ' ') !== resource)
    .map(
      ({ key, owner }) =>
        `${printedKey(key)} belongs to ${owner}: this resource would be in conflict, and nothing would change. Change ${owner} instead.`,
    );
}
