/** The page Activity: the last hour of this replica, the logs of events, scheduled events and asynchronous actions, and subscriptions. The view is in the
 *  address. Opening it runs no statement; a log is read when the user asks for it.
 *  Not here: the views (activity-hour.jsx, activity-logs.jsx, activity-subscriptions.jsx). */
import './activity.css';
import { Hour } from './activity-hour.jsx';
import { ActionCalls, Events, ScheduledEvents } from './activity-logs.jsx';
import { Subscriptions } from './activity-subscriptions.jsx';
import { Bar, seesAllRoles } from './bar.jsx';
import { useView } from './use-view.js';
import { Views } from './views.jsx';

const VIEWS = {
  '': ['Last hour', Hour],
  events: ['Events', Events],
  scheduled: ['Scheduled events', ScheduledEvents],
  actions: ['Asynchronous actions', ActionCalls],
  subscriptions: ['Subscriptions', Subscriptions],
};

export function Activity({ session, onSignOut }) {
  const [view, setView] = useView(['view', 'source', 'name', 'status']);
  const [, View] = VIEWS[view.view] ?? VIEWS[''];
  return (
    <>
      <Bar session={session} onSignOut={onSignOut} />
      <main className="access activity">
        <h1>Activity</h1>
        {seesAllRoles(session) ? (
          <>
            <Views
              views={VIEWS}
              page="activity"
              view={view.view}
              onChange={(name) => setView({ view: name, source: '', name: '', status: '' })}
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
