/** The page Ownership: which custom resource owns which object, the objects without an owner, and the versions of the metadata with what changed between them.
 *  The view is in the address. Opening it runs no statement in a source.
 *  Not here: the views (ownership-resources.jsx, ownership-revisions.jsx). */
import './activity.css';
import './ownership.css';
import { Bar, seesAllRoles } from './bar.jsx';
import { Resources, Unowned } from './ownership-resources.jsx';
import { Revisions } from './ownership-revisions.jsx';
import { useView } from './use-view.js';
import { Views } from './views.jsx';

const VIEWS = {
  '': ['Resources', Resources],
  unowned: ['Objects without a resource', Unowned],
  revisions: ['Versions', Revisions],
};

export function Ownership({ session, onSignOut }) {
  const [view, setView] = useView(['view', 'find', 'resource', 'from', 'to']);
  const [, View] = VIEWS[view.view] ?? VIEWS[''];
  return (
    <>
      <Bar session={session} onSignOut={onSignOut} />
      <main className="access activity">
        <h1>Ownership</h1>
        {seesAllRoles(session) ? (
          <>
            <Views
              views={VIEWS}
              page="ownership"
              view={view.view}
              onChange={(name) => setView({ view: name, find: '', resource: '', from: '', to: '' })}
            />
            <View session={session} view={view} setView={setView} />
          </>
        ) : (
          <p>
            This page is for administrators and the console secret. <a href="./">Explore</a> shows what your
            role may do.
          </p>
        )}
      </main>
    </>
  );
}
