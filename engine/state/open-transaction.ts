/** A transaction that outlives the function that began it: an operation begins one on its source, and the request commits all of them
 *  together with the metadata at its end. Not here: those of a request (source-transactions.ts), when they end (unit-of-work.ts). */
import type pg from 'pg';
import type { Database, TransactionOptions } from '../database/pool.ts';

export type OpenTransaction = {
  readonly client: pg.ClientBase;
  /** Commits. Throws the errors of COMMIT, for example of a deferred constraint. */
  readonly commit: () => Promise<void>;
  readonly rollback: () => Promise<void>;
};

/** Thrown inside the pool's transaction to end it by ROLLBACK. Never leaves this file. */
class RolledBack extends Error {}

export async function openTransaction(
  database: Database,
  options: TransactionOptions,
): Promise<OpenTransaction> {
  const begun = Promise.withResolvers<pg.ClientBase>();
  const ending = Promise.withResolvers<void>();
  const ended = database.transaction(options, async (client) => {
    begun.resolve(client);
    await ending.promise;
  });
  ended.catch(begun.reject);
  const client = await begun.promise;
  return {
    client,
    commit: () => {
      ending.resolve();
      return ended;
    },
    rollback: async () => {
      ending.reject(new RolledBack());
      await ended.catch((error: unknown) => {
        if (!(error instanceof RolledBack)) throw error;
      });
    },
  };
}
