/** Has Postgres insert rows and those related to them: what an object refers to, the object, what refers to it.
 *  `on conflict` is not left to Postgres: there, a conflicting row that the update policy hides is an error, and the insert
 *  policy counts for rows that are not inserted; in the engine it is passed over, and does not. So each object is looked up
 *  first and then inserted or updated. PostgreSQL manual, "CREATE POLICY". Source: docs/guides/inserting.md. */

import { literal, toSql } from './condition-sql.ts';
import type { Conflict, Given, RelatedRows, Row } from './mutation-types.ts';
import { writeGround } from './policies.ts';
import { isBefore } from './row.ts';
import { asOwner, matching, numbersOf, permissionsOf, presetSql, type Scene } from './scene.ts';
import type { Value } from './types.ts';
import type { Column, Preset, Table } from './world-types.ts';

/** Rows of the first table by their numbers, and how many there are of all. */
export type Written = { readonly numbers: readonly number[]; readonly affected: number };
const NOTHING: Given = new Map();

export async function insert(
  table: Table,
  rows: readonly Row[],
  conflict: Conflict | null,
  scene: Scene,
  determined: Given = NOTHING,
): Promise<Written> {
  if (rows.every(({ related }) => related.length === 0 || related.every(isEmpty))) {
    const objects = rows.map(({ given }) => new Map([...given, ...determined]));
    const numbers = await insertFlat(table, objects, conflict, scene);
    return { numbers, affected: numbers.length };
  }
  const written: Written[] = [];
  for (const row of rows) written.push(await insertRow(table, row, conflict, scene, determined));
  return together(written);
}

function together(written: readonly Written[]): Written {
  const numbers = written.flatMap((each) => each.numbers);
  return { numbers, affected: written.reduce((sum, { affected }) => sum + affected, 0) };
}

const isEmpty = ({ rows }: RelatedRows): boolean => rows.length === 0;

async function insertRow(
  table: Table,
  { given, related }: Row,
  conflict: Conflict | null,
  scene: Scene,
  determined: Given,
): Promise<Written> {
  const there = related.filter((each) => !isEmpty(each));
  let affected = 0;
  const decided = new Map<Column, Value | null>();
  for (const { relationship, rows, conflict: theirs } of there) {
    if (!isBefore(relationship)) continue;
    const { to, mapping } = relationship;
    const first = await insertRow(to, rows[0]!, theirs, scene, NOTHING);
    affected += first.affected;
    const values = await valuesOf(
      to,
      first,
      mapping.map(([, remote]) => remote),
      scene,
    );
    for (const [local, remote] of mapping) decided.set(local, values.get(remote)!);
  }
  const own = await insertFlat(table, [new Map([...given, ...decided, ...determined])], conflict, scene);
  affected += own.length;
  const numbers = { numbers: own, affected };
  for (const kind of ['array', 'object'] as const) {
    for (const { relationship, rows, conflict: theirs } of there) {
      if (isBefore(relationship) || relationship.kind !== kind) continue;
      const { to, mapping } = relationship;
      const values = await valuesOf(
        table,
        numbers,
        mapping.map(([local]) => local),
        scene,
      );
      const theirValues = new Map(mapping.map(([local, remote]) => [remote, values.get(local)!]));
      affected += (await insert(to, rows, theirs, scene, theirValues)).affected;
    }
  }
  return { numbers: own, affected };
}

/** Of the one row that was written; what is to refer to none is refused. */
async function valuesOf(
  { name }: Table,
  { numbers: [number] }: Written,
  columns: readonly Column[],
  scene: Scene,
): Promise<Given> {
  if (number === undefined) throw Object.assign(new Error('affects zero rows'), { code: 'none' });
  const list = columns.map((column) => `${column.name}::text`).join(', ');
  const [row] = await asOwner(`select ${list} from public.${name} where "#" = ${number}`, scene);
  const textOf = (column: Column) => row![column.name] as string | null;
  return new Map(
    columns.map((column) => {
      const text = textOf(column);
      return [column, text === null ? null : { text, json: text }];
    }),
  );
}

async function insertFlat(
  table: Table,
  objects: readonly Given[],
  conflict: Conflict | null,
  scene: Scene,
): Promise<number[]> {
  if (objects.length === 0) return [];
  const { presets } = permissionsOf(table, scene).insert!;
  if (!conflict) return numbersOf(insertSql(table, objects, presets), scene);
  const written: number[] = [];
  const touched = new Set<number>();
  for (const object of objects) written.push(...(await upsert(table, object, conflict, scene, touched)));
  return written;
}

async function upsert(
  table: Table,
  object: Given,
  conflict: Conflict,
  scene: Scene,
  touched: Set<number>,
): Promise<readonly number[]> {
  const { presets } = permissionsOf(table, scene).insert!;
  const proposed = (column: Column): string => {
    const preset = presets.find((each) => each.column === column);
    if (preset) return presetSql(preset);
    const value = object.has(column) ? object.get(column)! : column.standard;
    return value ? literal(value, column.type) : `null::${column.type.sql}`;
  };
  // What a row must have, it must have before it conflicts.
  const missing = table.columns.find((column) => !column.isNullable && proposed(column).startsWith('null::'));
  if (missing) throw Object.assign(new Error(`null in ${missing.name}`), { code: '23502' });
  const cells = table.columns.map((column) => `${proposed(column)} as ${column.name}`).join(', ');
  const same = conflict.columns.map(({ name }) => `x.${name} = y.${name}`).join(' and ');
  const ground = writeGround(scene.role);
  const [in1, in2] = [toSql(conflict.when, ground, 'x'), toSql(conflict.when, ground, 'y')];
  const from = `public.${table.name} x, (select ${cells}) y where ${same} and (${in1}) and (${in2})`;
  const [found] = await asOwner(`select x."#" from ${from}`, scene);
  if (!found) {
    const numbers = await numbersOf(insertSql(table, [object], presets), scene);
    for (const number of numbers) touched.add(number);
    return numbers;
  }
  if (conflict.update.length === 0) return [];
  const number = Number(found['#']);
  if (touched.has(number)) throw Object.assign(new Error('a row a second time'), { code: '21000' });
  touched.add(number);
  const own = permissionsOf(table, scene).update!.presets;
  const set = [
    ...conflict.update.map((column) => `${column.name} = ${proposed(column)}`),
    ...own.map((preset) => `${preset.column.name} = ${presetSql(preset)}`),
  ];
  const where = conflict.where ? `(${matching(conflict.where, table, scene)})` : 'true';
  const change = `update public.${table.name} x set ${set.join(', ')} where x."#" = ${number} and ${where}`;
  return numbersOf(`${change} returning "#"`, scene);
}

function insertSql(table: Table, objects: readonly Given[], presets: readonly Preset[]): string {
  const isPreset = (column: Column) => presets.some((preset) => preset.column === column);
  const given = table.columns.filter(
    (column) => objects.some((object) => object.has(column)) && !isPreset(column),
  );
  if (given.length + presets.length === 0) {
    if (objects.length > 1) throw new Error('many rows of defaults only');
    return `insert into public.${table.name} default values returning "#"`;
  }
  const rows = objects.map((object) => {
    const values = given.map((column) => {
      if (!object.has(column)) return 'default';
      const value = object.get(column);
      return value ? literal(value, column.type) : 'null';
    });
    return `(${[...values, ...presets.map(presetSql)].join(', ')})`;
  });
  const names = [...given, ...presets.map(({ column }) => column)].map(({ name }) => name);
  return `insert into public.${table.name} (${names.join(', ')}) values ${rows.join(', ')} returning "#"`;
}
