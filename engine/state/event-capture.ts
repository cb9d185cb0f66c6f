/** Applies the event triggers of a draft to the databases: creates and drops their functions and triggers in the request's
 *  transactions, so that databases and document change together. Changes only what differs from the previous document, because other
 *  engines may have triggers in the same database.
 *  Not here: their SQL (sql/event-trigger.ts), the log (events/event-log.ts). Reference: docs/reference/behaviour/event-triggers.md. */

import type { Database } from '../database/pool.ts';
import { EngineError, fail } from '../errors/engine-error.ts';
import { archiveEvents, createLog, hasLog } from '../events/event-log.ts';
import { objectKey } from '../metadata/objects.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Source } from '../metadata/schema/source.ts';
import { isLockTimeout } from '../migrate/migration-failure.ts';
import type { ResolvedEventTrigger } from '../resolve/model/event-trigger.ts';
import type { Model } from '../resolve/model/model.ts';
import {
  CAPTURES,
  type CaptureRow,
  captureRows,
  captureText,
  dropCaptureText,
} from '../sql/event-trigger.ts';
import { isUnreachable } from '../store/connect.ts';
import type { OpenTransaction } from './open-transaction.ts';
import type { Catalogs } from './snapshot.ts';
import { withSqlErrors } from './sql-failure.ts';

/** The longest wait for a table. What waits for its lock holds up all later writes to the table, and other changes of the metadata. */
const MOST_LOCK_WAIT_MS = 2000;

type DocumentState = {
  readonly metadata: Metadata;
  readonly model: Model;
  readonly catalogs: Catalogs;
};

type CaptureOptions = {
  readonly transaction: (source: Source) => Promise<OpenTransaction>;
  /** The names of sources whose triggers are created anew even if nothing differs. */
  readonly recreated: ReadonlySet<string>;
};

/** The changes to triggers in one source. */
type TriggerChange = {
  readonly created: readonly ResolvedEventTrigger[];
  /** Triggers that do not fit their table any more and would make writes to it fail. */
  readonly broken: readonly string[];
  /** Triggers that the document no longer has. */
  readonly removed: readonly string[];
};

export async function applyEventTriggers(
  before: DocumentState,
  after: DocumentState,
  options: CaptureOptions,
): Promise<void> {
  if (before.model === after.model && before.metadata === after.metadata && options.recreated.size === 0)
    return;
  for (const source of after.metadata.sources) {
    const catalog = after.catalogs.get(source.name);
    // The triggers of an unreachable source are kept. Those it lacks are created when it answers (take-in.ts).
    if (!catalog || 'error' in catalog || (catalog.awaits && catalog.lost !== undefined)) continue;
    const change = changeOf(source, before, after, options.recreated.has(source.name));
    await withSqlErrors('event triggers', () => apply(source, change, options));
  }
  const kept = new Set(after.metadata.sources.flatMap(namesIn));
  const names = new Set(after.metadata.sources.map(({ name }) => name));
  for (const source of before.metadata.sources) {
    // A renamed source keeps its triggers.
    const removed = names.has(source.name) ? [] : namesIn(source).filter((name) => !kept.has(name));
    await apply(source, { created: [], broken: [], removed }, options).catch((error: unknown) => {
      // The database of a removed source may not exist any more.
      if (!isUnreachable(error)) throw error;
    });
  }
}

/** True when the database lacks one of the event triggers, or has it in another form. */
export async function lacksTriggers(
  database: Pick<Database, 'query'>,
  triggers: readonly ResolvedEventTrigger[],
): Promise<boolean> {
  const { rows } = await database.query(CAPTURES);
  const textOf = (row: CaptureRow) =>
    JSON.stringify([row.function, row.schema, row.table, row.body, row.isAlways]);
  const found = new Set((rows as readonly CaptureRow[]).map(textOf));
  return triggers.flatMap(captureRows).some((row) => !found.has(textOf(row)));
}

/** Compares the triggers of a source. If the source now connects to another database, the triggers in the old one are kept. */
function changeOf(
  source: Source,
  before: DocumentState,
  after: DocumentState,
  isRecreated: boolean,
): TriggerChange {
  const former = before.metadata.sources.find(({ name }) => name === source.name);
  const isSame = former !== undefined && connectionOf(former) === connectionOf(source);
  const wanted = triggersOf(after.model, source.name);
  const had = isSame ? triggersOf(before.model, source.name) : new Map<string, ResolvedEventTrigger>();
  const listed = new Set(namesIn(source));
  return {
    created: [...wanted.values()].filter((one) => isRecreated || !isSameTrigger(one, had.get(one.name))),
    broken: [...had.keys()].filter((name) => listed.has(name) && !wanted.has(name)),
    removed: isSame ? namesIn(former).filter((name) => !listed.has(name)) : [],
  };
}

async function apply(
  source: Source,
  { created, broken, removed }: TriggerChange,
  { transaction }: CaptureOptions,
): Promise<void> {
  if (created.length + broken.length + removed.length === 0) return;
  const { client } = await transaction(source);
  await client.query("select set_config('lock_timeout', $1, true)", [`${MOST_LOCK_WAIT_MS}ms`]);
  const dropped = [...broken, ...removed];
  if (dropped.length > 0 && (await hasLog(client))) {
    for (const name of dropped) await whileFree(name, () => client.query(dropCaptureText(name)));
  }
  await archiveEvents(client, removed);
  if (created.length > 0) await createLog(client);
  for (const trigger of created) {
    const { schema, name: table } = trigger.table;
    await naming(objectKey('event_trigger', source.name, schema, table, trigger.name), () =>
      whileFree(trigger.name, () => client.query(captureText(trigger))),
    );
  }
}

/** Runs `body`, whose errors then name the object. */
async function naming(key: string, body: () => Promise<void>): Promise<void> {
  try {
    await withSqlErrors('event triggers', body);
  } catch (error) {
    throw error instanceof EngineError ? error.of(key) : error;
  }
}

/** Runs `body`, which locks the table of an event trigger. Raises `tableLocked` when another transaction has it for too long. */
async function whileFree(trigger: string, body: () => Promise<unknown>): Promise<void> {
  try {
    await body();
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    fail('tableLocked', { trigger, seconds: MOST_LOCK_WAIT_MS / 1000 });
  }
}

function isSameTrigger(trigger: ResolvedEventTrigger, previous: ResolvedEventTrigger | undefined): boolean {
  return previous !== undefined && captureText(previous) === captureText(trigger);
}

function triggersOf({ sources }: Model, name: string): ReadonlyMap<string, ResolvedEventTrigger> {
  return sources.get(name)?.eventTriggers ?? new Map();
}

function namesIn({ tables }: Source): readonly string[] {
  return tables.flatMap(({ event_triggers = [] }) => event_triggers.map(({ name }) => name));
}

function connectionOf({ configuration }: Source): string {
  return JSON.stringify(configuration.connection_info);
}
