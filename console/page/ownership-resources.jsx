/** The resources that own objects, those that are not served as they are written, and the objects without an owner.
 *  In: `get_ownership`. Not here: what is opened (ownership-owned.jsx). */
import { dayAndTime } from './chart.jsx';
import { Grid } from './grid.jsx';
import { printedKey } from './object-key.js';
import { Definition, Owned } from './ownership-owned.jsx';
import { Outcome } from './problem.jsx';
import { useAnswer } from './use-answer.js';

export function Resources({ session, view, setView }) {
  const { answer, problem } = useAnswer(session, 'get_ownership');
  if (!answer) return <Outcome problem={problem} />;
  if (!answer.is_managed) {
    return (
      <p>
        No custom resource owns an object of this engine. Who changed the metadata is among its{' '}
        <a href="?view=revisions">versions</a>.
      </p>
    );
  }
  const isMissing =
    view.resource !== '' &&
    ![...answer.resources, ...answer.unserved].some(({ resource }) => resource === view.resource);
  const unserved = answer.unserved.filter(({ resource }) => isFound(resource, view.find));
  return (
    <>
      <Find view={view} setView={setView} label="Find a resource" />
      {isMissing && (
        <p className="problem">
          No resource {view.resource} owns an object: it was deleted, its name is another one, or it declares
          no object.
        </p>
      )}
      {unserved.length > 0 && (
        <>
          <h2>Not served as written</h2>
          <Grid
            label="Not served as written"
            rows={unserved}
            columns={UNSERVED}
            keyOf={({ resource }) => resource}
            detailsOf={({ resource }) => <Owned resource={resource} session={session} />}
          />
          <h2>Owners</h2>
        </>
      )}
      <Grid
        empty={NOT_FOUND}
        label="Resources"
        rows={answer.resources.filter(({ resource }) => isFound(resource, view.find))}
        columns={COLUMNS}
        keyOf={({ resource }) => resource}
        opened={view.resource || null}
        onOpen={(resource) => setView({ resource: resource ?? '' })}
        detailsOf={({ resource }) => <Owned resource={resource} session={session} />}
      />
      {answer.released.length > 0 && (
        <>
          <h2>Released objects</h2>
          <p className="faint">
            Their resources were deleted. The namespace of the last owner may claim them again before others.
          </p>
          <Grid
            label="Released objects"
            rows={answer.released}
            keyOf={({ key }) => key}
            columns={[
              ['Object', ({ key }) => printedKey(key)],
              ['Last owner', ({ resource }) => resource],
              ['Released', ({ released_at }) => dayAndTime(released_at)],
            ]}
          />
        </>
      )}
    </>
  );
}

const UNSERVED = [
  ['Resource', ({ resource }) => resource],
  ['Reason', ({ reason }) => <strong>{reason}</strong>],
  ['Message', ({ message }) => message ?? 'for administrators'],
  ['Since', ({ since }) => dayAndTime(since)],
];

/** What becomes of the objects of a deleted resource, by its deletion policy. */
const AFTER_DELETION = { Delete: 'its objects are deleted', Retain: 'its objects stay' };

const COLUMNS = [
  ['Resource', ({ resource }) => resource],
  ['Objects', ({ objects }) => objects],
  ['State', stateOf],
  ['Generation applied', ({ generation }) => generation],
  ['If it is deleted', ({ deletion_policy: policy }) => AFTER_DELETION[policy] ?? policy],
  ['Created', ({ created_at }) => (created_at ? dayAndTime(created_at) : '–')],
];

function stateOf({ missing, deletion_held: held }) {
  const parts = [
    missing > 0 && `${missing} missing in the engine`,
    held > 0 && `deletion of ${held} waits for a confirmation`,
  ].filter(Boolean);
  return parts.length === 0 ? 'applied' : <span className="problem">{parts.join(', ')}</span>;
}

export function Unowned({ session, view, setView }) {
  const { answer, problem } = useAnswer(session, 'get_ownership');
  if (!answer) return <Outcome problem={problem} />;
  const { count, keys } = answer.unowned;
  return (
    <>
      <p>
        {count === 1 ? 'One object belongs' : `${count} objects belong`} to no custom resource: created by
        another client, and not changed by the operator.
        {count > keys.length && ` The first ${keys.length} are listed.`}
      </p>
      <Find view={view} setView={setView} label="Find an object" />
      <Grid
        empty={NOT_FOUND}
        label="Objects"
        rows={keys.filter((key) => isFound(printedKey(key), view.find))}
        columns={[
          ['Object', (key) => printedKey(key)],
          ['Kind', (key) => key.split('/')[0].replaceAll('_', ' ')],
        ]}
        keyOf={(key) => key}
        detailsOf={(key) => (
          <div className="details">
            <div className="wide">
              <Definition objectKey={key} session={session} />
            </div>
          </div>
        )}
      />
    </>
  );
}

export function Find({ view, setView, label }) {
  return (
    <form className="controls finding" onSubmit={(event) => event.preventDefault()}>
      <label>
        {label}
        <input type="search" value={view.find} onChange={(event) => setView({ find: event.target.value })} />
      </label>
    </form>
  );
}

/** The text of a list whose rows all have other names. */
export const NOT_FOUND = 'Nothing has this name.';

export function isFound(text, find) {
  return text.toLowerCase().includes(find.toLowerCase());
}
