/** Brings the functions and triggers of event triggers in the databases to what a draft says, in the request's transactions:
 *  with the document or not at all. Only what differs from the document before is touched: other engines may have theirs there.
 *  Not here: their SQL (sql/event-trigger.ts), the log (events/capture.ts). Reference: docs/reference/behaviour/event-triggers.md. */

import { archiveEvents, dropCaptures, makeCaptures } from '../events/capture.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Model, ResolvedEventTrigger } from '../resolve/types.ts';
import { captureText } from '../sql/event-trigger.ts';
import { isUnreachable } from '../store/connect.ts';
import type { OpenTransaction } from './open-transaction.ts';
import type { Catalogs } from './snapshot.ts';
import { refusingSql } from './sql-failure.ts';

export type Side = { readonly metadata: Metadata; readonly model: Model; readonly catalogs: Catalogs };

export type CaptureOptions = {
  readonly transaction: (source: Source) => Promise<OpenTransaction>;
  /** Sources whose triggers are made anew although nothing differs. */
  readonly remade: ReadonlySet<string>;
};

/** What changes in one source. */
type Change = {
  readonly made: readonly ResolvedEventTrigger[];
  /** They do not fit their table any more, and would be in the way of whoever writes to it. */
  readonly broken: readonly string[];
  readonly forgotten: readonly string[];
};

export async function capture(before: Side, after: Side, options: CaptureOptions): Promise<void> {
  if (before.model === after.model && before.metadata === after.metadata && options.remade.size === 0) return;
  for (const source of after.metadata.sources) {
    const catalog = after.catalogs.get(source.name);
    // It cannot be asked: its triggers stay as they are.
    if (!catalog || 'error' in catalog) continue;
    const change = changeOf(source, before, after, options.remade.has(source.name));
    await refusingSql({ source: source.name, statement: 'event triggers' }, () =>
      apply(source, change, options),
    );
  }
  const kept = new Set(after.metadata.sources.flatMap(namesIn));
  const names = new Set(after.metadata.sources.map(({ name }) => name));
  for (const source of before.metadata.sources) {
    // One that was renamed has kept its triggers.
    const forgotten = names.has(source.name) ? [] : namesIn(source).filter((name) => !kept.has(name));
    await apply(source, { made: [], broken: [], forgotten }, options).catch((error: unknown) => {
      // A source that is forgotten may be gone.
      if (!isUnreachable(error)) throw error;
    });
  }
}

/** A database the source has left for another keeps what it has. */
function changeOf(source: Source, before: Side, after: Side, isRemade: boolean): Change {
  const former = before.metadata.sources.find(({ name }) => name === source.name);
  const isSame = former !== undefined && connectionOf(former) === connectionOf(source);
  const wanted = triggersOf(after.model, source.name);
  const had = isSame ? triggersOf(before.model, source.name) : new Map<string, ResolvedEventTrigger>();
  const listed = new Set(namesIn(source));
  return {
    made: [...wanted.values()].filter((trigger) => isRemade || !isMade(trigger, had.get(trigger.name))),
    broken: [...had.keys()].filter((name) => listed.has(name) && !wanted.has(name)),
    forgotten: isSame ? namesIn(former).filter((name) => !listed.has(name)) : [],
  };
}

async function apply(
  source: Source,
  { made, broken, forgotten }: Change,
  { transaction }: CaptureOptions,
): Promise<void> {
  if (made.length + broken.length + forgotten.length === 0) return;
  const { client } = await transaction(source);
  await dropCaptures(client, [...broken, ...forgotten]);
  await archiveEvents(client, forgotten);
  await makeCaptures(client, made);
}

function isMade(trigger: ResolvedEventTrigger, known: ResolvedEventTrigger | undefined): boolean {
  return known !== undefined && captureText(known) === captureText(trigger);
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
