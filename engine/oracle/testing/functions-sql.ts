/** Functions of a world: computed fields, tracked functions, and, beside them, what the roles of the oracle call in their
 *  place: functions of the number of a row, with the owner's rights, that tell a cell as far as the role may see it.
 *  In: World. Out: SQL. PostgreSQL manual, "CREATE FUNCTION". */

import pg from 'pg';
import { literal } from './condition-sql.ts';
import type { World } from './world.ts';
import { ARGUMENT, SESSION_ARGUMENT } from './world.ts';
import type { Column, Permissions, Relationship, Role, Table, TrackedFunction } from './world-types.ts';

export const testName = (role: Role, table: Table): string => `oracle."${role.name} select ${table.name}"`;

/** Where an heir is shown a cell: where one of the parents who may read it reads the row. Null: in every row it comes to, as
 *  all who read rows may read it. */
export function visibleIf(
  { parents }: Role,
  table: Table,
  grants: (select: NonNullable<Permissions['select']>) => boolean,
): string | null {
  const all = parents.filter((role) => role.permissions.get(table)!.select);
  const may = all.filter((role) => grants(role.permissions.get(table)!.select!));
  return may.length === all.length ? null : may.map((role) => `${testName(role, table)}(x)`).join(' or ');
}

/** The session variable that tracked functions look at. */
export const SESSION_VARIABLE = 'text';

export function functionsSql({ tables, functions }: World): string[] {
  return [
    ...tables.flatMap(({ computed }) => computed.map(computedSql)),
    ...tables.flatMap(({ relationships }) =>
      relationships.filter(({ using }) => using === 'function').map(rowsFunctionSql),
    ),
    ...functions.flatMap(trackedSql),
  ];
}

function computedSql({ name, type, standard, computed }: Column): string {
  const { from, of, hasArgument } = computed!;
  const other = standard ? literal(standard, type) : `null::${type.sql}`;
  const argument = hasArgument ? `, ${ARGUMENT} ${type.sql} default ${other}` : '';
  const body = `select coalesce(x.${of.name}, ${hasArgument ? ARGUMENT : other})`;
  return `create function public.${from.name}_${name}(x public.${from.name}${argument}) returns ${type.sql}
    language sql stable as ${pg.escapeLiteral(body)}`;
}

function rowsFunctionSql({ from, to, name, mapping }: Relationship): string {
  const on = mapping.map(([local, remote]) => `y.${remote.name} = x.${local.name}`).join(' and ');
  const body = `select y.* from public.${to.name} y where ${on}`;
  return `create function public.${from.name}_${name}(x public.${from.name}) returns setof public.${to.name}
    language sql stable as ${pg.escapeLiteral(body)}`;
}

/** The one the engine calls, and one that tells the numbers of its rows. */
function trackedSql(tracked: TrackedFunction): string[] {
  const { name, returns, by, standard, hasSession } = tracked;
  const session = hasSession ? `${SESSION_ARGUMENT} json, ` : '';
  const given = `${session}${ARGUMENT} ${by.type.sql} default ${literal(standard, by.type)}`;
  const own = hasSession
    ? ` or x.${by.name}::text = ${SESSION_ARGUMENT}->>'x-engine-${SESSION_VARIABLE}'`
    : '';
  const body = (list: string) =>
    pg.escapeLiteral(`select ${list} from public.${returns.name} x where x.${by.name} = ${ARGUMENT}${own}`);
  return [
    `create function public.${name}(${given}) returns setof public.${returns.name} language sql stable
      as ${body('x.*')}`,
    `create function oracle.${name}(${given}) returns setof int language sql stable security definer
      as ${body('x."#"')}`,
  ];
}

/** What a role calls instead of the functions of computed fields. */
export function roleFunctionsSql(role: Role, tables: readonly Table[]): string[] {
  return tables.flatMap((table) => {
    const fields = role.permissions.get(table)!.select?.computed ?? [];
    return fields.map((field) => {
      const { name, type, standard, computed } = field;
      const other = standard ? literal(standard, type) : 'null';
      const argument = computed!.hasArgument ? `, ${ARGUMENT} ${type.sql} default ${other}` : '';
      const value = `public.${table.name}_${name}(x${computed!.hasArgument ? `, ${ARGUMENT}` : ''})`;
      const body = `select ${shownTo(role, table, field, value)} from public.${table.name} x where x."#" = n`;
      return `create function "as ${role.name}".${table.name}_${name}(n int${argument}) returns ${type.sql}
        language sql stable security definer as ${pg.escapeLiteral(body)}`;
    });
  });
}

function shownTo(role: Role, table: Table, field: Column, value: string): string {
  if (role.parents.length === 0) return value;
  const test = visibleIf(role, table, ({ computed }) => computed.includes(field));
  return test === null ? value : `case when ${test} then ${value} end`;
}
