/** The logs of events, of scheduled events and of calls of asynchronous actions: a list that is read on request, a page at a time, and of each entry the
 *  request and the response of every attempt. They hold rows and messages, so they are for administrators.
 *  In: `list_triggers` for the names; `pg_get_event_logs`, `get_scheduled_events`, `list_action_calls` and what belongs to an entry.
 *  Not here: the list itself (activity-log.jsx). */
import { useState } from 'react';
import { Attempts, Json, Log } from './activity-log.jsx';
import { dayAndTime } from './chart.jsx';
import { perform } from './requests.js';
import { IS_READ_ONLY } from './session.js';
import { useAnswer } from './use-answer.js';

export function Events({ session, view, setView }) {
  const triggers = useAnswer(session, 'list_triggers');
  const names = triggers.answer?.event_triggers ?? [];
  const { source, name, status } = view;
  return (
    <Log
      {...{ session, triggers, status, setView }}
      label="Event trigger"
      kind="EventTrigger"
      options={names.map((each) => [
        JSON.stringify([each.source, each.name]),
        `${each.name} (${each.source === 'default' ? '' : `${each.source}: `}${each.table.name})`,
      ])}
      chosen={name === '' ? '' : JSON.stringify([source || 'default', name])}
      onChoose={(text) => {
        const [of = '', chosen = ''] = text === '' ? [] : JSON.parse(text);
        setView({ source: of, name: chosen });
      }}
      statuses={['pending', 'delivered', 'failed', 'archived']}
      read={(page) =>
        perform(session, 'pg_get_event_logs', {
          ...{ source: source || 'default', name, ...page },
          ...(status === '' ? {} : { status }),
        })
      }
      columns={[
        ['Created', ({ created_at }) => dayAndTime(created_at)],
        ['State', stateOfEvent],
        ['Attempts', ({ tries }) => tries],
        ['Operation', ({ payload }) => payload?.op],
        ['Id', ({ id }) => <code>{id}</code>],
      ]}
      detailsOf={(event, reread) => (
        <EventDetails event={event} session={session} source={source || 'default'} onDelivered={reread} />
      )}
    />
  );
}

/** Returns the state of an event of a changed row, by the columns of its log. */
function stateOfEvent({ delivered, error, locked, archived, next_retry_at: next }) {
  const end = (delivered && 'delivered') || (error && 'failed');
  if (archived) return end ? `archived, ${end}` : 'archived';
  if (end) return end;
  if (locked) return 'being delivered';
  return next ? `again at ${dayAndTime(next)}` : 'pending';
}

function EventDetails({ event: { id, payload }, session, source, onDelivered }) {
  const args = { source, event_id: id };
  const { answer, problem } = useAnswer(session, 'pg_get_event_by_id', args);
  const [said, setSaid] = useState('');
  const redeliver = () =>
    perform(session, 'pg_redeliver_event', args).then(
      () => {
        setSaid('');
        onDelivered('The event will be delivered again. Read the log again to see what came of it.');
      },
      ({ message }) => setSaid(message),
    );
  return (
    <div className="details">
      <section>
        <h2>Payload</h2>
        <Json label="Payload" value={payload} />
      </section>
      <Attempts invocations={answer?.invocations} problem={problem} />
      <section className="wide">
        {IS_READ_ONLY ? (
          <p className="faint">
            This console is read-only. With --console-mode edit an event can be delivered again.
          </p>
        ) : (
          <button type="button" onClick={redeliver}>
            Deliver again
          </button>
        )}
        <p role="status">{said}</p>
      </section>
    </div>
  );
}

const KINDS = { one_off: 'one-off events', declared: 'declared events' };

export function ScheduledEvents({ session, view, setView }) {
  const triggers = useAnswer(session, 'list_triggers');
  const crons = triggers.answer?.cron_triggers ?? [];
  const { source: kind, name, status } = view;
  const type = kind || 'cron';
  const chosen = name === '' && kind === '' ? '' : JSON.stringify([type, name]);
  return (
    <Log
      {...{ session, triggers, status, setView, chosen }}
      label="Schedule"
      options={[
        ...crons.map((each) => [JSON.stringify(['cron', each.name]), `${each.name} (${each.schedule})`]),
        ...Object.entries(KINDS).map(([each, text]) => [JSON.stringify([each, '']), text]),
        ...(kind in KINDS && name !== '' ? [[chosen, `${name} (${KINDS[kind]})`]] : []),
      ]}
      onChoose={(text) => {
        const [of = '', chosenName = ''] = text === '' ? [] : JSON.parse(text);
        setView({ source: of, name: chosenName });
      }}
      anyState="every state, once it was due"
      statuses={['scheduled', 'locked', 'delivered', 'error', 'dead']}
      read={(page) =>
        perform(session, 'get_scheduled_events', {
          ...{ type, newest_first: true, ...page },
          ...(name === '' ? {} : { trigger_name: name }),
          ...(status === '' ? { due_only: true } : { status: [status] }),
        }).then(({ events }) => events)
      }
      columns={[
        ['Time', ({ scheduled_time }) => dayAndTime(scheduled_time)],
        ['State', (event) => event.status],
        ['Attempts', ({ tries }) => tries],
        ['Next attempt', ({ next_retry_at }) => (next_retry_at ? dayAndTime(next_retry_at) : '–')],
        ['Id', ({ id }) => <code>{id}</code>],
      ]}
      detailsOf={(event) => <ScheduledDetails event={event} session={session} type={type} />}
    />
  );
}

function ScheduledDetails({ event, session, type }) {
  const args = { type, event_id: event.id, limit: 50 };
  const { answer, problem } = useAnswer(session, 'get_scheduled_event_invocations', args);
  return (
    <div className="details">
      {event.payload !== undefined && (
        <section>
          <h2>Payload</h2>
          <Json label="Payload" value={event.payload} />
        </section>
      )}
      <Attempts invocations={answer?.invocations} problem={problem} />
    </div>
  );
}

export function ActionCalls({ session, view, setView }) {
  const triggers = useAnswer(session, 'list_triggers');
  const { name, status } = view;
  return (
    <Log
      {...{ session, triggers, status, setView }}
      label="Action"
      all="All actions"
      options={(triggers.answer?.asynchronous_actions ?? []).map((each) => [each.name, each.name])}
      chosen={name}
      onChoose={(chosen) => setView({ name: chosen })}
      statuses={['waiting', 'running', 'answered', 'failed']}
      read={(page) =>
        perform(session, 'list_action_calls', {
          ...page,
          ...(name === '' ? {} : { action: name }),
          ...(status === '' ? {} : { status: [status] }),
        }).then(({ calls }) => calls)
      }
      columns={[
        ['Created', ({ created_at }) => dayAndTime(created_at)],
        ['Action', ({ action }) => action],
        ['State', (call) => call.status],
        ['Attempts that were interrupted', ({ interruptions }) => interruptions],
        ['Id', ({ id }) => <code>{id}</code>],
      ]}
      detailsOf={(call) => (
        <div className="details">
          <section>
            <h2>Request</h2>
            <Json label="Request" value={call.request} />
            <h3>Session variables</h3>
            <Json label="Session variables" value={call.session_variables} />
          </section>
          <section>
            <h2>Response</h2>
            <Json label="Response" value={call.errors ?? call.response} />
          </section>
        </div>
      )}
    />
  );
}
