/** Checks native queries with Postgres: each is prepared with the types of its arguments, as it will be run, and never executed.
 *  In: queries with valid metadata. Out: by signature, null or the problem.
 *  Not here: when to check (state/gateway.ts), reporting the problem (resolve/native-query.ts).
 *  PostgreSQL manual, "PREPARE". */

import type { ClientBase } from 'pg';
import { type NativeTable, signatureOf } from '../resolve/native-query.ts';
import type { Leaf } from '../resolve/predicate.ts';
import { compile, sql } from '../sql/fragment.ts';
import { nativeRows } from '../sql/native-query.ts';
import { oneStatement } from './one-statement.ts';
import { sqlStateOf } from './pg-errors.ts';

type Client = Pick<ClientBase, 'query'>;

/** `client` must be in a transaction; it stays usable. Raises only when the connection is lost. */
export async function prepareNativeQueries(
  client: Client,
  queries: readonly NativeTable[],
): Promise<ReadonlyMap<string, string | null>> {
  const judged = new Map<string, string | null>();
  for (const query of queries)
    judged.set(signatureOf(query), await reasonAgainst(client, statementOf(query)));
  return judged;
}

async function reasonAgainst(client: Client, statement: string): Promise<string | null> {
  await client.query('savepoint native_query');
  try {
    await client.query(oneStatement(`prepare native_query as ${statement}`));
    await client.query('deallocate native_query; release savepoint native_query');
    return null;
  } catch (error) {
    if (sqlStateOf(error) === undefined || !(error instanceof Error)) throw error;
    await client.query('rollback to savepoint native_query; release savepoint native_query');
    return error.message;
  }
}

function statementOf({ native, columns }: NativeTable): string {
  const values = new Map(
    native.arguments.map(({ name, type }): [string, Leaf] => [
      name,
      { kind: 'variable', path: [name], type },
    ]),
  );
  const rows = nativeRows({
    code: native.code.map((part) => (typeof part === 'string' ? part : values.get(part.argument)!)),
    columns: columns.map(({ name, type }) => ({ column: name, type })),
  });
  return compile(sql`select * from ${rows} "rows"`).text;
}
