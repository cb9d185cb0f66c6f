/** OPERATORS: every comparison of `where` arguments and permissions, one row each. Input types, planning, the "works only on" error
 *  and the documents are derived from it. sql/operators.ts has one SQL template for each row and does not compile while one is
 *  missing. Rows are in the order of the documents and the schema. Spec: BoolExp; docs/reference/behaviour/operators.md. */

import { qualifiedKey } from '../metadata/schema/common.ts';
import { isOfExtension, SCALARS, type Scalar, type ScalarFamily } from './scalars.ts';
import { arrayOf, baseType, builtinType, type PgType } from './types.ts';

/** The languages of patterns. */
export type PatternLanguage = 'like' | 'similar' | 'regex' | 'lquery';

export type OperatorRow = {
  /** The scalar families it applies to. */
  readonly families: readonly ScalarFamily[] | 'any';
  /** The comparison that Postgres must have for the type; absent when it needs none. */
  readonly needs?: 'equality' | 'order';
  readonly operand: OperandForm | OperandFields;
  /** The operand for families where it differs. */
  readonly operandFor?: Partial<Record<ScalarFamily, OperandFields>>;
  /** True when it may raise an error, depending on the value of the row or on any row being read: a pattern that cannot be
   *  read, two geometries of different systems. Source: the functions behind the operators. */
  readonly mayRaise?: true;
  /** The language of the operand, where it is a pattern. A LIKE pattern that ends in its escape character is refused before the statement runs,
   *  because Postgres notices it only in rows that match up to there; the others are refused when they cost too much (resolve/pattern-cost.ts). */
  readonly pattern?: PatternLanguage;
  /** Other spellings in permissions, without their `_` or `$`. */
  readonly aliases?: readonly string[];
  readonly description: string;
};

/** A single operand: of the type of the column, a list of that type, or of another type. */
export type OperandForm = keyof typeof OPERAND_TYPES;

/** An operand of several values, in the order in which the SQL function takes them. */
export type OperandFields = {
  /** The GraphQL name of the input object. */
  readonly input: string;
  readonly fields: Readonly<Record<string, OperandField>>;
};

export type OperandField = {
  readonly type: 'same' | 'geometry' | 'float8' | 'int4' | 'bool';
  readonly isRequired: boolean;
  /** The scalar in GraphQL; absent, that of the type. */
  readonly scalar?: Scalar;
  /** The value when it is left out; null without this. */
  readonly standard?: boolean;
};

/** Returns a type of the same extension as the type `own`. */
const sibling = (own: PgType, name: string): PgType => ({
  ...builtinType(name),
  schema: baseType(own).schema,
});

const OPERAND_TYPES = {
  same: baseType,
  list: (own: PgType): PgType => arrayOf(baseType(own)),
  text: (): PgType => builtinType('text'),
  'text-list': (): PgType => arrayOf(builtinType('text')),
  boolean: (): PgType => builtinType('bool'),
  lquery: (own: PgType): PgType => sibling(own, 'lquery'),
  'lquery-list': (own: PgType): PgType => arrayOf(sibling(own, 'lquery')),
  ltxtquery: (own: PgType): PgType => sibling(own, 'ltxtquery'),
} as const;

/** Returns the Postgres type of an operand, given the type of the column. */
export function operandType(form: OperandForm, own: PgType): PgType {
  return OPERAND_TYPES[form](own);
}

/** Returns the Postgres type of one value of an operand of several. */
export function operandFieldType({ type }: OperandField, own: PgType): PgType {
  if (type === 'same') return baseType(own);
  return type === 'geometry' ? sibling(own, type) : builtinType(type);
}

const TEXT: readonly ScalarFamily[] = ['text'];
const JSONB: readonly ScalarFamily[] = ['jsonb'];
const CONTAINERS: readonly ScalarFamily[] = ['jsonb', 'array'];
const LTREE: readonly ScalarFamily[] = ['ltree'];
const GEOMETRY: readonly ScalarFamily[] = ['geometry'];
const SPATIAL: readonly ScalarFamily[] = ['geometry', 'geography'];
const RASTER: readonly ScalarFamily[] = ['raster'];

const own = { type: 'same', isRequired: true } as const;
const distance = { type: 'float8', scalar: SCALARS['float4']!, isRequired: true } as const;
const geometry = { type: 'geometry', isRequired: true } as const;
const near = { input: 'st_d_within_input', fields: { from: own, distance } } as const;
const useSpheroid = { type: 'bool', isRequired: false, standard: true } as const;
const nearOnEarth = {
  input: 'st_d_within_geography_input',
  fields: { from: own, distance, use_spheroid: useSpheroid },
} as const;
const bandAndGeometry = {
  input: 'st_intersects_nband_geom_input',
  fields: { nband: { type: 'int4', isRequired: true }, geommin: geometry },
} as const;
const geometryAndBand = {
  input: 'st_intersects_geom_nband_input',
  fields: { geommin: geometry, nband: { type: 'int4', isRequired: false } },
} as const;

const row = <const O extends OperatorRow['operand'], const M extends Partial<OperatorRow> = object>(
  families: OperatorRow['families'],
  operand: O,
  description: string,
  more?: M,
) => ({ families, operand, description, ...(more as M) });

export const OPERATORS = {
  _eq: row('any', 'same', 'equal to', { needs: 'equality' }),
  _neq: row('any', 'same', 'not equal to', { needs: 'equality', aliases: ['ne'] }),
  _gt: row('any', 'same', 'greater than', { needs: 'order' }),
  _gte: row('any', 'same', 'greater than or equal to', { needs: 'order' }),
  _lt: row('any', 'same', 'less than', { needs: 'order' }),
  _lte: row('any', 'same', 'less than or equal to', { needs: 'order' }),
  _in: row('any', 'list', 'one of', { needs: 'equality' }),
  _nin: row('any', 'list', 'none of', { needs: 'equality' }),
  _is_null: row('any', 'boolean', 'is null, or is not'),
  _like: row(TEXT, 'text', 'matches the LIKE pattern', { pattern: 'like' }),
  _nlike: row(TEXT, 'text', 'does not match the LIKE pattern', { pattern: 'like' }),
  _ilike: row(TEXT, 'text', 'matches the LIKE pattern, in any case', { pattern: 'like' }),
  _nilike: row(TEXT, 'text', 'does not match the LIKE pattern, in any case', { pattern: 'like' }),
  _similar: row(TEXT, 'text', 'matches the SIMILAR TO pattern', { pattern: 'similar', mayRaise: true }),
  _nsimilar: row(TEXT, 'text', 'does not match the SIMILAR TO pattern', {
    pattern: 'similar',
    mayRaise: true,
  }),
  _regex: row(TEXT, 'text', 'matches the regular expression', { pattern: 'regex', mayRaise: true }),
  _nregex: row(TEXT, 'text', 'does not match the regular expression', { pattern: 'regex', mayRaise: true }),
  _iregex: row(TEXT, 'text', 'matches the regular expression, in any case', {
    pattern: 'regex',
    mayRaise: true,
  }),
  _niregex: row(TEXT, 'text', 'does not match the regular expression, in any case', {
    pattern: 'regex',
    mayRaise: true,
  }),
  _contains: row(CONTAINERS, 'same', 'contains the value', { needs: 'equality' }),
  _contained_in: row(CONTAINERS, 'same', 'is contained in the value', { needs: 'equality' }),
  _has_key: row(JSONB, 'text', 'has the key at its top level'),
  _has_keys_any: row(JSONB, 'text-list', 'has one of the keys'),
  _has_keys_all: row(JSONB, 'text-list', 'has all of the keys'),
  _ancestor: row(LTREE, 'same', 'is the path or an ancestor of it'),
  _ancestor_any: row(LTREE, 'list', 'is one of the paths or an ancestor of one'),
  _descendant: row(LTREE, 'same', 'is the path or a descendant of it'),
  _descendant_any: row(LTREE, 'list', 'is one of the paths or a descendant of one'),
  _matches: row(LTREE, 'lquery', 'matches the lquery', { pattern: 'lquery' }),
  _matches_any: row(LTREE, 'lquery-list', 'matches one of the lqueries', {
    pattern: 'lquery',
    mayRaise: true,
  }),
  _matches_fulltext: row(LTREE, 'ltxtquery', 'matches the ltxtquery'),
  _st_contains: row(GEOMETRY, 'same', 'contains the geometry', { mayRaise: true }),
  _st_crosses: row(GEOMETRY, 'same', 'crosses the geometry', { mayRaise: true }),
  _st_equals: row(GEOMETRY, 'same', 'is the same shape, whatever its direction', { mayRaise: true }),
  _st_overlaps: row(GEOMETRY, 'same', 'overlaps the geometry', { mayRaise: true }),
  _st_touches: row(GEOMETRY, 'same', 'touches the geometry', { mayRaise: true }),
  _st_within: row(GEOMETRY, 'same', 'lies within the geometry', { mayRaise: true }),
  _st_intersects: row(SPATIAL, 'same', 'shares a point with the other', { mayRaise: true }),
  _st_3d_intersects: row(GEOMETRY, 'same', 'shares a point in 3D space', { mayRaise: true }),
  _st_d_within: row(SPATIAL, near, 'lies within the distance from the geometry', {
    operandFor: { geography: nearOnEarth },
    mayRaise: true,
  }),
  _st_3d_d_within: row(GEOMETRY, near, 'lies within the distance from the geometry in 3D space', {
    mayRaise: true,
  }),
  _st_intersects_rast: row(RASTER, 'same', 'shares a point with the raster', { mayRaise: true }),
  _st_intersects_nband_geom: row(RASTER, bandAndGeometry, 'shares a point with the geometry in the band', {
    mayRaise: true,
  }),
  _st_intersects_geom_nband: row(
    RASTER,
    geometryAndBand,
    'shares a point with the geometry, in the band or in any',
    { mayRaise: true },
  ),
} as const satisfies Record<string, OperatorRow>;

export type OperatorName = keyof typeof OPERATORS;

/** Returns the operators of a column of this scalar, in the order of the rows. */
export function operatorsOf(scalar: Scalar): readonly OperatorName[] {
  return (Object.keys(OPERATORS) as OperatorName[]).filter((name) => isOffered(OPERATORS[name], scalar));
}

export function isOffered({ families, needs }: OperatorRow, { family, comparison }: Scalar): boolean {
  if (needs && comparison !== 'order' && comparison !== needs) return false;
  return families === 'any' || families.includes(family);
}

/** Returns the operand of an operator for columns of a family. */
export function operandOf(operator: OperatorName, family: ScalarFamily): OperatorRow['operand'] {
  const row: OperatorRow = OPERATORS[operator];
  return row.operandFor?.[family] ?? row.operand;
}

/** The types that the `_cast` of a column may compare a value as. */
const CASTS: Partial<Record<ScalarFamily, (own: PgType) => PgType>> = {
  jsonb: () => builtinType('text'),
  geometry: (own) => sibling(own, 'geography'),
  geography: (own) => sibling(own, 'geometry'),
};

export function castOf(family: ScalarFamily, own: PgType): PgType | null {
  return CASTS[family]?.(own) ?? null;
}

const BY_RULE_NAME: ReadonlyMap<string, OperatorName> = new Map(
  (Object.keys(OPERATORS) as OperatorName[]).flatMap((name) => {
    const row: OperatorRow = OPERATORS[name];
    return [name.slice(1), ...(row.aliases ?? [])].map((spelling) => [spelling, name] as const);
  }),
);

/** The operators with the names that the documentation uses in permissions, without aliases. */
export const RULE_OPERATORS = Object.keys(OPERATORS) as readonly OperatorName[];

/** Returns the operator of a key in a permission: `_eq`, `$eq`, or an alias such as `$ne`. */
export function operatorOfRule(key: string): OperatorName | undefined {
  return /^[_$]/.test(key) ? BY_RULE_NAME.get(key.slice(1)) : undefined;
}

/** Returns the schema in which Postgres finds the operators that compare two values of the types; null when a bare operator is the right one. It finds
 *  those of pg_catalog, which Postgres searches first. Operators of an extension belong to the extension's schema, which may be outside the
 *  search path: a bare `=` is then unknown, or compares the text of the values. PostgreSQL manual, "Operator Type Resolution". */
export function operatorSchema(left: PgType, right: PgType = left): string | null {
  const [one, other] = [baseType(left), baseType(right)];
  const known = one.operators?.[qualifiedKey(other)] ?? other.operators?.[qualifiedKey(one)];
  if (known !== undefined) return known;
  // A type that a cast names is not read from the catalog.
  return isOfExtension(one) && qualifiedKey(one) === qualifiedKey(other) ? one.schema : null;
}
