/** Has Postgres do a mutation as a database role, in plain SQL, and tells what a client would be told. The writer writes under
 *  its policies, the reader reads what was written under its own.
 *  `on conflict` is not left to Postgres: there, a conflicting row that the update policy hides is an error, and the insert
 *  policy counts for rows that are not inserted; in the engine it is passed over, and does not. So each object is looked up
 *  first and then inserted or updated. PostgreSQL manual, "CREATE POLICY". */
import type pg from 'pg';
import { type Condition, settingOf } from './condition.ts';
import { literal, toSql } from './condition-sql.ts';
import type { MutationRoot } from './mutation.ts';
import {
  type Action,
  answersWithRow,
  type Change,
  type Given,
  type Mutation,
  OPERATORS,
} from './mutation.ts';
import { type Names, readGround, writeGround } from './policies.ts';
import { type Asking, fieldsSql } from './query-sql.ts';
import type { Sight } from './request.ts';
import type { Value } from './types.ts';
import type { Column, Permissions, Preset, Role, Table } from './world.ts';

export type Scene = {
  readonly client: pg.ClientBase;
  readonly names: Names;
  readonly role: Role;
  readonly sight: Sight;
  /** Everything that was run. */
  readonly log: string[];
};

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
      return told(root, await insert(table, action, scene), scene);
    case 'update':
      return told(root, await update(table, matching(action.where, scene), action.changes, scene), scene);
    case 'update by key':
      return told(root, await update(table, keySql(table, action.key), action.changes, scene), scene);
    case 'update many': {
      const answers: string[] = [];
      for (const { where, changes } of action.updates) {
        answers.push(await told(root, await update(table, matching(where, scene), changes, scene), scene));
      }
      return `[${answers.join(',')}]`;
    }
    case 'delete':
      return remove(root, matching(action.where, scene), scene);
    case 'delete by key':
      return remove(root, keySql(table, action.key), scene);
    default:
      return action satisfies never;
  }
}

const matching = (where: Condition, { role }: Scene) => toSql(where, writeGround(role), 'x');

function keySql({ key }: Table, values: readonly Value[]): string {
  return key.map(({ name, type }, i) => `x.${name} = ${literal(values[i]!, type)}`).join(' and ');
}

/** What comes back of the rows with those numbers. */
async function told(root: MutationRoot, numbers: readonly number[], scene: Scene): Promise<string> {
  const { table, action, returning } = root;
  const affected = `"${scene.sight.world.names.word('affected_rows')}":${numbers.length}`;
  if (!returning) return `{${affected}}`;
  const asking: Asking = { ground: readGround(scene.role), sight: scene.sight };
  const from = `from public.${table.name} x where x."#" = any('{${numbers.join(',')}}')`;
  const json = fieldsSql(returning, 'x', asking);
  const list = `select coalesce(json_agg(r.row), '[]')::text as data from (select ${json} as row ${from}) r`;
  if (!answersWithRow(action)) {
    const rows = await asReader(list, scene);
    return `{${affected},"returning":${rows[0]!['data']}}`;
  }
  const rows = await asReader(`select ${json}::text as data ${from}`, scene);
  return String(rows[0]?.['data'] ?? 'null');
}

async function update(
  table: Table,
  where: string,
  changes: readonly Change[],
  scene: Scene,
): Promise<number[]> {
  const { presets } = permissionsOf(table, scene).update!;
  const set = [
    ...changes.map(({ column, operator, value, type }) => {
      const isText = type === 'String' && operator === '_delete_key';
      const operand = value ? literal(value, isText ? TEXT_TYPE : column.type) : 'null';
      return `${column.name} = ${OPERATORS.find(({ name }) => name === operator)!.sql(`x.${column.name}`, operand)}`;
    }),
    ...presets.map((preset) => `${preset.column.name} = ${presetSql(preset)}`),
  ];
  return numbersOf(`update public.${table.name} x set ${set.join(', ')} where ${where} returning "#"`, scene);
}

const TEXT_TYPE = { sql: 'text', graphql: 'String', values: [], isNumber: false, hasExtremes: true } as const;

function presetSql({ column, value, isSession }: Preset): string {
  const { type } = column;
  return isSession ? `current_setting('${settingOf(type, false)}')::${type.sql}` : literal(value, type);
}

/** Deleted rows are read before, as they cannot be after. */
async function remove(root: MutationRoot, where: string, scene: Scene): Promise<string> {
  const statement = `delete from public.${root.table.name} x where ${where} returning "#"`;
  await scene.client.query('savepoint undeleted');
  const numbers = await numbersOf(statement, scene);
  await scene.client.query('rollback to undeleted');
  const answer = await told(root, numbers, scene);
  await numbersOf(statement, scene);
  return answer;
}

type Insert = Extract<Action, { kind: 'insert' }>;

async function insert(table: Table, { objects, conflict }: Insert, scene: Scene): Promise<number[]> {
  if (objects.length === 0) return [];
  const { presets } = permissionsOf(table, scene).insert!;
  if (!conflict) return numbersOf(insertSql(table, objects, presets), scene);
  const written: number[] = [];
  const touched = new Set<number>();
  for (const object of objects) {
    const proposed = (column: Column): string => {
      const preset = presets.find((each) => each.column === column);
      if (preset) return presetSql(preset);
      const value = object.has(column) ? object.get(column)! : column.standard;
      return value ? literal(value, column.type) : `null::${column.type.sql}`;
    };
    // What a row must have, it must have before it conflicts.
    const missing = table.columns.find(
      (column) => !column.isNullable && proposed(column).startsWith('null::'),
    );
    if (missing) throw Object.assign(new Error(`null in ${missing.name}`), { code: '23502' });
    const same = conflict.columns.map((column) => `x.${column.name} = ${proposed(column)}`).join(' and ');
    const [found] = await asOwner(`select "#" from public.${table.name} x where ${same}`, scene);
    if (!found) {
      const numbers = await numbersOf(insertSql(table, [object], presets), scene);
      written.push(...numbers);
      for (const number of numbers) touched.add(number);
      continue;
    }
    if (conflict.update.length === 0) continue;
    const number = Number(found['#']);
    if (touched.has(number)) throw Object.assign(new Error('a row a second time'), { code: '21000' });
    touched.add(number);
    const own = permissionsOf(table, scene).update!.presets;
    const set = [
      ...conflict.update.map((column) => `${column.name} = ${proposed(column)}`),
      ...own.map((preset) => `${preset.column.name} = ${presetSql(preset)}`),
    ];
    const where = conflict.where ? `(${matching(conflict.where, scene)})` : 'true';
    const change = `update public.${table.name} x set ${set.join(', ')} where x."#" = ${number} and ${where}`;
    written.push(...(await numbersOf(`${change} returning "#"`, scene)));
  }
  return written;
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

function permissionsOf(table: Table, { role }: Scene): Permissions {
  return role.permissions.get(table)!;
}

type Rows = readonly Readonly<Record<string, unknown>>[];

async function numbersOf(sql: string, scene: Scene): Promise<number[]> {
  const rows = await as(scene.names.writer(scene.role.name), sql, scene);
  return rows.map((row) => Number(row['#']));
}

const asReader = (sql: string, scene: Scene) => as(scene.names.reader(scene.role.name), sql, scene);
const asOwner = (sql: string, scene: Scene) => as('none', sql, scene);

async function as(role: string, sql: string, { client, log }: Scene): Promise<Rows> {
  log.push(`set role ${role}; ${sql}`);
  await client.query(`set local role ${role}`);
  const { rows } = await client.query<Record<string, unknown>>(sql);
  await client.query('set local role none');
  return rows;
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
