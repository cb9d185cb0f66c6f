/** Distributes statements over the read replicas of a source in turn. A replica whose connection is lost, or that refuses one for
 *  any reason, is skipped and checked in the background until it answers again, so no request waits for it. Not here: the statements that a replica may run (execute/statements.ts).
 *  Reference: docs/reference/behaviour/metadata.md. */
import { type Database, isConnectionLost } from './pool.ts';

const PROBE_EVERY_MS = 2000;
const PROBE = { name: '', text: 'select 1' };

type Replica = { readonly database: Database; isDown: boolean; probedAt: number };

export class Replicas {
  readonly #all: readonly Replica[];
  #turn = 0;

  constructor(databases: readonly Database[]) {
    this.#all = databases.map((database) => {
      const replica: Replica = {
        database: noticing(database, () => {
          replica.isDown = true;
          replica.probedAt = performance.now();
        }),
        isDown: false,
        probedAt: 0,
      };
      return replica;
    });
  }

  /** Null when none answers. */
  pick(): Database | null {
    for (let tried = 0; tried < this.#all.length; tried++) {
      this.#turn = (this.#turn + 1) % this.#all.length;
      const replica = this.#all[this.#turn]!;
      if (!replica.isDown) return replica.database;
      if (performance.now() - replica.probedAt > PROBE_EVERY_MS) void probe(replica);
    }
    return null;
  }
}

async function probe(replica: Replica): Promise<void> {
  replica.probedAt = Number.POSITIVE_INFINITY;
  try {
    await replica.database.run(PROBE, []);
    replica.isDown = false;
  } catch {
    replica.probedAt = performance.now();
  }
}

function noticing(database: Database, lost: () => void): Database {
  const noticed = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      if (isConnectionLost(error)) lost();
      throw error;
    });
  return {
    run: (statement, values, patience) => noticed(database.run(statement, values, patience)),
    atomic: (options, body) => noticed(database.atomic(options, body)),
    transaction: (options, body) => noticed(database.transaction(options, body)),
    session: (body, signal) => noticed(database.session(body, signal)),
    query: (text, values, signal) => noticed(database.query(text, values, signal)),
    retire: () => database.retire(),
    counts: database.counts,
    get state() {
      return database.state;
    },
    close: (cut) => database.close(cut),
  };
}
