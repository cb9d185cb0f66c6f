/** A random world with what may raise errors: computed fields that fail on one value, `POISON`, which only rows and cells that
 *  a role does not see are given, and patterns that Postgres cannot read.
 *  In: choices. Out: a world, and the SQL of its functions. */

import pg from 'pg';
import type { Choices } from './choices.ts';
import { EVERYTHING } from './condition.ts';
import { Sight } from './request.ts';
import { type Comparison, INT, TEXT, type Value } from './types.ts';
import { makeWorld, type World } from './world.ts';
import type { Column, Permissions, Role, Table } from './world-types.ts';

/** A value for each SQL type that no world contains by itself. */
const POISON: Readonly<Record<string, Value>> = {
  [INT.sql]: { json: 666, text: '666' },
  [TEXT.sql]: { json: 'poison', text: 'poison' },
};

export function poisonOf({ type }: Column): Value | undefined {
  return type.isEnum ? undefined : POISON[type.sql];
}

const patterns = (...texts: readonly string[]) => ({
  type: { ...TEXT, values: texts.map((text) => ({ json: text, text })) },
  isList: false,
});
const isText = (type: unknown) => type === TEXT;
const UNREADABLE = { sql: () => 'null', suits: isText } as const;

/** Patterns that raise an error on some rows, or on any. */
const RAISING: readonly Comparison[] = [
  { name: 'like', operand: patterns('\\', 'p\\', 'poison\\', '%\\'), ...UNREADABLE },
  { name: 'ilike', operand: patterns('P\\', '%o\\'), ...UNREADABLE },
  { name: 'regex', operand: patterns('(', '[', 'a{2,1}'), ...UNREADABLE },
  { name: 'similar', operand: patterns('(', '%['), ...UNREADABLE },
];

/** Returns what the role may name in conditions, with fields that raise errors more often than others. */
export function temptedSight(world: World, role: Role): Sight {
  const cells = (cell: Column) => (cell.name === RAISING_FIELD ? [cell, cell, cell, cell] : []);
  return new Sight(world, role, { cells, comparisons: [...RAISING, ...RAISING] });
}

const RAISING_FIELD = 'raising';

/** Each table has a column that a role may not read by itself, and a computed field of it that raises; views have a column that
 *  does. Roles may read these as they may other cells; their filters use none of them. */
export function makeRaisingWorld(choices: Choices): World {
  const world = makeWorld(choices);
  const tempting = new Map<Table, Column>();
  for (const table of world.tables) {
    if (table.of) continue;
    const type = choices.of([INT, TEXT]);
    const of: Column = { ...PLAIN, name: 'tempting', called: null, type };
    tempting.set(table, of);
    table.columns.push(of);
    table.rows.splice(0, table.rows.length, ...table.rows.map((row) => [...row, choices.of(type.values)]));
    const field = { ...RAISING_CELL, type, computed: { from: table, of, hasArgument: false } };
    table.computed.push(field);
    allow(choices, world, table, { computed: [field] });
    for (const role of world.roles) writeWhatIsRead(role, table);
  }
  for (const table of world.tables) {
    // Postgres may evaluate a view's columns on rows that its own WHERE leaves out: that is its author's to prevent.
    if (!table.of || table.viewed !== EVERYTHING) continue;
    const { type } = tempting.get(table.of)!;
    const column = { ...RAISING_CELL, type, expression: `public.raising_${type.sql}(x.tempting)` };
    table.columns.push(column);
    allow(choices, world, table, { columns: [column] });
  }
  return world;
}

type Cells = { readonly columns?: readonly Column[]; readonly computed?: readonly Column[] };

/** Roles that read the table, and whoever inherits from them, may read these cells, too. */
function allow(choices: Choices, { roles, heir }: World, table: Table, cells: Cells): void {
  const readers = roles.filter((role) => role.permissions.get(table)?.select && choices.chance(85));
  const all = readers.some((role) => heir.parents.includes(role)) ? [...readers, heir] : readers;
  for (const { permissions } of all) {
    const own = permissions.get(table)!;
    const { columns, computed, ...rest } = own.select!;
    const select = {
      ...rest,
      columns: [...columns, ...(cells.columns ?? [])],
      computed: [...computed, ...(cells.computed ?? [])],
    };
    (permissions as Map<Table, Permissions>).set(table, { ...own, select });
  }
}

/** A role that may write rows it does not read learns of them by how many it has written. */
function writeWhatIsRead({ permissions }: Role, table: Table): void {
  const own = permissions.get(table)!;
  if (!own.select) return;
  const { filter } = own.select;
  const update = own.update && { ...own.update, filter, check: null, presets: [] };
  const remove = own.delete && { filter };
  (permissions as Map<Table, Permissions>).set(table, { ...own, update, delete: remove });
}

const PLAIN = { isNullable: true, standard: null, computed: null } as const;
const RAISING_CELL = { ...PLAIN, name: RAISING_FIELD, called: RAISING_FIELD } as const;

/** What is not there before the tables: functions of the value that raises. Postgres believes them cheaper than any operator,
 *  and calls them first when it may. */
export function raisingFunctions(): readonly string[] {
  return Object.entries(POISON).map(([type, { text }]) => {
    const raise = `(value::text || ' is secret')::int::${type}`;
    const body = `begin return case when value = ${pg.escapeLiteral(text)} then ${raise} else value end; end`;
    return `create function public.raising_${type}(value ${type}) returns ${type}
      language plpgsql immutable cost 0.0001 as ${pg.escapeLiteral(body)}`;
  });
}

/** The functions of the raising fields. */
export function raisingSql({ tables }: World): readonly string[] {
  return tables.flatMap(({ name, computed }) => {
    return computed.flatMap(({ name: field, type, computed: by }) => {
      if (field !== RAISING_FIELD) return [];
      const body = `begin return public.raising_${type.sql}(x.${by!.of.name}); end`;
      return [
        `create or replace function public.${name}_${field}(x public.${name}) returns ${type.sql}
          language plpgsql immutable cost 0.0001 as ${pg.escapeLiteral(body)}`,
      ];
    });
  });
}
