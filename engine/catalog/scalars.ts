/** SCALARS: the form of each Postgres type in GraphQL and JSON, one row each. A type without a row is an implicit scalar of its own
 *  name, read and written as text. Rows are in the order of the documents.
 *  `family` decides which OPERATORS apply. Not here: the types of a database (types.ts). Reference: docs/reference/behaviour/schema.md; PostgreSQL manual, "Data Types". */
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
  /** The name in GraphQL. */
  readonly name: string;
  readonly family: ScalarFamily;
  /** The values that a client may send, checked when variables and literals are coerced (plan/input.ts). */
  readonly input: 'int' | 'big-int' | 'float' | 'string' | 'boolean' | 'json' | 'geojson' | 'any';
  /** How a value becomes JSON text (JsonForm in resolve/model/column.ts), without --stringify-numeric-types. */
  readonly json: 'bare' | 'quoted' | 'geojson';
  /** True when --stringify-numeric-types sends values as strings. */
  readonly isStringifiable: boolean;
  /** The comparison that Postgres has for two values. An order includes equality. */
  readonly comparison: 'none' | 'equality' | 'order';
  /** The scalar of the elements of an array; null for other types. */
  readonly element: Scalar | null;
  /** True when values have a minimum and a maximum, for aggregates and their `order_by`. */
  readonly isOrderable: boolean;
  /** The aggregates that Postgres has: none, a sum, a sum and a mean, or every statistic. */
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
/** The row of a float. Values are printed by to_json, which quotes NaN and Infinity. */
const floatNumber = { json: 'quoted', arithmetic: 'all', isStringifiable: true } as const;
const unordered = { isOrderable: false } as const;
const equated = { comparison: 'equality', isOrderable: false } as const;
const incomparable = { comparison: 'none', isOrderable: false } as const;
const spatial = { json: 'geojson', isOrderable: false } as const;

/** The rows, by pg_type.typname. */
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
  xid: scalar('xid', 'other', 'any', equated),
  xml: scalar('xml', 'other', 'string', incomparable),
  jsonpath: scalar('jsonpath', 'other', 'string', incomparable),
  point: scalar('point', 'other', 'string', incomparable),
  line: scalar('line', 'other', 'string', equated),
  lseg: scalar('lseg', 'other', 'string', unordered),
  box: scalar('box', 'other', 'string', unordered),
  path: scalar('path', 'other', 'string', unordered),
  polygon: scalar('polygon', 'other', 'string', incomparable),
  circle: scalar('circle', 'other', 'string', unordered),
  tsvector: scalar('tsvector', 'other', 'string', unordered),
  tsquery: scalar('tsquery', 'other', 'string', unordered),
  hstore: scalar('hstore', 'other', 'any', equated),
  ltree: scalar('ltree', 'ltree', 'string'),
  lquery: scalar('lquery', 'other', 'string', incomparable),
  ltxtquery: scalar('ltxtquery', 'other', 'string', incomparable),
  geometry: scalar('geometry', 'geometry', 'geojson', spatial),
  geography: scalar('geography', 'geography', 'geojson', spatial),
  raster: scalar('raster', 'raster', 'string', equated),
};

/** The rows of types of extensions, whose schema is where the extension was installed. All other rows are types of pg_catalog. */
const OF_EXTENSIONS: ReadonlySet<string> = new Set([
  'citext',
  'hstore',
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

/** The GraphQL names that no implicit scalar can have: those of the rows above and of GraphQL itself. */
const TAKEN: ReadonlySet<string> = new Set(['ID', ...Object.values(SCALARS).map((row) => row.name)]);
const GRAPHQL_NAME = /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/;

/** Returns the scalar of a type. Domains have the scalar of their base type; types without a row (enums, composites, ranges, …) are
 *  scalars of their own name. An array is a list of the scalar of its elements, and has a name for when lists are off. The name is
 *  always a valid GraphQL name. */
export function scalarOf(type: PgType): Scalar {
  if (type.element) return arrayScalar(type.element, type);
  if (type.base) return scalarOf(type.base);
  const isOwn = type.schema === 'pg_catalog' || isOfExtension(type);
  if (type.kind === 'base' && isOwn && Object.hasOwn(SCALARS, type.name)) return SCALARS[type.name]!;
  return implicit(type.name, type, type.kind === 'composite' ? unordered : {});
}

/** Returns the scalar of an array. Postgres compares arrays by their elements, which need an operator class for that. All arrays that
 *  it compares have a minimum and a maximum. PostgreSQL manual, "Array Functions and Operators". */
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

/** Returns the name of the scalar of an array type. GraphQL's own scalars take the unique SQL name of their type. */
function sqlName(type: PgType, { name }: Scalar): string {
  const own = type.base ?? type;
  return GRAPHQL_OWN.has(name) ? (SQL_NAMES[own.name] ?? own.name) : name;
}
const GRAPHQL_OWN: ReadonlySet<string> = new Set(['Int', 'Float', 'String', 'Boolean']);
const SQL_NAMES: Readonly<Record<string, string>> = { int4: 'integer', float4: 'real', bool: 'boolean' };

/** Types that Postgres compares but that have no operator class, so that it neither groups nor sorts by them. */
const WITHOUT_CLASS: ReadonlySet<string> = new Set(['lseg', 'box', 'path', 'circle']);

export function hasOperatorClass(type: PgType): boolean {
  return !WITHOUT_CLASS.has((type.base ?? type).name);
}

/** Returns the scalar of a type without a row. A name that is taken (an enum called `date`) gets its schema as a prefix; characters
 *  that GraphQL does not allow are replaced. */
function implicit(name: string, type: PgType, options: Options): Scalar {
  const own = TAKEN.has(name) ? `${type.schema}_${name}` : name;
  const spelled = GRAPHQL_NAME.test(own) ? own : `pg_${own.replaceAll(/[^_0-9A-Za-z]/g, '_')}`;
  return scalar(spelled, 'other', 'any', options);
}
