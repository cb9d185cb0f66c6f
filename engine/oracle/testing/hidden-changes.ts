/** Changes of a database that a role cannot see. What a role sees is written here from the documents, in SQL of its own: rows
 *  that its filter lets through; of these, the columns it may read, and those that what it may use depends on by design:
 *  keys of relationships, columns of computed fields and of tracked functions.
 *  A change is kept only when all of that stays the same, because a filter may look at hidden rows of other tables.
 *  In: a world, a role, choices. Out: the statements that make the change. */

import type pg from 'pg';
import type { Variables } from './arena.ts';
import { beginSql } from './arena.ts';
import type { Choices } from './choices.ts';
import { literal, toSql } from './condition-sql.ts';
import { OWNER } from './policies.ts';
import { poisonOf } from './raising.ts';
import type { World } from './world.ts';
import { keyValue } from './world.ts';
import type { Column, Role, Table } from './world-types.ts';

export type Occasion = { readonly world: World; readonly role: Role; readonly variables: Variables };

/** Numbers of new rows begin here. */
const FIRST_NEW = 1000;
const MOST_CHANGES = 14;

/** Changes the database; returns what was run. */
export async function changeHidden(
  client: pg.ClientBase,
  occasion: Occasion,
  choices: Choices,
): Promise<readonly string[]> {
  const proposals = proposedChanges(occasion, choices);
  const changes: string[] = [];
  await client.query(`${beginSql(null, occasion.variables)} set local session_replication_role = replica`);
  try {
    const before = await sightOf(client, occasion);
    for (const change of proposals) {
      if (await isUnseen(client, occasion, change, before)) changes.push(change);
    }
    await client.query(inOrderSql(occasion.world));
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
  return changes;
}

/** Makes changes that were found before. */
export async function makeChanges(
  client: pg.ClientBase,
  { world, variables }: Occasion,
  changes: readonly string[],
): Promise<void> {
  const settings = `${beginSql(null, variables)} set local session_replication_role = replica`;
  await client.query([settings, ...changes, inOrderSql(world), 'commit'].join('; '));
}

async function isUnseen(
  client: pg.ClientBase,
  occasion: Occasion,
  change: string,
  before: string,
): Promise<boolean> {
  await client.query('savepoint change');
  try {
    const { rowCount } = await client.query(change);
    if (rowCount && (await sightOf(client, occasion)) === before) {
      await client.query('release change');
      return true;
    }
  } catch (error) {
    // A key is taken, a column takes no null, or what the role sees raises.
    if (!/^2[23]/.test((error as { code?: string }).code ?? '')) throw error;
  }
  await client.query('rollback to change; release change');
  return false;
}

/** All that the role may see, as one text. */
async function sightOf(client: pg.ClientBase, occasion: Occasion): Promise<string> {
  const { rows } = await client.query<{ sight: string }>(sightSql(occasion));
  return rows[0]!.sight;
}

function sightSql({ world, role }: Occasion): string {
  const parts = world.tables.flatMap((table) => {
    const select = role.permissions.get(table)?.select;
    if (!select) return [];
    const cells = ['x."#"', ...revealed(world, role, table).map((column) => cellSql(column, role, table))];
    const filter = toSql(select.filter, OWNER, 'x');
    const rows = `select row(${cells.join(', ')})::text as r from public.${table.name} x where ${filter}`;
    return [`(select coalesce(string_agg(r, ';' order by r), '') from (${rows}) y)`];
  });
  return `select ${["'|'", ...parts].join(` || '|' || `)} as sight`;
}

/** The columns that the role's answers may depend on in rows it sees. */
function revealed({ tables, functions }: World, role: Role, table: Table): readonly Column[] {
  const { columns, computed } = role.permissions.get(table)!.select!;
  const names = new Set(columns.map(({ name }) => name));
  for (const { computed: by } of computed) names.add(by!.of.name);
  for (const { from, to, mapping } of tables.flatMap(({ relationships }) => relationships)) {
    for (const [local, remote] of mapping) {
      if (from === table) names.add(local.name);
      if (to === table) names.add(remote.name);
    }
  }
  for (const { returns, by } of functions) if (returns === table) names.add(by.name);
  return table.columns.filter(({ name }) => names.has(name));
}

/** Returns SQL that is true in rows whose cell the role sees: for an inherited role, rows that a parent with the column reads. */
function cellSql(column: Column, { parents, permissions }: Role, table: Table): string {
  const value = `x.${column.name}`;
  const select = permissions.get(table)!.select!;
  const isOwn = select.columns.includes(column);
  const usesBesides = select.computed.some(({ computed }) => computed!.of.name === column.name);
  const all = parents.flatMap((parent) => parent.permissions.get(table)!.select ?? []);
  const may = all.filter(({ columns }) => columns.includes(column));
  const isKey = table.relationships.some(({ mapping }) =>
    mapping.some(([local]) => local.name === column.name),
  );
  if (!isOwn || usesBesides || isKey || may.length === all.length) return value;
  const shown = may.map(({ filter }) => `(${toSql(filter, OWNER, 'x')})`).join(' or ');
  return `case when ${shown} then ${value} end`;
}

/** Rows in the order of their numbers: what a role sees without an order has the same order then. */
function inOrderSql({ tables }: World): string {
  const real = tables.filter(({ of }) => of === null).map(({ name }) => name);
  return [
    ...real.map(
      (name) =>
        `create temp table "in order ${name}" on commit drop as select * from public.${name} order by "#"`,
    ),
    `truncate ${real.map((name) => `public.${name}`).join(', ')}`,
    ...real.map((name) => `insert into public.${name} select * from "in order ${name}" order by "#"`),
  ].join('; ');
}

/** Returns statements that change rows and cells the role may not see. */
function proposedChanges({ world, role }: Occasion, choices: Choices): readonly string[] {
  const real = world.tables.filter(({ of }) => of === null);
  return choices.times(4 + choices.below(MOST_CHANGES - 4), (i) => {
    const table = choices.of(real);
    const select = role.permissions.get(table)?.select;
    const hidden = table.columns.filter(
      (column) => !select?.columns.includes(column) && !table.key.includes(column),
    );
    const at = `where x."#" = ${1 + choices.below(9)}`;
    switch (choices.below(6)) {
      case 0:
        return `delete from public.${table.name} x ${at}`;
      case 1:
      case 2:
        return insertSql(table, choices, i);
      case 3:
      case 4:
        return updateSql(
          table,
          choices.some(
            table.columns.filter((each) => !table.key.includes(each)),
            50,
          ),
          choices,
          at,
        );
      default:
        return updateSql(table, hidden.length > 0 ? hidden : table.columns.slice(-1), choices, '');
    }
  });
}

function insertSql(table: Table, choices: Choices, i: number): string {
  const values = table.columns.map((column) => {
    const isKey = table.key.includes(column) || column === table.unique || column === table.partial?.column;
    // Text keys of the first rows are odd, later ones are not.
    return isKey ? literal(keyValue(column.type, 20 + i), column.type) : cellOf(column, choices);
  });
  const columns = [...table.columns.map(({ name }) => name), '"#"'].join(', ');
  return `insert into public.${table.name} (${columns}) values (${[...values, FIRST_NEW + i].join(', ')})`;
}

function updateSql(table: Table, columns: readonly Column[], choices: Choices, at: string): string {
  const [column = table.columns.at(-1)!, ...more] = columns;
  const set = [column, ...more].map((each) => `${each.name} = ${cellOf(each, choices)}`);
  return `update public.${table.name} x set ${set.join(', ')} ${at}`;
}

function cellOf(column: Column, choices: Choices): string {
  const { type, isNullable } = column;
  const poison = poisonOf(column);
  if (poison && choices.chance(45)) return literal(poison, type);
  if (isNullable && choices.chance(15)) return 'null';
  return literal(choices.of(type.values), type);
}
