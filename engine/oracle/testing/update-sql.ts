/** Has Postgres update rows and those related to them: the rows, and then, relationship by relationship, deletes before
 *  updates. Which rows are related is what the updated ones say. Source: docs/guides/updating.md. */

import { OPERATORS } from './change-operators.ts';
import { literal } from './condition-sql.ts';
import type { Written } from './insert-sql.ts';
import type { Change, RelatedWrites, Update } from './mutation-types.ts';
import { writeGround } from './policies.ts';
import { asOwner, matching, numbersOf, permissionsOf, presetSql, type Scene } from './scene.ts';
import { TEXT } from './types.ts';
import type { Relationship, Table } from './world-types.ts';

/** `where` is about the row x. */
export async function update(
  table: Table,
  where: string,
  { changes, related }: Omit<Update, 'where'>,
  scene: Scene,
): Promise<Written> {
  const numbers = await updateFlat(table, where, changes, scene);
  let affected = numbers.length;
  // What the rows say of others, they say before any of those is written.
  const reached: string[] = [];
  for (const { relationship } of related) reached.push(await keysOf(relationship, numbers, scene));
  for (const [i, each] of related.entries()) {
    affected += await writeRelated(each, reached[i]!, scene);
  }
  return { numbers, affected };
}

async function writeRelated(
  { relationship: { to, mapping }, deletes, updates }: RelatedWrites,
  keys: string,
  scene: Scene,
): Promise<number> {
  let affected = 0;
  const theirs = mapping.map(([, remote]) => `y.${remote.name}`).join(', ');
  const visible = `y."#" in (select "#" from ${writeGround(scene.role).rowsOf(to)})`;
  const reached = async () => {
    const from = `public.${to.name} y where (${theirs}) in (${keys}) and ${visible}`;
    const rows = await asOwner(`select y."#" from ${from}`, scene);
    return `x."#" = any('{${rows.map((row) => row['#']).join(',')}}')`;
  };
  for (const where of deletes) {
    const which = `${await reached()} and (${matching(where, to, scene)})`;
    const numbers = await numbersOf(`delete from public.${to.name} x where ${which} returning "#"`, scene);
    affected += numbers.length;
  }
  for (const each of updates) {
    const which = `${await reached()} and (${matching(each.where, to, scene)})`;
    affected += (await update(to, which, each, scene)).affected;
  }
  return affected;
}

/** A query of what the rows have in the columns of the relationship, as far as the role may read the rows. */
async function keysOf(
  { from, mapping }: Relationship,
  numbers: readonly number[],
  scene: Scene,
): Promise<string> {
  const list = mapping.map(([{ name }]) => `x.${name}::text as ${name}`).join(', ');
  const seen = `x."#" in (select "#" from ${writeGround(scene.role).rowsOf(from)})`;
  const which = `x."#" = any('{${numbers.join(',')}}') and ${seen}`;
  const rows = await asOwner(`select ${list} from public.${from.name} x where ${which}`, scene);
  const none = `select ${mapping.map(([{ type }]) => `null::${type.sql}`).join(', ')} where false`;
  const values = rows.map((row) => {
    const cells = mapping.map(([{ name, type }]) => {
      const text = row[name] as string | null;
      return text === null ? `null::${type.sql}` : literal({ text, json: text }, type);
    });
    return `select ${cells.join(', ')}`;
  });
  return [none, ...values].join(' union all ');
}

async function updateFlat(
  table: Table,
  where: string,
  changes: readonly Change[],
  scene: Scene,
): Promise<number[]> {
  const { presets } = permissionsOf(table, scene).update!;
  const set = [
    ...changes.map(({ column, operator, value, type }) => {
      const isText = type === 'String' && operator === '_delete_key';
      const operand = value ? literal(value, isText ? TEXT : column.type) : 'null';
      const { sql } = OPERATORS.find(({ name }) => name === operator)!;
      return `${column.name} = ${sql(`x.${column.name}`, operand)}`;
    }),
    ...presets.map((preset) => `${preset.column.name} = ${presetSql(preset)}`),
  ];
  return numbersOf(`update public.${table.name} x set ${set.join(', ')} where ${where} returning "#"`, scene);
}
