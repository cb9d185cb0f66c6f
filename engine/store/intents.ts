/** Intents: writes of the document that wait for commits in other databases, recorded before those commit.
 *  Two databases cannot commit atomically. An engine that stops between the two commits leaves its intent behind. While an intent is
 *  open no replica writes: the first one that finds it queries whether those databases have committed, then applies or drops it.
 *  Not here: access to those databases (state/gateway.ts), when intents are completed (store.ts).
 *  PostgreSQL manual, "Transaction ID and Snapshot Information". */

import type { ClientBase } from 'pg';
import type { Database } from '../database/pool.ts';
import { parseJson } from '../json/parse-json.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { MetadataWrite } from './document.ts';

/** A transaction in a source's database, by the transaction ID it has there. */
export type ForeignTransaction = { readonly source: Source; readonly xid: string };

export type TransactionStatus = 'committed' | 'aborted' | 'in progress' | 'unreachable';

type Intent = {
  readonly id: string;
  /** The version of the document that the write is based on. */
  readonly expected: number;
  readonly write: MetadataWrite;
  readonly transactions: readonly ForeignTransaction[];
};

/** Returns the ID of the client's current transaction; null if it has written nothing. */
export async function assignedTransactionId(client: ClientBase): Promise<string | null> {
  const { rows } = await client.query('select pg_current_xact_id_if_assigned()::text as xid');
  return rows[0]?.xid ?? null;
}

/** Returns the status of an earlier transaction; null if the database no longer remembers it. */
export async function statusOfTransaction(
  database: Queryable,
  xid: string,
): Promise<'committed' | 'aborted' | 'in progress' | null> {
  const { rows } = await database.query('select pg_xact_status($1::xid8) as status', [xid]);
  return rows[0].status;
}

type Queryable = Pick<Database, 'query'> | ClientBase;

/** An SQL condition for statements that write the document: no intent is open. */
export const NO_OPEN_INTENT = 'not exists (select from pergola.intent)';

export async function recordIntent(database: Queryable, intent: Intent): Promise<void> {
  await database.query(
    `insert into pergola.intent (id, resource_version, draft, transactions) values ($1, $2, $3, $4)`,
    [intent.id, intent.expected, JSON.stringify(intent.write), JSON.stringify(intent.transactions)],
  );
}

export async function deleteIntent(database: Queryable, id: string): Promise<void> {
  await database.query('delete from pergola.intent where id = $1', [id]);
}

export async function listIntents(database: Queryable): Promise<readonly Intent[]> {
  const found = await database.query(
    'select id, resource_version::text as expected, draft::text, transactions::text from pergola.intent',
  );
  return found.rows.map(({ id, expected, draft, transactions }) => ({
    id,
    expected: Number(expected),
    write: parseJson(draft) as MetadataWrite,
    transactions: JSON.parse(transactions),
  }));
}
