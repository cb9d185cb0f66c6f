/** Takes the tables of the metadata database back to those of release 0.3.0, whose engine refuses every newer database (ADR 30).
 *  In: a database at the newest migration that no engine uses. Out: the tables of migration 6, or the reasons why not.
 *  Not here: the way forward (migrate.ts), what the document may contain (earlier-members.ts). */
import type { ClientBase } from 'pg';
import { withDamaged } from '../metadata/damaged.ts';
import { writeFullCopies } from './changes.ts';
import type { StoredDocument } from './document.ts';
import { unknownToEarlier } from './earlier-members.ts';
import { lockMigrations } from './migrate.ts';

/** The release that this way leads to, and its newest migration. */
export const EARLIER = { release: '0.3.0', migration: 6 } as const;
/** The newest migration that `TABLES` undoes. */
const NEWEST = 11;

/** The rows that the tables of 0.3.0 cannot hold: what they are, and SQL for their number. */
const ROWS = [
  { what: 'named values', sql: 'select count(*) from pergola.value' },
  {
    what: 'events of ScheduledEvents, and their deliveries',
    sql: `select count(*) from pergola.scheduled_event where type = 'declared'`,
  },
  {
    what: 'times of ScheduledEvents that were taken in',
    sql: 'select count(*) from pergola.declared_event',
  },
  { what: 'days of counted operations', sql: 'select count(*) from pergola.operation_usage' },
  { what: 'days of uncounted requests', sql: 'select count(*) from pergola.uncounted_usage' },
  {
    what: 'unfinished calls of actions with a count of interruptions',
    sql: `select count(*) from pergola.action_call where interruptions > 0 and status in ('waiting', 'running')`,
  },
] as const;

/** Undoes the migrations 11 to 7. */
const TABLES = `
alter table pergola.migration drop column readable_from;
alter table pergola.action_call drop column interruptions;
drop table pergola.uncounted_usage, pergola.operation_usage, pergola.coordinate_set;
drop table pergola.declared_event;
delete from pergola.scheduled_event where type = 'declared';
alter table pergola.scheduled_event drop constraint scheduled_event_type_check;
alter table pergola.scheduled_event
  add constraint scheduled_event_type_check check (type in ('cron', 'one_off', 'cleanup'));
drop table pergola.value;
alter table pergola.metadata drop column values_version;
delete from pergola.migration where version > ${EARLIER.migration};
`;

/** A reason why the database is not taken back. `canDiscard` is true for rows that are deleted with consent. */
export class DowngradeRefused extends Error {
  readonly canDiscard: boolean;

  constructor(reasons: readonly string[], canDiscard: boolean) {
    super(`release ${EARLIER.release} cannot hold: ${reasons.join('; ')}`);
    this.canDiscard = canDiscard;
  }
}

/** Takes the tables back. Returns what was deleted, such as `2 named values`. Raises `DowngradeRefused` where the document has what 0.3.0
 *  cannot read, and, unless `discards`, where rows would be deleted. The client must be inside a transaction, which is undone then. */
export async function downgrade(
  client: ClientBase,
  load: () => Promise<StoredDocument>,
  discards: boolean,
): Promise<readonly string[]> {
  await lockMigrations(client);
  await refuseOtherMigrations(client);
  await refuseEngines(client);
  // Readers are not kept waiting: the document is loaded over another connection.
  await client.query('lock table pergola.metadata in exclusive mode');
  const stored = await load();
  const members = unknownToEarlier(withDamaged(stored.document, stored.damaged));
  const damaged = stored.damaged.map(({ key }) => `the damaged object ${key}`);
  const unreadable = [...members.map((path) => `${path} of the metadata`), ...damaged];
  if (unreadable.length > 0) throw new DowngradeRefused(unreadable, false);
  const rows = await rowsOf(client);
  if (rows.length > 0 && !discards) throw new DowngradeRefused(rows, true);
  // Changes since the last full copy may name kinds that 0.3.0 does not know.
  await writeFullCopies(client, stored);
  await client.query(TABLES);
  return rows;
}

async function refuseOtherMigrations(client: ClientBase): Promise<void> {
  const { rows } = await client.query('select max(version) as newest from pergola.migration');
  const { newest } = rows[0];
  if (newest === NEWEST) return;
  throw new Error(
    newest === EARLIER.migration
      ? `the metadata database is that of release ${EARLIER.release}`
      : `the metadata database is at migration ${newest}, not ${NEWEST}: use the release that wrote it`,
  );
}

/** Engines listen on a connection of their own as long as they run. */
async function refuseEngines(client: ClientBase): Promise<void> {
  const { rows } = await client.query(
    `select count(*)::int as engines from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query ~* '^listen "?pergola_metadata'`,
  );
  const { engines } = rows[0];
  if (engines > 0) throw new Error(`${engines} engines use the metadata database: stop them first`);
  const open = await client.query('select count(*)::int as intents from pergola.intent');
  if (open.rows[0].intents > 0) {
    throw new Error('a write is unfinished: start an engine of this release once, and stop it');
  }
}

async function rowsOf(client: ClientBase): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { what, sql } of ROWS) {
    const { rows } = await client.query(sql);
    if (rows[0].count !== '0') found.push(`${rows[0].count} ${what}`);
  }
  return found;
}
