/** A request that puts hostile things wherever a request can hold something. In: choices, a hostile world. Out: a body as
 *  it comes over the wire, and session variables. Most are refused; what is run must be run safely. */
import type { Choices } from './choices.ts';
import { hostileJson, hostileText } from './hostile.ts';
import type { HostileColumn, HostileTable, HostileWorld } from './hostile-world.ts';

export type HostileRequest = {
  readonly query: string;
  readonly variables: Record<string, unknown>;
  readonly operationName: string | null;
  readonly session: Readonly<Record<string, string>>;
  readonly isAdmin: boolean;
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
const MOST_DEPTH = 400;
const KEYWORD = 'constructor';

/** Writes a request, and keeps the variables it uses. */
class Page {
  readonly variables: Record<string, unknown> = {};
  readonly types: string[] = [];
  readonly choices: Choices;
  readonly marker: string;

  constructor(choices: Choices, marker: string) {
    this.choices = choices;
    this.marker = marker;
  }

  text(): string {
    return hostileText(this.choices, this.marker);
  }

  /** As a literal, or as a variable of that type, or of a wrong one. */
  value(type: string | null, value: unknown = this.#suited(type)): string {
    if (this.choices.chance(45)) return literal(value);
    const name = `v${this.types.length}`;
    const declared = this.choices.chance(90)
      ? (type ?? 'String')
      : this.choices.of(['Int', 'jsonb', '[uuid!]']);
    this.types.push(`$${name}: ${declared}`);
    this.variables[name] = value;
    return `$${name}`;
  }

  /** Mostly what gets through the first check. */
  #suited(type: string | null): unknown {
    if (this.choices.chance(25)) return hostileJson(this.choices, this.marker);
    if (type?.startsWith('[')) return this.choices.times(this.choices.below(3), () => this.text());
    if (type === 'Int') return this.choices.below(3);
    if (type === 'Boolean') return this.choices.chance(50);
    if (type === 'jsonb') return hostileJson(this.choices, this.marker);
    return this.text();
  }
}

/** A GraphQL literal; object keys that are no names are left as they are, to be refused. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, item]) => `${name}: ${literal(item)}`)}}`;
}

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
  const column = choices.of(table.columns);
  switch (choices.below(depth > 3 ? 1 : 6)) {
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
    default:
      return `{${column.field}: ${operations(page, column)}}`;
  }
}

function operations(page: Page, { scalar, type }: HostileColumn): string {
  const operator = page.choices.of(OPERATORS);
  if (operator === '_cast') return `{_cast: {String: {_like: ${page.value('String')}}}}`;
  const isList = ['_in', '_nin', '_has_keys_any', '_has_keys_all'].includes(operator);
  const isText = /like|similar|regex|has_key/.test(operator) || type === 'text';
  const own = operator === '_is_null' ? 'Boolean' : isText ? 'String' : scalar;
  return `{${operator}: ${page.value(isList ? `[${own ?? 'String'}!]` : own)}}`;
}

function object(page: Page, columns: readonly HostileColumn[]): string {
  const given = page.choices.some(columns, 50);
  return `{${given.map(({ field, scalar }) => `${field}: ${page.value(scalar)}`).join(', ')}}`;
}

const select: Form = (page, table, world) => {
  const { choices } = page;
  const given = [
    `where: ${where(page, table, world)}`,
    ...(choices.chance(20) ? [`limit: ${page.value('Int')}`] : []),
    ...(choices.chance(20) ? [`offset: ${page.value('Int')}`] : []),
    ...(choices.chance(20) ? [`order_by: ${order(page, table)}`] : []),
    ...(choices.chance(10)
      ? [`distinct_on: ${choices.of([choices.of(table.columns).field, literal(page.text())])}`]
      : []),
  ];
  return ['query', `${table.field}(${given.join(', ')}) { ${fields(page, table)} }`];
};

function order(page: Page, table: HostileTable): string {
  const { choices } = page;
  const { field } = choices.of(table.columns);
  const direction = choices.of(['asc', 'desc_nulls_last', literal(page.text()), 'sideways']);
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
  const count = `count(columns: ${page.choices.of([field, literal(page.text())])}, distinct: ${page.value('Boolean')})`;
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
  const constraint = choices.of([table.constraint, literal(page.text()), 'nothing']);
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
];
