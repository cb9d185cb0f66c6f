/** The page Activity: the last hour of this replica, the logs of events, scheduled events and asynchronous actions, subscriptions, and what clients use. The
 *  view is in the address. Opening it runs no statement; a log is read when the user asks for it.
 *  Not here: the views (activity-hour.jsx, activity-logs.jsx, activity-subscriptions.jsx, activity-usage.jsx). */
import './activity.css';
import { Hour } from './activity-hour.jsx';
import { ActionCalls, Events, ScheduledEvents } from './activity-logs.jsx';
import { Subscriptions } from './activity-subscriptions.jsx';
import { Usage } from './activity-usage.jsx';
import { ViewsPage } from './views.jsx';

const VIEWS = {
  '': ['Last hour', Hour],
  events: ['Events', Events],
  scheduled: ['Scheduled events', ScheduledEvents],
  actions: ['Asynchronous actions', ActionCalls],
  subscriptions: ['Subscriptions', Subscriptions],
  usage: ['Clients', Usage],
};

const PARAMETERS = ['source', 'name', 'status', 'role', 'client', 'coordinate'];

export function Activity({ session, onSignOut }) {
  return (
    <ViewsPage
      {...{ session, onSignOut }}
      title="Activity"
      page="activity"
      views={VIEWS}
      parameters={PARAMETERS}
    />
  );
}
