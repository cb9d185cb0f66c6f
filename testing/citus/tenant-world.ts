/** A random world → a world of several tenants: every table has the column `tenant` first in its key, every relationship has it, and every rule
 *  of a role holds for the rows of the tenant in its session only. The tenants have different rows with the same other keys, so that a
 *  condition that is missing shows. In: a world, choices. Out: the same world, changed. */
import type { Choices } from '../../engine/oracle/testing/choices.ts';
import { makeHeir } from '../../engine/oracle/testing/roles.ts';
import { COMPARISONS, type ColumnType, INT } from '../../engine/oracle/testing/types.ts';
import { ENUM_TABLE, INHERITED, type World } from '../../engine/oracle/testing/world.ts';
import type { Column, Condition, Permissions, Table } from '../../engine/oracle/testing/world-types.ts';

/** The tenants. Requests name others, too. */
export const TENANTS = [1, 2, 3, 4, 5] as const;

const tenantValue = (tenant: number) => ({ json: tenant, text: String(tenant) });

/** The type of the column. It has a name of its own, and so a session variable of its own. */
export const TENANT: ColumnType = { ...INT, sql: 'integer', values: TENANTS.map(tenantValue) };

/** The share of the rows that each tenant has, in percent, and of their cells that differ from those of others. */
const KEPT = 80;
const CHANGED = 50;

export function tenanted(world: World, choices: Choices): World {
  for (const table of world.tables) addTenant(table, choices);
  for (const { relationships } of world.tables) {
    for (const each of relationships) {
      const pair = [columnOf(each.from), columnOf(each.to)];
      Object.assign(each, { mapping: [pair, ...each.mapping] });
    }
  }
  const done = new Set<object>();
  for (const { permissions } of world.roles) {
    for (const [table, given] of permissions) restrict(table, given, done);
  }
  return Object.assign(world, { heir: makeHeir(INHERITED, world.roles, world.tables) });
}

/** Returns the world with the rows of one tenant. */
export function rowsOfTenant(world: World, tenant: number): World {
  const tables = world.tables.map((table) => ({
    ...table,
    rows: table.rows.filter(([first]) => first?.json === tenant),
  }));
  return { ...world, tables };
}

/** Returns statements that distribute most tables by the tenant, not all of them colocated; some are reference tables and some local. */
export function distributionByTenant({ tables }: World, choices: Choices): readonly string[] {
  const byTenant = (name: string) => `select create_distributed_table('public.${name}', 'tenant')`;
  const ways: readonly ((name: string) => readonly string[])[] = [
    (name) => [byTenant(name)],
    (name) => [byTenant(name)],
    (name) => [byTenant(name)],
    (name) => [byTenant(name)],
    (name) => [byTenant(name).replace(')', ", colocate_with => 'none')")],
    (name) => [`select create_reference_table('public.${name}')`],
    // Citus writes to a local table by a condition over reference tables only if it knows the table.
    (name) => [`select citus_add_local_table_to_metadata('public.${name}')`],
  ];
  return [
    `select create_reference_table('public.${ENUM_TABLE.name}')`,
    ...tables.filter(({ of }) => of === null).flatMap(({ name }) => choices.of(ways)(name)),
  ];
}

function addTenant(table: Table, choices: Choices): void {
  const column: Column = {
    name: 'tenant',
    called: null,
    type: TENANT,
    isNullable: false,
    standard: null,
    computed: null,
  };
  const others = [...table.rows];
  const rows = TENANTS.flatMap((tenant) =>
    choices.some(others, KEPT).map((row) => [
      tenantValue(tenant),
      ...row.map((cell, i) => {
        const { type } = table.columns[i]!;
        const isChanged = !table.key.includes(table.columns[i]!) && choices.chance(CHANGED);
        return isChanged ? choices.of(type.values) : cell;
      }),
    ]),
  );
  table.rows.splice(0, table.rows.length, ...rows);
  table.columns.unshift(column);
  Object.assign(table, { key: [column, ...table.key] });
}

function columnOf({ key }: Table): Column {
  return key[0]!;
}

/** Restricts permissions to the rows of the tenant. Roles may share some of them, which are changed once. */
function restrict(table: Table, { select, insert, update, delete: remove }: Permissions, done: Set<object>) {
  const column = columnOf(table);
  const change = (given: object | null, changed: (on: never) => object) => {
    if (!given || done.has(given)) return;
    done.add(given);
    Object.assign(given, changed(given as never));
  };
  const within = (condition: Condition) => ofTenant(table, ownRows(condition));
  change(select, ({ columns, filter }: NonNullable<Permissions['select']>) => ({
    columns: [column, ...columns],
    filter: within(filter),
  }));
  change(insert, ({ check, presets }: NonNullable<Permissions['insert']>) => ({
    check: within(check),
    presets: [{ column, value: column.type.values[0]!, isSession: true }, ...presets],
  }));
  change(update, ({ filter, check }: NonNullable<Permissions['update']>) => ({
    filter: within(filter),
    check: check && within(check),
  }));
  change(remove, ({ filter }: NonNullable<Permissions['delete']>) => ({ filter: within(filter) }));
}

function ofTenant(table: Table, condition: Condition): Condition {
  return { kind: 'and', all: [isTenant(table), condition] };
}

function isTenant(table: Table): Condition {
  return {
    kind: 'compare',
    column: columnOf(table),
    argument: null,
    comparison: COMPARISONS.find(({ name }) => name === 'eq')!,
    operand: { kind: 'session', type: TENANT, isList: false },
    isCast: false,
    spelling: 0,
  };
}

/** Returns the condition about rows of the tenant wherever it reads a table. Relationships have the column. */
function ownRows(condition: Condition): Condition {
  switch (condition.kind) {
    case 'and':
      return { kind: 'and', all: condition.all.map(ownRows) };
    case 'or':
      return { kind: 'or', any: condition.any.map(ownRows) };
    case 'not':
      return { kind: 'not', not: ownRows(condition.not) };
    case 'related':
      return { ...condition, where: ownRows(condition.where) };
    case 'exists':
      return { ...condition, where: ofTenant(condition.table, ownRows(condition.where)) };
    default:
      return condition;
  }
}
