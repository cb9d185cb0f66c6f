/** One writer of a crash test: a table of its own and its metadata, which requests take from state to state. In: a state and a random
 *  number. Out: the request, and the state after it is answered with 200. A refused request does not change the state; after an
 *  unanswered one, either state is possible. Not here: sending (writer.ts), reading the real state (observe.ts). */
import { FIRST_SECRET, setValue } from './secret-echo.ts';

/** The sources that tables may be in: the metadata database itself, or another. */
export const SOURCES = ['default', 'other'] as const;
export type SourceName = (typeof SOURCES)[number];

export type LaneState = {
  /** The name of the table, or null. */
  readonly table: string | null;
  readonly column: string;
  readonly rows: number;
  /** The table's comment in the metadata. */
  readonly note: string;
  readonly hasTrigger: boolean;
  /** The named value of the lane, which is stored beside the metadata and outlives the table. */
  readonly secret: string;
};

export type Lane = { readonly name: string; readonly source: SourceName };

export type Step = {
  readonly request: { readonly path: '/v1/query' | '/v2/query' | '/v1/metadata'; readonly body: unknown };
  readonly next: LaneState;
  /** True when the request is invalid as a whole and must have no effect. */
  readonly isWrong?: boolean;
};

export const ABSENT: LaneState = {
  table: null,
  column: '',
  rows: 0,
  note: '',
  hasTrigger: false,
  secret: FIRST_SECRET,
};
export const ROLE = 'reader';

/** Returns the next request. `serial` is not used twice in a run, so that every name is new. */
export function nextStep(lane: Lane, state: LaneState, choice: number, serial: number): Step {
  if (state.table === null) return make(lane, state, serial);
  const present = { ...state, table: state.table };
  return STEPS[choice % STEPS.length]!(lane, present, serial);
}

type Present = LaneState & { readonly table: string };

const STEPS: readonly ((lane: Lane, state: Present, serial: number) => Step)[] = [
  renameTable,
  renameColumn,
  note,
  insert,
  rotate,
  trigger,
  failHalfway,
  drop,
];

/** Creates a table by SQL, and its metadata, in one request. */
function make(lane: Lane, { secret }: LaneState, serial: number): Step {
  const [table, column] = [`${lane.name}_${serial}`, `c_${serial}`];
  const permission = { columns: ['id', column], filter: {} };
  const operations = [
    sqlOf(lane, `create table ${table} (id int generated always as identity primary key, ${column} text)`),
    { type: 'pg_track_table', args: { source: lane.source, table } },
    { type: 'pg_create_select_permission', args: { source: lane.source, table, role: ROLE, permission } },
  ];
  return {
    request: { path: '/v1/query', body: { type: 'bulk', args: operations } },
    next: { ...ABSENT, secret, table, column },
  };
}

function renameTable(lane: Lane, state: Present, serial: number): Step {
  const table = `${lane.name}_${serial}`;
  return bySql(lane, `alter table ${state.table} rename to ${table}`, { ...state, table });
}

function renameColumn(lane: Lane, state: Present, serial: number): Step {
  const column = `c_${serial}`;
  const sql = `alter table ${state.table} rename column ${state.column} to ${column}`;
  return bySql(lane, sql, { ...state, column });
}

function insert(lane: Lane, state: Present): Step {
  const sql = `insert into ${state.table} (${state.column}) values ('a')`;
  return bySql(lane, sql, { ...state, rows: state.rows + 1 });
}

function drop(lane: Lane, { table, secret }: Present): Step {
  const body = sqlOf(lane, `drop table ${table}`, { cascade: true });
  return { request: { path: '/v2/query', body }, next: { ...ABSENT, secret } };
}

function note({ source }: Lane, state: Present, serial: number): Step {
  const next = { ...state, note: `note ${serial}` };
  const args = { source, table: state.table, configuration: { comment: next.note } };
  return { request: { path: '/v1/metadata', body: { type: 'pg_set_table_customization', args } }, next };
}

/** Changes the named value. */
function rotate({ name }: Lane, state: Present, serial: number): Step {
  const secret = `secret ${serial}`;
  return { request: { path: '/v1/metadata', body: setValue([name], secret) }, next: { ...state, secret } };
}

/** Creates or drops an event trigger, in the metadata and as a trigger of the database. */
function trigger({ name, source }: Lane, state: Present): Step {
  const args = { source, name: `on_${name}` };
  const body = state.hasTrigger
    ? { type: 'pg_delete_event_trigger', args }
    : {
        type: 'pg_create_event_trigger',
        args: { ...args, table: state.table, webhook: 'http://127.0.0.1:9/', update: { columns: '*' } },
      };
  const next = { ...state, hasTrigger: !state.hasTrigger };
  return { request: { path: '/v1/metadata', body }, next };
}

function failHalfway(lane: Lane, state: Present, serial: number): Step {
  const operations = [
    sqlOf(lane, `alter table ${state.table} rename to gone_${serial}`),
    { type: 'pg_track_table', args: { source: lane.source, table: `missing_${serial}` } },
  ];
  const body = { type: 'bulk', args: operations };
  return { request: { path: '/v1/query', body }, next: state, isWrong: true };
}

function bySql(lane: Lane, sql: string, next: LaneState): Step {
  return { request: { path: '/v2/query', body: sqlOf(lane, sql) }, next };
}

function sqlOf({ source }: Lane, sql: string, more: object = {}) {
  return { type: 'run_sql', args: { source, sql, ...more } };
}
