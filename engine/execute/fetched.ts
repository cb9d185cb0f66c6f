/** Reads the values of other sources that a statement compares with, before the statement runs: permissions with remote
 *  relationships. Each distinct column and condition is read once per statement, as the session that the request has. Not here: the
 *  SQL (sql/fetched.ts), where such leaves come from (resolve/bool-exp.ts). */
import type { Databases } from '../database/databases.ts';
import { engineErrorOf } from '../database/pg-errors.ts';
import type { Leaf } from '../resolve/predicate.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import { fetchStatement } from '../sql/fetched.ts';
import type { Statement } from '../sql/fragment.ts';
import { textOfColumn, type Value } from '../wire/statement.ts';
import { type Binding, bind } from './bind.ts';

type Fetched = Extract<Leaf, { kind: 'fetched' }>;

/** Returns the binding with the fetched values of the statements; the same one when there are none. */
export async function withFetched(
  statements: readonly Pick<Statement, 'parameters'>[],
  binding: Binding,
  databases: Databases,
): Promise<Binding> {
  const leaves = statements.flatMap(({ parameters }) =>
    parameters.filter((leaf): leaf is Fetched => leaf.kind === 'fetched'),
  );
  if (leaves.length === 0) return binding;
  const distinct = Map.groupBy(leaves, (leaf) => JSON.stringify(leaf));
  const fetched = new Map<Leaf, Value>();
  await Promise.all(
    [...distinct.values()].map(async (equal) => {
      const value = await fetch(equal[0]!, binding, databases);
      for (const leaf of equal) fetched.set(leaf, value);
    }),
  );
  return { ...binding, fetched };
}

async function fetch(leaf: Fetched, binding: Binding, databases: Databases): Promise<Value> {
  const { text, parameters } = fetchStatement(leaf);
  const values = bind(parameters, binding);
  try {
    const row = await databases.get(leaf.source, 'read').run({ name: '', text }, values);
    return textOfColumn(row[0] ?? null);
  } catch (error) {
    throw engineErrorOf(error, { text, isByAdministrator: binding.session.role === ADMIN_ROLE }, []);
  }
}
