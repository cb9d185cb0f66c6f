/** OPERATORS: every comparison of `where` arguments and permissions, one row each. Input types, planning, the "works only on" error
 *  and the documents are derived from it. sql/operators.ts has one SQL template for each row and does not compile while one is
 *  missing. Rows are in the order of the documents and the schema. Spec: BoolExp; docs/reference/behaviour/operators.md. */
import type { Scalar, ScalarFamily } from './scalars.ts';
import { arrayOf, builtinType, type PgType } from './types.ts';

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
  /** True when the operand is a LIKE pattern. Postgres notices only in rows that match up to there that it ends in its escape
   *  character, so such a pattern is refused before the statement runs. */
  readonly isLikePattern?: true;
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
  /** The value when it is left out; null without this. */
  readonly standard?: boolean;
};

/** Returns a type of the same extension as the type `own`. */
const sibling = (own: PgType, name: string): PgType => ({
  ...builtinType(name),
  schema: (own.base ?? own).schema,
});

const OPERAND_TYPES = {
  same: (own: PgType): PgType => own,
  list: (own: PgType): PgType => arrayOf(own),
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
  if (type === 'same') return own;
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
const distance = { type: 'float8', isRequired: true } as const;
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

export const OPERATORS = {
  _eq: { families: 'any', needs: 'equality', operand: 'same', description: 'equal to' },
  _neq: { families: 'any', needs: 'equality', operand: 'same', aliases: ['ne'], description: 'not equal to' },
  _gt: { families: 'any', needs: 'order', operand: 'same', description: 'greater than' },
  _gte: { families: 'any', needs: 'order', operand: 'same', description: 'greater than or equal to' },
  _lt: { families: 'any', needs: 'order', operand: 'same', description: 'less than' },
  _lte: { families: 'any', needs: 'order', operand: 'same', description: 'less than or equal to' },
  _in: { families: 'any', needs: 'equality', operand: 'list', description: 'one of' },
  _nin: { families: 'any', needs: 'equality', operand: 'list', description: 'none of' },
  _is_null: { families: 'any', operand: 'boolean', description: 'is null, or is not' },
  _like: { families: TEXT, operand: 'text', isLikePattern: true, description: 'matches the LIKE pattern' },
  _nlike: {
    families: TEXT,
    operand: 'text',
    isLikePattern: true,
    description: 'does not match the LIKE pattern',
  },
  _ilike: {
    families: TEXT,
    operand: 'text',
    isLikePattern: true,
    description: 'matches the LIKE pattern, in any case',
  },
  _nilike: {
    families: TEXT,
    operand: 'text',
    isLikePattern: true,
    description: 'does not match the LIKE pattern, in any case',
  },
  _similar: {
    families: TEXT,
    operand: 'text',
    mayRaise: true,
    description: 'matches the SIMILAR TO pattern',
  },
  _nsimilar: {
    families: TEXT,
    operand: 'text',
    mayRaise: true,
    description: 'does not match the SIMILAR TO pattern',
  },
  _regex: { families: TEXT, operand: 'text', mayRaise: true, description: 'matches the regular expression' },
  _nregex: {
    families: TEXT,
    operand: 'text',
    mayRaise: true,
    description: 'does not match the regular expression',
  },
  _iregex: {
    families: TEXT,
    operand: 'text',
    mayRaise: true,
    description: 'matches the regular expression, in any case',
  },
  _niregex: {
    families: TEXT,
    operand: 'text',
    mayRaise: true,
    description: 'does not match the regular expression, in any case',
  },
  _contains: { families: CONTAINERS, needs: 'equality', operand: 'same', description: 'contains the value' },
  _contained_in: {
    families: CONTAINERS,
    needs: 'equality',
    operand: 'same',
    description: 'is contained in the value',
  },
  _has_key: { families: JSONB, operand: 'text', description: 'has the key at its top level' },
  _has_keys_any: { families: JSONB, operand: 'text-list', description: 'has one of the keys' },
  _has_keys_all: { families: JSONB, operand: 'text-list', description: 'has all of the keys' },
  _ancestor: { families: LTREE, operand: 'same', description: 'is the path or an ancestor of it' },
  _ancestor_any: {
    families: LTREE,
    operand: 'list',
    description: 'is one of the paths or an ancestor of one',
  },
  _descendant: { families: LTREE, operand: 'same', description: 'is the path or a descendant of it' },
  _descendant_any: {
    families: LTREE,
    operand: 'list',
    description: 'is one of the paths or a descendant of one',
  },
  _matches: { families: LTREE, operand: 'lquery', description: 'matches the lquery' },
  _matches_any: {
    families: LTREE,
    operand: 'lquery-list',
    mayRaise: true,
    description: 'matches one of the lqueries',
  },
  _matches_fulltext: { families: LTREE, operand: 'ltxtquery', description: 'matches the ltxtquery' },
  _st_contains: { families: GEOMETRY, operand: 'same', mayRaise: true, description: 'contains the geometry' },
  _st_crosses: { families: GEOMETRY, operand: 'same', mayRaise: true, description: 'crosses the geometry' },
  _st_equals: {
    families: GEOMETRY,
    operand: 'same',
    mayRaise: true,
    description: 'is the same shape, whatever its direction',
  },
  _st_overlaps: { families: GEOMETRY, operand: 'same', mayRaise: true, description: 'overlaps the geometry' },
  _st_touches: { families: GEOMETRY, operand: 'same', mayRaise: true, description: 'touches the geometry' },
  _st_within: {
    families: GEOMETRY,
    operand: 'same',
    mayRaise: true,
    description: 'lies within the geometry',
  },
  _st_intersects: {
    families: SPATIAL,
    operand: 'same',
    mayRaise: true,
    description: 'shares a point with the other',
  },
  _st_3d_intersects: {
    families: GEOMETRY,
    operand: 'same',
    mayRaise: true,
    description: 'shares a point in 3D space',
  },
  _st_d_within: {
    families: SPATIAL,
    operand: near,
    operandFor: { geography: nearOnEarth },
    mayRaise: true,
    description: 'lies within the distance from the geometry',
  },
  _st_3d_d_within: {
    families: GEOMETRY,
    operand: near,
    mayRaise: true,
    description: 'lies within the distance from the geometry in 3D space',
  },
  _st_intersects_rast: {
    families: RASTER,
    operand: 'same',
    mayRaise: true,
    description: 'shares a point with the raster',
  },
  _st_intersects_nband_geom: {
    families: RASTER,
    operand: bandAndGeometry,
    mayRaise: true,
    description: 'shares a point with the geometry in the band',
  },
  _st_intersects_geom_nband: {
    families: RASTER,
    operand: geometryAndBand,
    mayRaise: true,
    description: 'shares a point with the geometry, in the band or in any',
  },
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

/** Returns the operator of a key in a permission: `_eq`, `$eq`, or an alias such as `$ne`. */
export function operatorOfRule(key: string): OperatorName | undefined {
  return /^[_$]/.test(key) ? BY_RULE_NAME.get(key.slice(1)) : undefined;
}
