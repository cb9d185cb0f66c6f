/** Intents: what is going to be written to the document once other databases have committed, noted before they do.
 *  Two databases cannot commit at once. An engine that ends between the two commits leaves its intent behind, and while there
 *  is one nobody writes: whoever finds it asks the databases whether they have committed, and writes it or forgets it.
 *  Not here: asking them (admin/ground.ts), when to look (store.ts). PostgreSQL manual, "Transaction ID and Snapshot Information". */

import type { ClientBase } from 'pg';
import type { Database } from '../database/pool.ts';
import { parseJson } from '../json/parse-json.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Draft } from './store.ts';

/** A transaction of another database, by its number there. */
export type ForeignTransaction = { readonly source: Source; readonly xid: string };

export type Outcome = 'committed' | 'aborted' | 'in progress' | 'unreachable';

export type Intent = {
  readonly id: string;
  /** The version of the document it was to follow. */
  readonly expected: number;
  readonly draft: Draft;
  readonly transactions: readonly ForeignTransaction[];
};

type Queryable = Pick<Database, 'query'> | ClientBase;

/** Of a statement that writes the document: nobody's intent is open. */
export const NO_INTENT = 'not exists (select from pergola.intent)';

export async function recordIntent(database: Queryable, intent: Intent): Promise<void> {
  await database.query(
    `insert into pergola.intent (id, resource_version, draft, transactions) values ($1, $2, $3, $4)`,
    [intent.id, intent.expected, JSON.stringify(intent.draft), JSON.stringify(intent.transactions)],
  );
}

export async function forgetIntent(database: Queryable, id: string): Promise<void> {
  await database.query('delete from pergola.intent where id = $1', [id]);
}

export async function listIntents(database: Queryable): Promise<readonly Intent[]> {
  const found = await database.query(
    'select id, resource_version::text as expected, draft::text, transactions::text from pergola.intent',
  );
  return found.rows.map(({ id, expected, draft, transactions }) => ({
    id,
    expected: Number(expected),
    draft: parseJson(draft) as Draft,
    transactions: JSON.parse(transactions),
  }));
}
