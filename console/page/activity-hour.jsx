/** The last hour of this replica: charts, sources, errors and slow operations. In: `get_recent_activity`, which reads memory.
 *  Not here: the charts themselves (chart.jsx). */
import { useEffect, useState } from 'react';
import { Chart, printed, startOf, timeOf } from './chart.jsx';
import { Grid } from './grid.jsx';
import { Outcome } from './problem.jsx';
import { useAnswer } from './use-answer.js';

const REFRESH_MS = 10_000;
/** The most series of a chart. */
const MOST_SERIES = 4;

export function Hour({ session }) {
  const { answer, problem, read } = useAnswer(session, 'get_recent_activity');
  const [isFollowing, setIsFollowing] = useState(true);
  useEffect(() => {
    if (!isFollowing) return;
    const timer = setInterval(() => document.hidden || read(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [isFollowing, read]);
  return (
    <>
      <div className="controls">
        <button type="button" onClick={read}>
          Refresh
        </button>
        <label className="check">
          <input
            type="checkbox"
            checked={isFollowing}
            onChange={(event) => setIsFollowing(event.target.checked)}
          />
          every ten seconds
        </label>
      </div>
      <Outcome answer={answer} problem={problem} />
      {answer && !answer.is_counting && (
        <p>This engine counts nothing: it serves neither the console nor the API metrics.</p>
      )}
      {answer?.is_counting && <Report {...answer} />}
    </>
  );
}

function Report({ minutes, latency, slow_operations: slow }) {
  return (
    <>
      <p className="faint">
        {sumOf(minutes, ({ requests }) => total(requests))} operations of this replica since{' '}
        {timeOf(startOf(minutes[0]))}, {sumOf(minutes, ({ failed }) => failed)} of them failed
        {latencyText(latency)}.
      </p>
      <div className="charts">
        <Chart
          title="Operations"
          unit="per second"
          minutes={minutes}
          series={named(minutes, (minute) => rates(minute))}
        />
        <Chart
          title="Failed"
          unit="per minute"
          minutes={minutes}
          series={[series('failed', minutes, ({ failed }) => failed)]}
        />
        <Chart title="Latency" unit="ms, estimated" minutes={minutes} series={latencies(minutes)} />
        <Chart
          title="Connections in use"
          unit="of each source, highest of some samples"
          minutes={minutes}
          series={named(minutes, ({ sources }) => valuesOf(sources, ({ active }) => active))}
        />
        <Chart
          title="Deliveries of events"
          unit="per minute"
          minutes={minutes}
          series={named(minutes, ({ deliveries }) => deliveries)}
        />
        <Chart
          title="Subscriptions"
          unit="running"
          minutes={minutes}
          series={[series('subscriptions', minutes, ({ subscriptions }) => subscriptions)]}
        />
      </div>
      <h2>Slowest operations</h2>
      <Grid
        label="Slowest operations"
        columns={SLOW}
        rows={slow}
        keyOf={(each) => JSON.stringify([each.role, each.type, each.operation, each.fields])}
        empty="No operation was answered in the last hour."
      />
      <h2>Sources</h2>
      <Grid label="Sources" columns={SOURCES} rows={sourcesOf(minutes)} keyOf={({ name }) => name} />
      <h2>Errors</h2>
      <Grid
        label="Errors"
        columns={[
          ['Code', ({ code }) => code],
          ['In the last hour', ({ count }) => count],
        ]}
        rows={errorsOf(minutes)}
        keyOf={({ code }) => code}
        empty="No operation failed in the last hour."
      />
    </>
  );
}

const SLOW = [
  ['Operation', ({ operation, fields }) => operation ?? (fields.join(', ') || 'without a name')],
  ['Type', ({ type }) => type],
  ['Role', ({ role }) => role],
  ['Time', ({ duration_ms }) => `${printed(duration_ms)} ms`],
  ['At', ({ at }) => timeOf(at)],
  ['Result', ({ error }) => error ?? 'success'],
];

const SOURCES = [
  ['Source', ({ name }) => name],
  ['Statements', ({ statements }) => statements],
  ['Mean time', ({ statementMs }) => (statementMs === null ? '–' : `${printed(statementMs)} ms`)],
  ['Connections in use, sampled', ({ active, limit }) => `${active} of ${limit}`],
  ['Waiting, sampled', ({ waiting }) => waiting],
  ['Waits for a connection', ({ waits }) => waits],
];

/** Returns what each source did in the hour. */
function sourcesOf(minutes) {
  const names = new Set(minutes.flatMap(({ sources }) => Object.keys(sources)));
  return [...names].map((name) => {
    const parts = minutes.flatMap(({ sources }) => sources[name] ?? []);
    const statements = sumOf(parts, (part) => part.statements);
    const totalMs = sumOf(parts, (part) => part.statements * (part.statement_ms ?? 0));
    const mostOf = (field) => Math.max(...parts.map((part) => part[field]));
    return {
      name,
      statements,
      statementMs: statements === 0 ? null : totalMs / statements,
      waits: sumOf(parts, (part) => part.waits),
      active: mostOf('active'),
      waiting: mostOf('waiting'),
      limit: mostOf('limit'),
    };
  });
}

function errorsOf(minutes) {
  return named(minutes, ({ errors }) => errors, Number.POSITIVE_INFINITY).map(({ name, values }) => ({
    code: name,
    count: sumOf(values, (value) => value),
  }));
}

function rates({ requests, seconds }) {
  return valuesOf(requests, (count) => count / Math.max(seconds, 1));
}

function latencies(minutes) {
  return ['p50', 'p95', 'p99'].map((name) =>
    series(name, minutes, ({ latency }) => latency?.[`${name}_ms`] ?? null),
  );
}

function latencyText(latency) {
  if (latency === null) return '';
  return `; half took at most about ${printed(latency.p50_ms)} ms, 95 % at most about ${printed(latency.p95_ms)} ms`;
}

function series(name, minutes, read) {
  return { name, values: minutes.map(read) };
}

/** Returns a series for each name that the minutes have, those with the largest sums first. */
function named(minutes, countsOf, most = MOST_SERIES) {
  const names = [...new Set(minutes.flatMap((minute) => Object.keys(countsOf(minute))))];
  return names
    .map((name) => series(name, minutes, (minute) => countsOf(minute)[name] ?? 0))
    .sort((a, b) => sumOf(b.values, (value) => value) - sumOf(a.values, (value) => value))
    .slice(0, most);
}

function valuesOf(record, read) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, read(value)]));
}

function total(counts) {
  return sumOf(Object.values(counts), (count) => count);
}

function sumOf(items, read) {
  return items.reduce((sum, item) => sum + read(item), 0);
}
