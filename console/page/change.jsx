/** The page Change: a form for a resource of each kind, its YAML to keep in Git, and what it would do, by a dry run that changes nothing.
 *  In: the kinds of the operator, `list_objects` and `get_role_access` for names to choose from, `patch_metadata` with `dry_run`, on request.
 *  The form begins with what exists (existing.jsx) and is kept in this tab (use-draft.js).
 *  Not here: the form (spec-form.jsx), the resource (resource.js), what is shown of the dry run (effects.jsx). */
import { useMemo } from 'react';
import { AllRolesPage } from './all-roles.jsx';
import { resourceName } from './collection.js';
import { CopyButton } from './copy-button.jsx';
import { DownloadLink } from './download-link.jsx';
import { Effects } from './effects.jsx';
import { Existing } from './existing.jsx';
import { partsOf } from './model-index.js';
import { NewFileLink } from './new-file-link.jsx';
import { FORMS, keysNamed, namesIn, resourceText, withoutNames } from './resource.js';
import { Scrolling } from './scrolling.jsx';
import { SpecForm } from './spec-form.jsx';
import { missingIn } from './spec-secrets.js';
import { entered, problemsIn, unreadableIn } from './spec-value.js';
import { useAnswer } from './use-answer.js';
import { EMPTY, useDraft } from './use-draft.js';
import { useExisting } from './use-existing.js';
import { useTitle } from './use-title.js';
import { useView } from './use-view.js';

/** The kind of an address without one. */
const FIRST = 'TablePermission';

export function Change({ session, onSignOut }) {
  return (
    <AllRolesPage session={session} onSignOut={onSignOut} title="Change" className="change">
      <KindForm session={session} />
    </AllRolesPage>
  );
}

function KindForm({ session }) {
  const [view, setView] = useView(['kind']);
  const known = useKnownNames(session);
  const row = FORMS.find(({ kind }) => kind === (view.kind || FIRST)) ?? FORMS[0];
  useTitle(row.kind);
  return (
    <>
      <div className="controls">
        <label>
          Kind
          <select value={row.kind} onChange={({ target }) => setView({ kind: target.value })}>
            {FORMS.map((each) => (
              <option key={each.kind}>{each.kind}</option>
            ))}
          </select>
        </label>
      </div>
      <p>{row.description}</p>
      <Resource key={row.kind} row={row} session={session} known={known} />
    </>
  );
}

/** Returns the names that the engine knows, by the field that has such a name. */
function useKnownNames(session) {
  const { answer: objects } = useAnswer(session, 'list_objects');
  const { answer: access } = useAnswer(session, 'get_role_access');
  return useMemo(() => {
    const parts = objects?.objects.map(({ key }) => partsOf(key)) ?? [];
    const namesOf = (kind) => [
      ...new Set(parts.filter((part) => part.kind === kind).map(({ segments }) => segments.at(-1))),
    ];
    const roles = access?.roles.map(({ role }) => role).filter((role) => role !== 'admin');
    return { table: namesOf('table'), source: namesOf('source'), role: roles ?? [] };
  }, [objects, access]);
}

function Resource({ row, session, known }) {
  const [draft, change] = useDraft(row);
  const { written, filled } = draft;
  const spec = entered(row.spec, written);
  const existing = useExisting(session, row, spec);
  const left = missingIn(draft.left, spec);
  const problems = [
    ...unreadableIn(row.spec, written),
    ...problemsIn(row.spec, spec),
    ...left.map((path) => `${path} was left out: enter it again, or go on without`),
  ];
  // The owner is known before the engine has said again what exists.
  const ownerName = existing ? existing.ownerName : draft.owner;
  const name = draft.name || ownerName || nameOf(row, spec, problems);
  const text = resourceText({ kind: row.kind, name, spec });
  const enter = (next) => {
    const names = keysNamed(row, entered(row.spec, next)).join(' ');
    const isRenamed = names !== keysNamed(row, spec).join(' ');
    // The name of another object, such as books after book: what was filled in for the first one is no part of it.
    const isOther = filled !== null && names !== filled.names;
    const isUnchanged = isOther && isSame(withoutNames(row, next), withoutNames(row, filled.spec));
    const part = isUnchanged ? { written: namesIn(row, next), left: [], filled: null } : { written: next };
    change(isRenamed ? { ...part, owner: '' } : part);
  };
  return (
    <div className="columns">
      <form onSubmit={(event) => event.preventDefault()}>
        <Existing {...{ row, draft, existing, left }} onChange={change} />
        <SpecForm schema={row.spec} value={written} onChange={enter} known={known} />
        <button type="button" onClick={() => change(EMPTY)}>
          Empty the form
        </button>
      </form>
      <div>
        <div className="controls">
          <label>
            Name of the resource
            <input
              value={draft.name}
              placeholder={name}
              onChange={({ target }) => change({ name: target.value })}
              autoComplete="off"
            />
          </label>
          <CopyButton text={text} />
          <DownloadLink file={`${name}.yaml`} text={text} />
          <NewFileLink file={`${name}.yaml`} text={text} />
        </div>
        <Scrolling label="Resource" text={text} />
        <h2>What is missing</h2>
        <div role="status">
          <ul>
            {problems.length === 0 ? (
              <li>Nothing.</li>
            ) : (
              problems.map((problem) => <li key={problem}>{problem}</li>)
            )}
          </ul>
        </div>
        <Effects
          {...{ row, spec, session }}
          file={{ name: `${name}.yaml`, text, resource: `${row.kind} ${name}` }}
          isComplete={problems.length === 0}
        />
      </div>
    </div>
  );
}

/** Returns a name for a new resource. */
function nameOf(row, spec, problems) {
  return problems.length === 0 ? resourceName(row.target(spec)) : row.singular;
}

function isSame(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}
