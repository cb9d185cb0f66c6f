/** Writes entries to a database in groups: what is added while a group is being written is in the next one. One statement for many entries
 *  takes a fraction of the CPU time that one for each takes, and under little load each entry is still written at once.
 *  Not here: what is written (event-log.ts). */
import type { Database } from '../database/pool.ts';
import { nextTurn } from '../limits/slices.ts';

type Waiting<T> = { readonly entry: T; readonly settle: PromiseWithResolvers<void> };

/** Writes entries, and returns those that were written. Those that were not are written by `one`, as are all of a group that fails: one of
 *  them may be the cause. */
export type GroupWrite<T> = {
  readonly many: (database: Database, entries: readonly T[]) => Promise<ReadonlySet<T>>;
  readonly one: (database: Database, entry: T) => Promise<void>;
};

const MOST = 100;

/** Returns a function that resolves when its entry has been written. It raises what writing that entry alone raises. */
export function grouped<T>(write: GroupWrite<T>): (database: Database, entry: T) => Promise<void> {
  const queues = new WeakMap<Database, Waiting<T>[]>();
  const writeAll = async (database: Database, queue: Waiting<T>[]) => {
    while (queue.length > 0) {
      // Answers that arrive in one turn of the event loop are recorded together.
      await nextTurn();
      await writeGroup(write, database, queue.splice(0, MOST));
    }
    queues.delete(database);
  };
  return (database, entry) => {
    const settle = Promise.withResolvers<void>();
    const queue = queues.get(database);
    if (queue) queue.push({ entry, settle });
    else {
      const started = [{ entry, settle }];
      queues.set(database, started);
      void writeAll(database, started);
    }
    return settle.promise;
  };
}

async function writeGroup<T>(
  { many, one }: GroupWrite<T>,
  database: Database,
  group: readonly Waiting<T>[],
): Promise<void> {
  const entries = group.map(({ entry }) => entry);
  const none: ReadonlySet<T> = new Set();
  const written = group.length === 1 ? none : await many(database, entries).catch(() => none);
  for (const { entry, settle } of group) {
    if (written.has(entry)) settle.resolve();
    else one(database, entry).then(settle.resolve, settle.reject);
  }
}
