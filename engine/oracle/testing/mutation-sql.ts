/** Has Postgres do a mutation as a database role, in plain SQL, and tells what a client would be told. The writer writes under
 *  its policies, the reader reads what was written under its own. Not here: inserts and updates themselves. */

import { literal } from './condition-sql.ts';
import { insert, type Written } from './insert-sql.ts';
import { answersWithRow } from './mutation.ts';
import type { Mutation, MutationRoot } from './mutation-types.ts';
import { readGround } from './policies.ts';
import { type Asking, fieldsSql } from './query-sql.ts';
import { asReader, matching, numbersOf, type Scene } from './scene.ts';
import type { Value } from './types.ts';
import { update } from './update-sql.ts';
import type { Table } from './world-types.ts';

/** The `data` of the answer. Raises what Postgres raises. */
export async function mutate({ roots }: Mutation, scene: Scene): Promise<string> {
  const members: string[] = [];
  for (const root of roots) members.push(`${JSON.stringify(root.alias)}:${await perform(root, scene)}`);
  return `{${members.join(',')}}`;
}

async function perform(root: MutationRoot, scene: Scene): Promise<string> {
  const { table, action } = root;
  switch (action.kind) {
    case 'insert':
      return told(root, await insert(table, action.objects, action.conflict, scene), scene);
    case 'update':
      return told(root, await update(table, matching(action.where, table, scene), action, scene), scene);
    case 'update by key':
      return told(root, await update(table, keySql(table, action.key), action, scene), scene);
    case 'update many': {
      const answers: string[] = [];
      for (const each of action.updates) {
        const written = await update(table, matching(each.where, table, scene), each, scene);
        answers.push(await told(root, written, scene));
      }
      return `[${answers.join(',')}]`;
    }
    case 'delete':
      return remove(root, matching(action.where, table, scene), scene);
    case 'delete by key':
      return remove(root, keySql(table, action.key), scene);
    default:
      return action satisfies never;
  }
}

function keySql({ key }: Table, values: readonly Value[]): string {
  return key.map(({ name, type }, i) => `x.${name} = ${literal(values[i]!, type)}`).join(' and ');
}

/** What comes back of the rows with those numbers. */
async function told(
  root: MutationRoot,
  { numbers, affected: count }: Written,
  scene: Scene,
): Promise<string> {
  const { table, action, returning } = root;
  const affected = `"${scene.sight.world.names.word('affected_rows')}":${count}`;
  if (!returning) return `{${affected}}`;
  const asking: Asking = { ground: readGround(scene.role), sight: scene.sight };
  const from = `from ${asking.ground.rowsOf(table)} x where x."#" = any('{${numbers.join(',')}}')`;
  const json = fieldsSql(returning, 'x', asking);
  const list = `select coalesce(json_agg(r.row), '[]')::text as data from (select ${json} as row ${from}) r`;
  if (!answersWithRow(action)) {
    const rows = await asReader(list, scene);
    return `{${affected},"returning":${rows[0]!['data']}}`;
  }
  const rows = await asReader(`select ${json}::text as data ${from}`, scene);
  return String(rows[0]?.['data'] ?? 'null');
}

/** Deleted rows are read before, as they cannot be after. */
async function remove(root: MutationRoot, where: string, scene: Scene): Promise<string> {
  const statement = `delete from public.${root.table.name} x where ${where} returning "#"`;
  await scene.client.query('savepoint undeleted');
  const numbers = await numbersOf(statement, scene);
  await scene.client.query('rollback to undeleted');
  const answer = await told(root, { numbers, affected: numbers.length }, scene);
  await numbersOf(statement, scene);
  return answer;
}

/** All rows of all tables, in an order of their own, without their numbers. */
export function contentsSql(tables: readonly Table[]): string {
  const members = tables
    .filter(({ of }) => of === null)
    .map(({ name, columns }) => {
      const list = columns.map((column) => column.name).join(', ');
      return `'${name}', (select json_agg(r order by r::text) from (select ${list} from public.${name}) r)`;
    });
  return `select json_build_object(${members.join(', ')})::text as contents`;
}
