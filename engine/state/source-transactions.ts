/** The transactions of one request on its sources, at most one on each. Operations begin them; all of them end with the request.
 *  In: sources, and their databases. Not here: one transaction (open-transaction.ts), the document that goes with them and the order of its
 *  commit (unit-of-work.ts). */
import type pg from 'pg';
import type { Database } from '../database/pool.ts';
import { LOCK_LIMIT } from '../database/session-settings.ts';
import type { Source } from '../metadata/schema/source.ts';
import { assignedTransactionId, type ForeignTransaction } from '../store/intents.ts';
import { type OpenTransaction, openTransaction } from './open-transaction.ts';
import { endWhenSilent } from './silent-database.ts';
import { withSqlErrors } from './sql-failure.ts';

export class SourceTransactions {
  readonly #databaseOf: (source: Source) => Database;
  readonly #answers: (source: Source) => Promise<boolean>;
  readonly #open = new Map<string, OpenTransaction & { readonly source: Source }>();

  /** `answers` resolves to false when the database of the source does not answer on another connection. */
  constructor(databaseOf: (source: Source) => Database, answers: (source: Source) => Promise<boolean>) {
    this.#databaseOf = databaseOf;
    this.#answers = answers;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Returns the connection of the transaction on a source; undefined if there is none. */
  clientOf({ name }: Source): pg.ClientBase | undefined {
    return this.#open.get(name)?.client;
  }

  /** Returns the transaction on a source. The first call begins it. Two sources may be one database, where the second transaction would
   *  wait for ever for what the first one has locked: it waits for a limited time, unless its SQL says otherwise. */
  async begin(source: Source): Promise<OpenTransaction> {
    const open = this.#open.get(source.name);
    if (open) return open;
    const isFirst = this.#open.size === 0;
    const begun = this.#watched(source, await openTransaction(this.#databaseOf(source), { isForeign: true }));
    this.#open.set(source.name, { ...begun, source });
    if (!isFirst) await begun.client.query(LOCK_LIMIT.text);
    return begun;
  }

  /** Returns the transaction, which fails once its database has fallen silent. */
  #watched(source: Source, { client, commit, rollback }: OpenTransaction): OpenTransaction {
    const end = endWhenSilent(client, () => this.#answers(source));
    return {
      client,
      commit: () => commit().finally(end),
      rollback: () => rollback().finally(end),
    };
  }

  /** Begins a transaction in place of one that SQL of the client has ended. Returns true when it had: what ran in it is committed or rolled
   *  back. */
  async renew(source: Source): Promise<boolean> {
    const ended = this.#open.get(source.name);
    if (ended?.client.getTransactionStatus() !== 'I') return false;
    await ended.client.query('begin');
    // Another entry: savepoints of the transaction before are gone.
    this.#open.set(source.name, { ...ended });
    return true;
  }

  /** Runs `body`. If it throws, its changes in open transactions are undone, and those that it began are rolled back. */
  async attempt<T>(body: () => Promise<T>): Promise<T> {
    const before = new Map(this.#open);
    for (const { client } of before.values()) await client.query('savepoint attempt');
    try {
      const result = await body();
      for (const [name, open] of before) {
        if (this.#open.get(name) === open) await open.client.query('release savepoint attempt');
      }
      return result;
    } catch (error) {
      for (const [name, open] of this.#open) {
        const { client, rollback } = open;
        if (before.get(name) === open) {
          await client.query('rollback to savepoint attempt; release savepoint attempt');
        } else if (before.has(name)) {
          await client.query('rollback');
          await client.query('begin');
        } else {
          this.#open.delete(name);
          await rollback();
        }
      }
      throw error;
    }
  }

  /** Commits the transaction on one source, if there is one. Raises errors of SQL: deferred constraints fail here. */
  async commitOn({ name }: Source): Promise<void> {
    const open = this.#open.get(name);
    this.#open.delete(name);
    if (open) await withSqlErrors('commit', open.commit);
  }

  /** Commits all transactions, that of the source `last` at the end. Raises errors of SQL. */
  async commit(last?: Source): Promise<void> {
    const sources = [...this.#open.values()].map(({ source }) => source);
    const ordered = sources.sort((a, b) => Number(a.name === last?.name) - Number(b.name === last?.name));
    for (const source of ordered) await this.commitOn(source);
  }

  /** Returns the transactions that have written something, by the transaction IDs of their databases. */
  async written(): Promise<readonly ForeignTransaction[]> {
    const found: ForeignTransaction[] = [];
    for (const { source, client } of this.#open.values()) {
      const xid = await assignedTransactionId(client);
      if (xid !== null) found.push({ source, xid });
    }
    return found;
  }

  /** Rolls all transactions back. Never rejects. */
  async rollback(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.allSettled(open.map((transaction) => transaction.rollback()));
  }
}
