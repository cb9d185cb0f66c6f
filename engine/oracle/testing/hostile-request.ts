/** A request that puts hostile things wherever a request can hold something. In: choices, a hostile world. Out: a body as
 *  it comes over the wire, and session variables. Most are refused; what is run must be run safely. */

import type { Choices } from './choices.ts';
import { hostileJson, hostileText } from './hostile.ts';
import { argumentName, INDEX, SHADE_TYPE } from './hostile-functions.ts';
import { literal, Page } from './hostile-page.ts';
import type { HostileColumn, HostileTable } from './hostile-types.ts';
import type { HostileWorld } from './hostile-world.ts';

export type HostileRequest = {
  readonly query: string;
  readonly variables: Record<string, unknown>;
  readonly operationName: string | null;
  readonly session: Readonly<Record<string, string>>;
  readonly isAdmin: boolean;
  /** Sent as a REST endpoint, whose variables are text. */
  readonly isRest: boolean;
};

const OPERATORS = [
  ...[
    '_eq',
    '_neq',
    '_gt',
    '_in',
    '_nin',
    '_is_null',
    '_like',
    '_nlike',
    '_ilike',
    '_similar',
    '_regex',
    '_iregex',
  ],
  ...['_contains', '_contained_in', '_has_key', '_has_keys_any', '_has_keys_all', '_cast', '_ceq', "_x'"],
];
/** Those that fit, for a request that is hostile in its values alone. */
const FITTING: Readonly<Record<string, readonly string[]>> = {
  String: ['_eq', '_in', '_nin', '_like', '_nilike', '_similar', '_regex', '_niregex', '_is_null'],
  jsonb: ['_eq', '_contains', '_contained_in', '_has_key', '_has_keys_any', '_has_keys_all', '_cast'],
  [SHADE_TYPE]: ['_eq', '_neq', '_in'],
};
const MOST_DEPTH = 400;
const KEYWORD = 'constructor';

export function makeHostileRequest(choices: Choices, world: HostileWorld, marker: string): HostileRequest {
  const page = new Page(choices, marker);
  const table = choices.of([world.parent, world.child]);
  const [operation, body] = choices.of(FORMS)(page, table, world);
  const types = page.types.length > 0 ? `(${page.types.join(', ')})` : '';
  const name = choices.chance(5) ? hostileText(choices, marker) : null;
  return {
    query: choices.chance(2) ? page.text() + body : `${operation} q${types} { ${body} }`,
    variables: choices.chance(5) ? { ...page.variables, [page.text()]: page.text() } : page.variables,
    operationName: name,
    session: { 'x-engine-text': page.text().replaceAll('\0', ''), [`x-engine-${page.text()}`]: page.text() },
    isAdmin: choices.chance(30),
    isRest: choices.chance(12),
  };
}

type Form = (page: Page, table: HostileTable, world: HostileWorld) => readonly [string, string];

/** Columns, half of the time all of them. */
function fields({ choices }: Page, table: HostileTable): string {
  const chosen = choices.some(table.columns, 40).map(({ field }) => field);
  return ['__typename', ...chosen].join(' ');
}

function where(page: Page, table: HostileTable, world: HostileWorld, depth = 0): string {
  const { choices } = page;
  const inner = () => where(page, table, world, depth + 1);
  const column = choices.of(page.columns(table.columns));
  switch (choices.below(depth > 3 ? 1 : 7)) {
    case 1:
      return `{_and: [${choices.times(choices.below(3), inner).join(', ')}]}`;
    case 2:
      return `{_not: ${inner()}}`;
    case 3:
      return `{_or: ${inner()}, ${column.field}: ${operations(page, column)}}`;
    case 4: {
      const isParent = table === world.parent;
      const other = isParent ? world.child : world.parent;
      return `{${isParent ? world.children : world.back}: ${where(page, other, world, depth + 1)}}`;
    }
    case 5:
      return besides(page, table, world, inner);
    default:
      return `{${column.field}: ${operations(page, column)}}`;
  }
}

/** What is asked of the row by other means than its columns: functions, and what related rows come to. */
function besides(page: Page, table: HostileTable, world: HostileWorld, inner: () => string): string {
  if (table !== world.parent) return inner();
  const args = `args: {${argumentName(world.functions)}: ${page.value('String')}}`;
  const { field } = page.choices.of(world.child.columns);
  const filter = `filter: ${where(page, world.child, world, 4)}`;
  return page.choices.of([
    () => `{spoken: {${args}, _like: ${page.value('String')}}}`,
    () => `{kin: ${where(page, world.child, world, 4)}}`,
    () => {
      const counted = page.word(field);
      const predicate = `predicate: {_gt: ${page.value('Int')}}`;
      return `{${world.children}_aggregate: {count: {arguments: [${counted}], ${filter}, ${predicate}}}}`;
    },
  ])();
}

function operations(page: Page, { scalar, type }: HostileColumn): string {
  const fitting = FITTING[scalar ?? ''] ?? ['_eq', '_gt', '_in', '_is_null'];
  const operator = page.choices.of(page.isFitting ? fitting : OPERATORS);
  if (operator === '_cast') return `{_cast: {String: {_like: ${page.value('String')}}}}`;
  const isList = ['_in', '_nin', '_has_keys_any', '_has_keys_all'].includes(operator);
  const isText = /like|similar|regex|has_key/.test(operator) || type === 'text';
  const own = operator === '_is_null' ? 'Boolean' : isText ? 'String' : scalar;
  return `{${operator}: ${page.value(isList ? `[${own ?? 'String'}!]` : own)}}`;
}

function object(page: Page, columns: readonly HostileColumn[]): string {
  const given = page.choices.some(page.columns(columns), 50);
  return `{${given.map(({ field, scalar }) => `${field}: ${page.value(scalar)}`).join(', ')}}`;
}

const select: Form = (page, table, world) => {
  const { choices } = page;
  const given = [
    `where: ${where(page, table, world)}`,
    ...(choices.chance(20) ? [`limit: ${page.value('Int')}`] : []),
    ...(choices.chance(20) ? [`offset: ${page.value('Int')}`] : []),
    ...(choices.chance(20) ? [`order_by: ${order(page, table)}`] : []),
    ...(choices.chance(10) ? [`distinct_on: ${page.word(choices.of(table.columns).field)}`] : []),
  ];
  return ['query', `${table.field}(${given.join(', ')}) { ${fields(page, table)} }`];
};

function order(page: Page, table: HostileTable): string {
  const { choices } = page;
  const { field } = choices.of(table.columns);
  const direction = page.word(choices.of(['asc', 'desc_nulls_last']));
  if (page.isFitting) return `{${field}: ${direction}}`;
  return choices.of([
    `{${field}: ${direction}}`,
    `[{${field}: ${direction}}]`,
    page.value(`[${table.field}_order_by!]`),
  ]);
}

const whole: Form = (page, table) => {
  const value = hostileJson(page.choices, page.marker);
  return [
    'query',
    `${table.field}(where: ${page.value(`${table.field}_bool_exp`, value)}) { ${fields(page, table)} }`,
  ];
};

const path: Form = (page, table) => {
  const { field } = table.columns.find(({ type }) => type === 'jsonb')!;
  return ['query', `${table.field} { a: ${field}(path: ${page.value('String', page.text())}) }`];
};

const byKey: Form = (page, table) => {
  const { field } = table.columns[0]!;
  return ['query', `${table.field}_by_pk(${field}: ${page.value('Int!')}) { ${fields(page, table)} }`];
};

const aggregate: Form = (page, table, world) => {
  const { field } = page.choices.of(table.columns);
  const count = `count(columns: ${page.word(field)}, distinct: ${page.value('Boolean')})`;
  const members = `aggregate { ${count} max { ${field} } }`;
  return ['query', `${table.field}_aggregate(where: ${where(page, table, world)}) { ${members} }`];
};

const unknown: Form = (page, table) => {
  const text = page.text();
  const name = text.replaceAll(/[^_A-Za-z0-9]/g, '_');
  return page.choices.of([
    ['query', `${text} { id }`],
    ['query', `${name} { id }`],
    ['query', `${table.field} { ${name} }`],
    ['query', `${table.field} @${name}(if: ${literal(text)}) { __typename }`],
    ['query', `__type(name: ${literal(text)}) { name }`],
    ['subscription', `${table.field} { ${name} }`],
    [name, `${table.field} { __typename }`],
    // An alias is a name, which the answer has, and so the statement.
    ['query', `${KEYWORD}: ${table.field} { ${KEYWORD}_: __typename }`],
  ] as const);
};

const deep: Form = (page, table, world) => {
  const levels = page.choices.below(MOST_DEPTH);
  const condition = `${'{_not: '.repeat(levels)}${where(page, table, world, 4)}${'}'.repeat(levels)}`;
  const nested = `${'{a: '.repeat(levels)}${literal(page.text())}${'}'.repeat(levels)}`;
  const steps = Math.floor(levels / 20);
  const related = `${world.parent.field} { ${`${world.children} { ${world.back} { `.repeat(steps)} __typename ${'} } '.repeat(steps)} }`;
  const json = table.columns.find(({ type }) => type === 'jsonb')!.field;
  return page.choices.of([
    ['query', `${table.field}(where: ${condition}) { __typename }`],
    ['query', `${table.field}(where: {${json}: {_eq: ${nested}}}) { __typename }`],
    ['query', related],
    ['query', `${table.field} ${'{ '.repeat(levels)}`],
  ] as const);
};

const insert: Form = (page, table, world) => {
  const { choices } = page;
  const objects = choices.times(1 + choices.below(2), () => object(page, table.columns));
  const columns = choices.some(table.columns, 30).map(({ field }) => field);
  const own = table === world.parent ? [table.constraint, INDEX] : [table.constraint];
  const constraint = page.word(choices.of(own));
  const conflict = `{constraint: ${constraint}, update_columns: [${columns}], where: ${where(page, table, world)}}`;
  const rest = choices.chance(50) ? `, on_conflict: ${conflict}` : '';
  const answer = `affected_rows returning { ${fields(page, table)} }`;
  return ['mutation', `insert_${table.field}(objects: [${objects}]${rest}) { ${answer} }`];
};

const insertWhole: Form = (page, table) => {
  const value = Object.fromEntries(
    page.choices.some(table.columns, 60).map(({ field }) => [field, hostileJson(page.choices, page.marker)]),
  );
  const given = page.value(`${table.field}_insert_input!`, value);
  return ['mutation', `insert_${table.field}_one(object: ${given}) { ${fields(page, table)} }`];
};

const update: Form = (page, table, world) => {
  const { choices } = page;
  const change = choices.of([
    () => `_set: ${object(page, table.columns)}`,
    () => `_inc: ${object(page, choices.some(table.columns, 30))}`,
    () => `_append: {type: ${page.value('jsonb')}}`,
    () => `_delete_key: {hasOwnProperty: ${page.value('String')}}`,
    () => `_delete_elem: {hasOwnProperty: ${page.value('Int')}}`,
    () => `_delete_at_path: {hasOwnProperty: ${page.value('[String!]')}}`,
  ])();
  const json = table.columns.find(({ type }) => type === 'jsonb')!.field;
  const text = change.replace('hasOwnProperty', json).replace('{type:', `{${json}:`);
  return [
    'mutation',
    `update_${table.field}(where: ${where(page, table, world)}, ${text}) { affected_rows }`,
  ];
};

const remove: Form = (page, table, world) => {
  const condition = where(page, table, world);
  return [
    'mutation',
    `delete_${table.field}(where: ${condition}) { affected_rows returning { ${fields(page, table)} } }`,
  ];
};

const functions: Form = (page, table, world) => {
  const args = `args: {${argumentName(world.functions)}: ${page.value('String')}}`;
  const direction = page.word('desc');
  const { field } = page.choices.of(table.columns);
  const condition = where(page, world.parent, world);
  return page.choices.of([
    ['query', `called(${args}, where: ${condition}) { ${fields(page, world.parent)} }`],
    ['query', `called_aggregate(${args}) { aggregate { count(columns: ${page.word(field)}) } }`],
    [
      'query',
      `parent(where: ${condition}) { spoken(${args}) kin(limit: ${page.value('Int')}) { __typename } }`,
    ],
    [
      'query',
      `parent(order_by: {spoken: {${args}, ordering: ${direction}}}) { ${fields(page, world.parent)} }`,
    ],
    ['query', `parent { spoken(args: ${page.isFitting ? '{}' : page.value('spoken_parent_args')}) }`],
  ] as const);
};

/** SQL of the administrator's with arguments of the client's. */
const native: Form = (page) => {
  const args = `word: ${page.value('String!')}, number: ${page.value('Int')}, doc: ${page.value('jsonb')}`;
  const given = page.isFitting || page.choices.chance(70) ? `{${args}}` : page.value('asked_arguments!');
  const condition = `{one: {_like: ${page.value('String')}}, three: {_contains: ${page.value('jsonb')}}}`;
  return [
    'query',
    `asked(args: ${given}, where: ${condition}) { one two three(path: ${page.value('String')}) }`,
  ];
};

const groups: Form = (page, table, world) => {
  const { choices } = page;
  const able = table.columns.filter(({ scalar }) =>
    /^(Int|String|bigint|numeric|timestamptz)$/.test(scalar ?? ''),
  );
  const column = choices.of(able).field;
  const key = page.word(column);
  const number = table.columns[2]!.field;
  const having = choices.of([
    `{count: {predicate: {_gt: ${page.value('Int')}}}}`,
    `{sum: {arguments: ${number}, predicate: {_lt: ${page.value('float8')}}}}`,
    `{_not: {max: {arguments: ${page.word(number)}, predicate: {}}}}`,
  ]);
  const order = `order_by: {keys: {${column}: ${page.word('asc')}}}`;
  const given = `keys: [${key}], where: ${where(page, table, world)}, having: ${having}, ${order}`;
  return ['query', `${table.field}_group_by(${given}) { keys { ${key} } aggregate { max { ${column} } } }`];
};

const insertNested: Form = (page, _table, world) => {
  const { parent, child, children, back } = world;
  const conflict = `on_conflict: {constraint: ${child.constraint}, update_columns: []}`;
  const many = `${children}: {data: [${object(page, child.columns.slice(1))}], ${conflict}}`;
  const one = `${back}: {data: ${object(page, parent.columns)}}`;
  const inside = (columns: readonly HostileColumn[], rest: string) =>
    `${object(page, columns).slice(0, -1)}${page.choices.chance(90) ? `, ${rest}` : ''}}`;
  return page.choices.of([
    ['mutation', `insert_parent(objects: [${inside(parent.columns, many)}]) { affected_rows }`],
    [
      'mutation',
      `insert_child_one(object: ${inside(child.columns.slice(1), one)}) { ${fields(page, child)} }`,
    ],
  ] as const);
};

const updateNested: Form = (page, _table, world) => {
  const { parent, child, children } = world;
  const deletes = `delete: [{where: ${where(page, child, world, 3)}}]`;
  const updates = `update: [{where: ${where(page, child, world, 3)}, _set: ${object(page, child.columns)}}]`;
  const related = `_related: {${children}: {${page.choices.of([deletes, updates, `${deletes}, ${updates}`])}}}`;
  const set = `_set: {${parent.columns[1]!.field}: ${page.value('String')}}`;
  return [
    'mutation',
    `update_parent(where: ${where(page, parent, world)}, ${set}, ${related}) { affected_rows }`,
  ];
};

const FORMS: readonly Form[] = [
  select,
  select,
  select,
  whole,
  path,
  byKey,
  aggregate,
  unknown,
  deep,
  insert,
  insert,
  insertWhole,
  update,
  remove,
  functions,
  functions,
  native,
  groups,
  insertNested,
  updateNested,
];
