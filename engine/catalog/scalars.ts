/** SCALARS: how each Postgres type looks in GraphQL and JSON, one row a type. A type without a row is an implicit scalar
 *  of its own name with text in and out. Row order is docs order.
 *  `family` decides which OPERATORS apply. Source: docs/reference/behaviour/schema.md; PostgreSQL manual, "Data Types". */
import type { PgType } from './types.ts';

export type ScalarFamily =
  | 'number'
  | 'text'
  | 'boolean'
  | 'json'
  | 'jsonb'
  | 'ltree'
  | 'geometry'
  | 'geography'
  | 'raster'
  | 'array'
  | 'other';

export const ARITHMETIC = ['none', 'sum', 'mean', 'all'] as const;
export type Arithmetic = (typeof ARITHMETIC)[number];

export type Scalar = {
  /** GraphQL name. */
  readonly name: string;
  readonly family: ScalarFamily;
  /** What a client may send: checked when variables and literals are coerced (plan/input.ts). */
  readonly input: 'int' | 'big-int' | 'float' | 'string' | 'boolean' | 'json' | 'geojson' | 'any';
  /** How a value becomes JSON text (plan/types.ts JsonForm), before --stringify-numeric-types. */
  readonly json: 'bare' | 'quoted' | 'geojson';
  /** Emitted as a string under --stringify-numeric-types. */
  readonly isStringifiable: boolean;
  /** What Postgres can compare two of them by; an order includes equality. */
  readonly comparison: 'none' | 'equality' | 'order';
  /** Of the values of an array; null for everything else. */
  readonly element: Scalar | null;
  /** There is a first and a last: min, max and `order_by` of aggregates. */
  readonly isOrderable: boolean;
  /** What Postgres computes of many: nothing, a sum, a sum and a mean, or every statistic. */
  readonly arithmetic: Arithmetic;
};

type Options = Partial<Omit<Scalar, 'name' | 'family' | 'input'>>;

const scalar = (
  name: string,
  family: ScalarFamily,
  input: Scalar['input'],
  options: Options = {},
): Scalar => ({
  name,
  family,
  input,
  json: 'quoted',
  isStringifiable: false,
  comparison: 'order',
  element: null,
  isOrderable: true,
  arithmetic: 'none',
  ...options,
});

const number = { json: 'bare', arithmetic: 'all' } as const;
const bigNumber = { ...number, isStringifiable: true } as const;
/** Floats go through to_json, which quotes NaN and Infinity. */
const floatNumber = { json: 'quoted', arithmetic: 'all', isStringifiable: true } as const;
const unordered = { isOrderable: false } as const;
const equated = { comparison: 'equality', isOrderable: false } as const;
const incomparable = { comparison: 'none', isOrderable: false } as const;
const spatial = { json: 'geojson', isOrderable: false } as const;

/** By pg_type.typname. */
export const SCALARS: Readonly<Record<string, Scalar>> = {
  int2: scalar('smallint', 'number', 'int', number),
  int4: scalar('Int', 'number', 'int', number),
  int8: scalar('bigint', 'number', 'big-int', bigNumber),
  float4: scalar('Float', 'number', 'float', { json: 'quoted', arithmetic: 'all' }),
  float8: scalar('float8', 'number', 'float', floatNumber),
  numeric: scalar('numeric', 'number', 'float', { ...floatNumber }),
  money: scalar('money', 'other', 'any', { arithmetic: 'sum' }),
  bool: scalar('Boolean', 'boolean', 'boolean', { json: 'bare', isOrderable: false }),
  text: scalar('String', 'text', 'string'),
  varchar: scalar('String', 'text', 'string'),
  bpchar: scalar('bpchar', 'text', 'string'),
  char: scalar('character', 'text', 'string'),
  name: scalar('name', 'text', 'string'),
  citext: scalar('citext', 'text', 'string'),
  uuid: scalar('uuid', 'other', 'string'),
  date: scalar('date', 'other', 'string'),
  time: scalar('time', 'other', 'string'),
  timetz: scalar('timetz', 'other', 'string'),
  timestamp: scalar('timestamp', 'other', 'string'),
  timestamptz: scalar('timestamptz', 'other', 'string'),
  interval: scalar('interval', 'other', 'string', { arithmetic: 'mean' }),
  json: scalar('json', 'json', 'json', { json: 'bare', ...incomparable }),
  jsonb: scalar('jsonb', 'jsonb', 'json', { json: 'bare', ...unordered }),
  bytea: scalar('bytea', 'other', 'string', unordered),
  inet: scalar('inet', 'other', 'string'),
  cidr: scalar('cidr', 'other', 'string'),
  macaddr: scalar('macaddr', 'other', 'string', unordered),
  macaddr8: scalar('macaddr8', 'other', 'string', unordered),
  bit: scalar('bit', 'other', 'string', unordered),
  varbit: scalar('varbit', 'other', 'string', unordered),
  oid: scalar('oid', 'other', 'any'),
  xml: scalar('xml', 'other', 'string', incomparable),
  point: scalar('point', 'other', 'string', incomparable),
  line: scalar('line', 'other', 'string', equated),
  lseg: scalar('lseg', 'other', 'string', unordered),
  box: scalar('box', 'other', 'string', unordered),
  path: scalar('path', 'other', 'string', unordered),
  polygon: scalar('polygon', 'other', 'string', incomparable),
  circle: scalar('circle', 'other', 'string', unordered),
  tsvector: scalar('tsvector', 'other', 'string', unordered),
  tsquery: scalar('tsquery', 'other', 'string', unordered),
  ltree: scalar('ltree', 'ltree', 'string'),
  lquery: scalar('lquery', 'other', 'string', incomparable),
  ltxtquery: scalar('ltxtquery', 'other', 'string', incomparable),
  geometry: scalar('geometry', 'geometry', 'geojson', spatial),
  geography: scalar('geography', 'geography', 'geojson', spatial),
  raster: scalar('raster', 'raster', 'string', equated),
};

/** Rows that extensions bring: their schema is wherever the extension was installed. All others are pg_catalog's own. */
const OF_EXTENSIONS: ReadonlySet<string> = new Set([
  'citext',
  'ltree',
  'lquery',
  'ltxtquery',
  'geometry',
  'geography',
  'raster',
]);
export function isOfExtension(type: PgType): boolean {
  const { kind, element, name } = type.base ?? type;
  return kind === 'base' && element === null && OF_EXTENSIONS.has(name);
}

/** GraphQL names an implicit scalar must leave to the rows above and to GraphQL itself. */
const TAKEN: ReadonlySet<string> = new Set(['ID', ...Object.values(SCALARS).map((row) => row.name)]);
const GRAPHQL_NAME = /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/;

/** The scalar of a type; domains are read as what they stand for, types without a row (enums, composites, ranges, …) as
 *  scalars of their own name. An array is a list of what its elements are, and has a name for where lists are off. The name
 *  is always a valid one. */
export function scalarOf(type: PgType): Scalar {
  if (type.element) return arrayScalar(type.element, type);
  if (type.base) return scalarOf(type.base);
  const isOwn = type.schema === 'pg_catalog' || isOfExtension(type);
  if (type.kind === 'base' && isOwn && Object.hasOwn(SCALARS, type.name)) return SCALARS[type.name]!;
  return implicit(type.name, type, type.kind === 'composite' ? unordered : {});
}

/** Postgres compares arrays by their elements, which must have a class of operators for that. All of those it compares have
 *  a first and a last. PostgreSQL manual, "Array Functions and Operators". */
function arrayScalar(type: PgType, array: PgType): Scalar {
  const element = scalarOf(type);
  const isCompared = element.comparison === 'order' && hasOperatorClass(type);
  return {
    ...implicit(`_${sqlName(type, element)}`, array, {}),
    family: 'array',
    element,
    isStringifiable: element.isStringifiable,
    comparison: isCompared ? 'order' : 'none',
    isOrderable: isCompared,
  };
}

/** GraphQL's own scalars are called in SQL what no other is. */
function sqlName(type: PgType, { name }: Scalar): string {
  const own = type.base ?? type;
  return GRAPHQL_OWN.has(name) ? (SQL_NAMES[own.name] ?? own.name) : name;
}
const GRAPHQL_OWN: ReadonlySet<string> = new Set(['Int', 'Float', 'String', 'Boolean']);
const SQL_NAMES: Readonly<Record<string, string>> = { int4: 'integer', float4: 'real', bool: 'boolean' };

/** Types that Postgres compares but has no class of operators for: it neither groups nor sorts by them. */
const WITHOUT_CLASS: ReadonlySet<string> = new Set(['lseg', 'box', 'path', 'circle']);

export function hasOperatorClass(type: PgType): boolean {
  return !WITHOUT_CLASS.has((type.base ?? type).name);
}

/** A scalar without a row. A name that is taken (an enum called `date`) is told apart by its schema; one that GraphQL
 *  cannot spell becomes one that it can. */
function implicit(name: string, type: PgType, options: Options): Scalar {
  const own = TAKEN.has(name) ? `${type.schema}_${name}` : name;
  const spelled = GRAPHQL_NAME.test(own) ? own : `pg_${own.replaceAll(/[^_0-9A-Za-z]/g, '_')}`;
  return scalar(spelled, 'other', 'any', options);
}
