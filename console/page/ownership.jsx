/** The page Ownership: which custom resource owns which object, the tests with their last results, the objects without an owner, and the versions of the metadata with what changed between them.
 *  The view is in the address. Opening it runs no statement in a source.
 *  Not here: the views (ownership-resources.jsx, ownership-tests.jsx, ownership-revisions.jsx). */
import './activity.css';
import './ownership.css';
import { Resources, Unowned } from './ownership-resources.jsx';
import { Revisions } from './ownership-revisions.jsx';
import { Tests } from './ownership-tests.jsx';
import { ViewsPage } from './views.jsx';

const VIEWS = {
  '': ['Resources', Resources],
  tests: ['Tests', Tests],
  unowned: ['Objects without a resource', Unowned],
  revisions: ['Versions', Revisions],
};

const PARAMETERS = ['find', 'resource', 'from', 'to'];

export function Ownership({ session, onSignOut }) {
  return (
    <ViewsPage
      {...{ session, onSignOut }}
      title="Ownership"
      page="ownership"
      views={VIEWS}
      parameters={PARAMETERS}
    />
  );
}
