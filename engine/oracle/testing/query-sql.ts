/** Query → plain SQL, as simple as it can be: a row is json_build_object, a relationship a subquery, and who may see what
 *  is Postgres' own business. Shares nothing with engine/sql. PostgreSQL manual, "JSON Functions and Operators". */

import pg from 'pg';
import { settingOf } from './condition.ts';
import { cellSql, type Ground, literal, nextAlias, toSql } from './condition-sql.ts';
import { SESSION_VARIABLE } from './functions-sql.ts';
import type {
  AggregatePart,
  Call,
  Direction,
  Field,
  Groups,
  Order,
  Query,
  Root,
  Rows,
  Sight,
  ValuePart,
} from './request.ts';
import { TEXT } from './types.ts';
import type { Column, Table } from './world-types.ts';

export type Asking = {
  readonly ground: Ground;
  /** Limits are no business of Postgres: a policy has none. */
  readonly sight: Sight;
};

/** A statement with one column and one row: the `data` of the answer. */
export function querySql({ roots }: Query, asking: Asking): string {
  return `select ${objectSql(roots.map((root) => [root.alias, rootSql(root, asking)]))}::text as data`;
}

function rootSql(root: Root, asking: Asking): string {
  const { table } = root;
  switch (root.kind) {
    case 'rows':
      return rowsSql(table, root.rows, root.fields, calledBy(root.call), asking);
    case 'by key': {
      const row = nextAlias();
      const where = table.key.map(({ name, type }, i) => `${row}.${name} = ${literal(root.key[i]!, type)}`);
      const json = fieldsSql(root.fields, row, asking);
      return `(select ${json} from ${asking.ground.rowsOf(table)} ${row} where ${where.join(' and ')})`;
    }
    case 'aggregate':
      return aggregateSql(table, root.rows, root.parts, calledBy(root.call), asking);
    case 'groups':
      return groupsSql(table, root.groups, asking);
    default:
      return root satisfies never;
  }
}

/** Of a tracked function, or all. */
function calledBy(call: Call | null): Tie {
  if (!call) return () => 'true';
  const { to, argument } = call;
  const text = `current_setting(${pg.escapeLiteral(settingOf(TEXT, false))})`;
  const given = [
    ...(to.hasSession ? [`json_build_object('x-engine-${SESSION_VARIABLE}', ${text})`] : []),
    ...(argument ? [literal(argument, to.by.type)] : []),
  ];
  return (row) => `${row}."#" in (select oracle.${to.name}(${given.join(', ')}))`;
}

function objectSql(members: readonly (readonly [string, string])[]): string {
  return `json_build_object(${members.map(([key, value]) => `${pg.escapeLiteral(key)}, ${value}`).join(', ')})`;
}

export function fieldsSql(fields: readonly Field[], row: string, asking: Asking): string {
  return objectSql(fields.map((field) => [field.alias, fieldSql(field, row, asking)]));
}

function fieldSql(field: Field, row: string, asking: Asking): string {
  const { ground } = asking;
  switch (field.kind) {
    case 'column': {
      const path = field.path ? ` #> ${pg.escapeLiteral(`{${field.path.steps.join(',')}}`)}` : '';
      return `${answered(cellSql(field.column, ground, row, field.argument), field.column, asking)}${path}`;
    }
    case 'typename':
      return pg.escapeLiteral(field.of);
    case 'object': {
      const other = nextAlias();
      const { to } = field.relationship;
      const tie = ground.link(field.relationship, row, other);
      return `(select ${fieldsSql(field.fields, other, asking)} from ${ground.rowsOf(to)} ${other} where ${tie})`;
    }
    case 'array': {
      const { relationship, rows, fields } = field;
      return rowsSql(relationship.to, rows, fields, (other) => ground.link(relationship, row, other), asking);
    }
    case 'aggregate': {
      const { relationship, rows, parts } = field;
      const tie = (other: string) => ground.link(relationship, row, other);
      return aggregateSql(relationship.to, rows, parts, tie, asking);
    }
    default:
      return field satisfies never;
  }
}

/** Values of an enum are spelled as GraphQL spells them. */
function answered(value: string, { type }: Column, { sight }: Asking): string {
  return type.isEnum && sight.world.names.convention !== 'default' ? `upper(${value})` : value;
}

type Tie = (row: string) => string;

function rowsSql(table: Table, rows: Rows, fields: readonly Field[], tie: Tie, asking: Asking): string {
  const row = nextAlias();
  const chosen = chosenSql(table, rows, row, tie, smaller(rows.limit, asking.sight.limit(table)), asking);
  const list = nextAlias();
  const json = fieldsSql(fields, row, asking);
  return `(select coalesce(json_agg(${list}.row), '[]') from (select ${json} as row ${chosen}) ${list})`;
}

function smaller(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.min(a, b);
}

/** `from … where … order by … limit …`, the table under the alias `row`. */
function chosenSql(
  table: Table,
  { where, order, distinct, offset }: Rows,
  row: string,
  tie: Tie,
  limit: number | null,
  { ground }: Asking,
): string {
  const from = `${ground.rowsOf(table)} ${row}`;
  const holds = `${tie(row)} and (${where ? toSql(where, ground, row) : 'true'})`;
  const orderBy =
    order.length > 0 ? ` order by ${order.map((each) => orderSql(each, row, ground)).join(', ')}` : '';
  const cut = `${limit === null ? '' : ` limit ${limit}`}${offset === null ? '' : ` offset ${offset}`}`;
  if (distinct.length === 0) return `from ${from} where ${holds}${orderBy}${cut}`;
  // The first of each, and then their order again, which is that of the numbers they came with.
  const keys = distinct.map(({ name }) => `${row}.${name}`).join(', ');
  const number = `row_number() over (${orderBy})`;
  const firsts = `select distinct on (${keys}) ${row}."#" as number, ${number} as place from ${from} where ${holds}${orderBy}`;
  const first = nextAlias();
  const same = `${first}.number = ${row}."#"`;
  return `from (${firsts}) ${first} join ${from} on ${same} order by ${first}.place${cut}`;
}

function orderSql({ path, by, direction }: Order, row: string, ground: Ground): string {
  const value = path.reduceRight<(from: string) => string>(
    (inner, step) => (from) => {
      const other = nextAlias();
      const tie = ground.link(step, from, other);
      return `(select ${inner(other)} from ${ground.rowsOf(step.to)} ${other} where ${tie})`;
    },
    (from) => {
      if (by.kind === 'column') return cellSql(by.column, ground, from);
      const other = nextAlias();
      const tie = ground.link(by.relationship, from, other);
      const of = by.kind === 'count' ? 'count(*)' : `${by.fn}(${other}.${by.column.name})`;
      return `(select ${of} from ${ground.rowsOf(by.relationship.to)} ${other} where ${tie})`;
    },
  )(row);
  return directed(value, direction);
}

function directed(value: string, direction: Direction): string {
  const [way, , nulls] = direction.split('_') as [string, string?, string?];
  return `${value} ${way} nulls ${nulls ?? (way === 'asc' ? 'last' : 'first')}`;
}

/** The role's limit is the most groups it gets. ADR 7. */
function groupsSql(table: Table, groups: Groups, asking: Asking): string {
  const { keys, where, having, order, directions, limit, offset, parts } = groups;
  const row = nextAlias();
  const { ground, sight } = asking;
  const members = [
    [
      'keys',
      objectSql(
        keys.map((key) => [sight.world.names.column(key), answered(`${row}.${key.name}`, key, asking)]),
      ),
    ],
    ...parts.map((part) => [part.alias, valueSql(part, row, asking)] as const),
  ] as const;
  const orders = [
    ...order.map(({ fn, column, direction }) =>
      directed(`${fn}(${column ? `${row}.${column.name}` : '*'})`, direction),
    ),
    ...keys.map(({ name }, i) => directed(`${row}.${name}`, directions[i]!)),
  ];
  const most = smaller(limit, sight.limit(table));
  const cut = `${most === null ? '' : ` limit ${most}`}${offset === null ? '' : ` offset ${offset}`}`;
  const list = nextAlias();
  return `(select coalesce(json_agg(${list}.row), '[]') from (select ${objectSql(members)} as row
    from ${ground.rowsOf(table)} ${row} where ${where ? toSql(where, ground, row) : 'true'}
    group by ${keys.map(({ name }) => `${row}.${name}`).join(', ')}
    having ${having ? toSql(having, ground, row) : 'true'} order by ${orders.join(', ')}${cut}) ${list})`;
}

function valueSql(part: ValuePart, row: string, { sight }: Asking): string {
  const { names } = sight.world;
  if (part.kind === 'count') return objectSql([['count', countSql(part, row)]]);
  const values = part.columns.map(
    (column) => [names.column(column), `${part.fn}(${row}.${column.name})`] as const,
  );
  return objectSql([[names.word(part.fn), objectSql(values)]]);
}

/** The role's limit is for nodes; a number of some of the rows would be no number of anything. */
function aggregateSql(
  table: Table,
  rows: Rows,
  parts: readonly AggregatePart[],
  tie: Tie,
  asking: Asking,
): string {
  return objectSql(
    parts.map((part) => {
      if (part.kind === 'nodes') return [part.alias, rowsSql(table, rows, part.fields, tie, asking)];
      const row = nextAlias();
      const columns = asking.sight.columns(table).map(({ name }) => `${row}.${name}`);
      const list = [...columns, `${row}."#"`].join(', ');
      const chosen = `(select ${list} ${chosenSql(table, rows, row, tie, rows.limit, asking)}) ${row}`;
      return [part.alias, `(select ${valueSql(part, row, asking)} from ${chosen})`];
    }),
  );
}

function countSql({ columns, isDistinct }: Extract<AggregatePart, { kind: 'count' }>, row: string): string {
  if (columns.length === 0) return 'count(*)';
  const counted = columns.map(({ name }) => `${row}.${name}`).join(', ');
  return `count(${isDistinct ? 'distinct ' : ''}${columns.length === 1 ? counted : `(${counted})`})`;
}
