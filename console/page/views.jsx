/** A page with several views, each of which has an address. Not here: the views. */
import { AllRolesPage } from './all-roles.jsx';
import { isPlainClick } from './plain-click.js';
import { useTitle } from './use-title.js';
import { useView } from './use-view.js';

/** `views`: by their name in the address, the title and the component. `parameters`: the names of what else the address says, which another view
 *  forgets. */
export function ViewsPage({ session, onSignOut, title, page, views, parameters }) {
  const [view, setView] = useView(['view', ...parameters], ['find']);
  const [, View] = Object.hasOwn(views, view.view) ? views[view.view] : [];
  const nothing = Object.fromEntries(parameters.map((name) => [name, '']));
  return (
    <AllRolesPage session={session} onSignOut={onSignOut} title={title} className="access activity">
      <Views
        views={views}
        page={page}
        view={view.view}
        onChange={(name) => setView({ view: name, ...nothing })}
      />
      {View ? (
        <View session={session} view={view} setView={setView} />
      ) : (
        <p>{`${title} has no view ${view.view}.`}</p>
      )}
    </AllRolesPage>
  );
}

/** The links to the views. */
function Views({ views, page, view, onChange }) {
  useTitle(views[view]?.[0] ?? view);
  return (
    <nav className="views" aria-label="Views">
      {Object.entries(views).map(([name, [title]]) => (
        <a
          key={name}
          href={name === '' ? page : `${page}?view=${name}`}
          aria-current={name === view ? 'true' : undefined}
          onClick={(event) => {
            if (!isPlainClick(event)) return;
            event.preventDefault();
            onChange(name);
          }}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
