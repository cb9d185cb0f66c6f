/** World → the SQL that makes it in Postgres: tables and rows, and, beside them, the same permissions as row-level-security
 *  policies and column grants for database roles.
 *  What has no equivalent is said here. A permission's condition reaches every row of other tables, a policy only what its
 *  user may see: so each condition is a function with the owner's rights. Writing rows needs no right to read them: so every
 *  role is two, one that reads and one that writes and may read any row, but of the columns that it may name only. A join needs
 *  no right to its columns: so rows have a number, `#`, which GraphQL cannot spell, and relationships are views of pairs
 *  of numbers. Views have no policies: each role has its own, filtered; writers use those wherever they look around.
 *  PostgreSQL manual, "Row Security Policies". */

import pg from 'pg';
import { EVERYTHING } from './condition.ts';
import { type Ground, literal, toSql } from './condition-sql.ts';
import { functionsSql, roleFunctionsSql, testName, visibleIf } from './functions-sql.ts';
import { ENUM_TABLE, type World } from './world.ts';
import type { Condition, Permissions, Relationship, Role, Table } from './world-types.ts';

/** Database roles, which belong to the whole server: their names begin with the run's own. */
export type Names = {
  readonly reader: (role: string) => string;
  readonly writer: (role: string) => string;
};

export function databaseRoles(run: string): Names {
  return { reader: (role) => `oracle_${run}_${role}`, writer: (role) => `oracle_${run}_${role}_w` };
}

export function linkName({ from, name }: Relationship): string {
  return `oracle."${from.name} ${name}"`;
}

/** Tables as a role sees them in a request. The administrator sees all of all. */
export function readGround(role: Role | null): Ground {
  return {
    rowsOf: (table) => {
      const isFiltered = role && (table.of || role.parents.length > 0);
      return isFiltered ? seen(table, role) : `public.${table.name}`;
    },
    link: linked,
    call: role ? seenCall(role) : OWNER.call,
  };
}

/** As it sees them from inside what it writes. */
export function writeGround(role: Role): Ground {
  return { rowsOf: (table) => seen(table, role), link: linked, call: seenCall(role) };
}

/** As the owner, who is not restricted: the ground of permissions themselves. */
export const OWNER: Ground = {
  rowsOf: (table) => `public.${table.name}`,
  link: ({ mapping }, here, there) =>
    mapping.map(([local, remote]) => `${here}.${local.name} = ${there}.${remote.name}`).join(' and '),
  call: ({ name, computed, type }, row, argument) => {
    const given = argument ? `, ${literal(argument, type)}` : '';
    return `public."${computed!.from.name}_${name}"(${row}${given})`;
  },
};

/** By the number of the row: that of a view is no row of the table. */
function seenCall(role: Role): Ground['call'] {
  return ({ name, computed, type }, row, argument) => {
    const given = argument ? `, ${literal(argument, type)}` : '';
    return `"as ${role.name}"."${computed!.from.name}_${name}"(${row}."#"${given})`;
  };
}

function linked(relationship: Relationship, here: string, there: string): string {
  const link = linkName(relationship);
  return `exists (select from ${link} l where l.here = ${here}."#" and l.there = ${there}."#")`;
}

/** All rows as an heir asks of them: cells that only some parents may read are null where those may not. */
export function cellsView(table: Table, role: Role): string {
  return `"as ${role.name}"."${table.name} cells"`;
}

function seen(table: Table, role: Role): string {
  return `"as ${role.name}".${table.name}`;
}

/** Returns the SQL of the world without roles: tables, rows, views and functions. `first`: statements these need. */
export function tablesSql(world: World, first: readonly string[] = []): readonly string[] {
  const { tables } = world;
  const real = tables.filter(({ of }) => of === null);
  return [
    'drop schema if exists public cascade; create schema public; grant usage on schema public to public',
    'drop schema if exists oracle cascade; create schema oracle; grant usage on schema oracle to public',
    ...first,
    enumSql(world),
    ...real.map(tableSql),
    ...real.flatMap(indexSql),
    rowsSql(world),
    ...real.flatMap(foreignKeysSql),
    ...tables.filter(({ of }) => of !== null).map(viewSql),
    ...functionsSql(world),
  ];
}

/** All of it, in one text. */
export function schemaSql(world: World, names: Names): string {
  const { tables, roles } = world;
  const real = tables.filter(({ of }) => of === null);
  return [
    ...tablesSql(world),
    ...tables.flatMap(({ relationships }) => relationships.map(linkSql)),
    'grant select on all tables in schema oracle to public',
    ...real.map(({ name }) => `alter table public.${name} enable row level security`),
    ...roles.flatMap((role) => roleSql(role, tables, names)),
    ...heirSql(world.heir, tables, names),
    ...[...roles, world.heir].flatMap((role) => roleFunctionsSql(role, tables)),
    'analyze',
  ].join(';\n');
}

/** The rows as they were at first; numbers and keys begin where they began. */
export function rowsSql({ tables }: World): string {
  const real = tables.filter(({ of }) => of === null);
  return [
    `truncate ${real.map(({ name }) => `public.${name}`).join(', ')} restart identity`,
    'set session_replication_role = replica',
    ...real.flatMap((table) => {
      const rows = table.rows.map((row) => {
        const values = row.map((value, i) => (value ? literal(value, table.columns[i]!.type) : 'null'));
        return `(${values.join(', ')})`;
      });
      const columns = table.columns.map(({ name }) => name).join(', ');
      return rows.length > 0
        ? [`insert into public.${table.name} (${columns}) values ${rows.join(', ')}`]
        : [];
    }),
    'reset session_replication_role',
  ].join(';\n');
}

function enumSql({ enum: { values } }: World): string {
  const rows = values.map(({ text }) => `(${pg.escapeLiteral(text)})`);
  return `create table public.${ENUM_TABLE.name} (value text primary key);
    insert into public.${ENUM_TABLE.name} values ${rows.join(', ')}`;
}

function tableSql({ name, columns, key, unique, foreignKeys }: Table): string {
  const lines = columns.map(({ name: column, type, isNullable, standard }) => {
    const rest = `${isNullable ? '' : ' not null'}${standard ? ` default ${literal(standard, type)}` : ''}`;
    return `${column} ${type.sql}${rest}${type.isEnum ? ` references public.${ENUM_TABLE.name}` : ''}`;
  });
  const keys = [
    `constraint ${name}_pkey primary key (${key.map((column) => column.name).join(', ')})`,
    ...(unique ? [`constraint ${name}_u unique (${unique.name})`] : []),
    ...foreignKeys.flatMap(({ columns: ours, isUnique }, i) =>
      isUnique ? [`constraint ${name}_r${i} unique (${ours.map((each) => each.name).join(', ')})`] : [],
    ),
  ];
  const number = '"#" int not null generated by default as identity';
  return `create table public.${name} (${[...lines, number, ...keys].join(', ')})`;
}

function indexSql({ name, partial }: Table): string[] {
  if (!partial) return [];
  const { column, when } = partial;
  return [
    `create unique index ${name}_p on public.${name} (${column.name}) where ${toSql(when, OWNER, name)}`,
  ];
}

function foreignKeysSql({ name, foreignKeys }: Table): string[] {
  return foreignKeys.map(({ columns, to }) => {
    const ours = columns.map((column) => column.name).join(', ');
    const theirs = to.key.map((column) => column.name).join(', ');
    return `alter table public.${name} add foreign key (${ours}) references public.${to.name} (${theirs})`;
  });
}

function viewSql({ name, columns, of, viewed }: Table): string {
  const list = columns
    .map((column) => (column.expression ? `${column.expression} as ${column.name}` : `x.${column.name}`))
    .join(', ');
  const where = toSql(viewed, OWNER, 'x');
  return `create view public.${name} as select ${list}, x."#" from public.${of!.name} x where ${where}`;
}

function linkSql(relationship: Relationship): string {
  const { from, to } = relationship;
  const on = OWNER.link(relationship, 'x', 'y');
  return `create view ${linkName(relationship)} as select x."#" as here, y."#" as there
    from public.${from.name} x join public.${to.name} y on ${on}`;
}

function roleSql(role: Role, tables: readonly Table[], names: Names): string[] {
  const reader = names.reader(role.name);
  const writer = names.writer(role.name);
  return [
    ...schemaOf(role, [reader, writer]),
    ...tables.flatMap((table) => {
      const permissions = role.permissions.get(table)!;
      const seenSql = permissions.select ? seenViewSql(role, table, permissions, [reader, writer]) : [];
      if (table.of) return seenSql;
      return [
        ...seenSql,
        ...readerSql(role, table, permissions, reader),
        ...writerSql(role, table, tables, writer),
      ];
    }),
  ];
}

/** Policies hide rows, not cells: an inherited role reads through views, whose cells are null where no parent may read them.
 *  What it writes by is one parent's rule. */
function heirSql(heir: Role, tables: readonly Table[], names: Names): string[] {
  const users = [names.reader(heir.name), names.writer(heir.name)];
  const statements = tables.flatMap((table) => {
    const { select } = heir.permissions.get(table)!;
    const parents = heir.parents.filter((role) => role.permissions.get(table)!.select);
    if (!select) return [];
    const cells = select.columns.map((column) => {
      const test = visibleIf(heir, table, ({ columns }) => columns.includes(column));
      return test === null
        ? `x.${column.name}`
        : `case when ${test} then x.${column.name} end as ${column.name}`;
    });
    const from = `select ${[...cells, 'x."#"'].join(', ')} from public.${table.name} x`;
    const visible = parents.map((role) => `${testName(role, table)}(x)`).join(' or ');
    return [
      `create view ${cellsView(table, heir)} with (security_barrier) as ${from}`,
      `create view ${seen(table, heir)} with (security_barrier) as ${from} where ${visible}`,
      `grant select on ${cellsView(table, heir)}, ${seen(table, heir)} to ${users.join(', ')}`,
    ];
  });
  const writes = tables.flatMap((table) => {
    return table.of ? [] : writerSql(heir, table, tables, names.writer(heir.name));
  });
  return [...schemaOf(heir, users), ...statements, ...writes];
}

function schemaOf({ name }: Role, users: readonly string[]): string[] {
  const schema = `"as ${name}"`;
  return [
    `drop schema if exists ${schema} cascade; create schema ${schema}`,
    `grant usage on schema ${schema} to ${users.join(', ')}`,
  ];
}

/** A function of the row with the owner's rights. */
function conditionSql(name: string, table: Table, condition: Condition): string {
  // As the body of a function may say `x.c` of an argument x, it is said of a row of that name.
  const body = `select ${toSql(condition, OWNER, 'x')}`;
  return `create function ${name}(x public.${table.name}) returns boolean language sql stable security definer
    as ${pg.escapeLiteral(body)}`;
}

const columnList = (columns: Iterable<string>) => [...new Set(columns)].map((name) => `"${name}"`).join(', ');

function seenViewSql(role: Role, table: Table, { select }: Permissions, users: readonly string[]): string[] {
  const { columns, filter } = select!;
  const list = columnList([...columns.map(({ name }) => name), '#']);
  const test = testName(role, table);
  return [
    conditionSql(test, table, filter),
    `create view ${seen(table, role)} with (security_barrier) as
      select ${list} from public.${table.name} x where ${test}(x)`,
    `grant select on ${seen(table, role)} to ${users.join(', ')}`,
  ];
}

function readerSql(role: Role, table: Table, { select }: Permissions, reader: string): string[] {
  if (!select) return [];
  const on = `public.${table.name}`;
  const columns = columnList([...select.columns.map(({ name }) => name), '#']);
  const test = `${testName(role, table)}(${table.name})`;
  return [
    `grant select (${columns}) on ${on} to ${reader}`,
    `create policy "${reader} select" on ${on} for select to ${reader} using (${test})`,
  ];
}

function writerSql(role: Role, table: Table, tables: readonly Table[], writer: string): string[] {
  const permissions = role.permissions.get(table)!;
  const on = `public.${table.name}`;
  const statements: string[] = [];
  const test = (kind: string, condition: Condition): string => {
    const name = `oracle."${role.name} ${kind} ${table.name}"`;
    statements.push(conditionSql(name, table, condition));
    return `(${name}(${table.name}))`;
  };
  const policy = (command: string, tests: string) =>
    statements.push(`create policy "${writer} ${command}" on ${on} for ${command} to ${writer} ${tests}`);
  const grant = (right: string) => statements.push(`grant ${right} on ${on} to ${writer}`);
  const { select, insert, update } = permissions;
  const nameable = [...(select?.columns ?? []), ...(update?.columns ?? [])].map(({ name }) => name);
  grant(`select (${columnList([...nameable, '#'])})`);
  policy('select', 'using (true)');
  if (insert) {
    // A relationship may give a column its value, whatever the role may give itself.
    const related = table.foreignKeys.flatMap(({ columns }) => columns);
    const remote = tables.flatMap(({ relationships }) => {
      const here = relationships.filter(({ to }) => to === table);
      return here.flatMap(({ mapping }) => mapping.map(([, column]) => column));
    });
    const presets = insert.presets.map(({ column }) => column);
    const columns = [...insert.columns, ...presets, ...related, ...remote];
    if (columns.length > 0) grant(`insert (${columnList(columns.map(({ name }) => name))})`);
    policy('insert', `with check ${test('insert', insert.check)}`);
  }
  if (update) {
    const columns = [...update.columns, ...update.presets.map(({ column }) => column)];
    if (columns.length > 0) grant(`update (${columnList(columns.map(({ name }) => name))})`);
    const filter = test('update', update.filter);
    policy('update', `using ${filter} with check ${test('check', update.check ?? EVERYTHING)}`);
  }
  if (permissions.delete) {
    grant('delete');
    policy('delete', `using ${test('delete', permissions.delete.filter)}`);
  }
  return statements;
}
