/** One SQL template per row of OPERATORS; a row without a template does not compile. In: the column, its type, and the
 *  operand, which is several arguments for some rows of OPERATORS. Operators and functions of an extension are qualified with
 *  the extension's schema, which may not be on the search path. PostgreSQL manual, "Functions and Operators". */

import type { OperatorName } from '../catalog/operators.ts';
import { operatorSchema } from '../catalog/operators.ts';
import { isOfExtension } from '../catalog/scalars.ts';
import type { PgType } from '../catalog/types.ts';
import { type Fragment, id, qualified, sql } from './fragment.ts';

/** `other` is the type of the operand where it may differ from the type of the column: that of another column. */
type Template = (left: Fragment, right: Fragment, type: PgType, other?: PgType) => Fragment;

/** Returns a comparison by the operator of a schema; null means a bare operator. */
export function compared(left: Fragment, symbol: Fragment, right: Fragment, schema: string | null): Fragment {
  return schema === null
    ? sql`${left} ${symbol} ${right}`
    : sql`${left} operator(${id(schema)}.${symbol}) ${right}`;
}

export const EQUALS = sql`=`;

/** Builds a template from an operator's symbol. */
const infix =
  (symbol: Fragment): Template =>
  (l, r, type, other) =>
    compared(l, symbol, r, operatorSchema(type, other));

/** Builds a template that compares with any value, or with all values, of an array. */
const infixAny =
  (symbol: Fragment): Template =>
  (l, r, type) =>
    infix(symbol)(l, sql`any(${r})`, type);

const infixAll =
  (symbol: Fragment): Template =>
  (l, r, type) =>
    infix(symbol)(l, sql`all(${r})`, type);

/** Builds a template for LIKE. citext has its own operators for it, which ignore case. PostgreSQL manual, "LIKE" and "citext". */
const like =
  (keyword: Fragment, symbol: Fragment): Template =>
  (l, r, type) =>
    isOfExtension(type) ? infix(symbol)(l, r, type) : sql`${l} ${keyword} ${r}`;

/** Builds a template for SIMILAR TO. Postgres replaces it by the bare operator `~`, and citext has its own. */
const similar =
  (keyword: Fragment, symbol: Fragment): Template =>
  (l, r, type) =>
    isOfExtension(type)
      ? infix(symbol)(l, sql`pg_catalog.similar_to_escape(${r})`, type)
      : sql`${l} ${keyword} ${r}`;

/** Builds a template that calls a function of PostGIS. */
const call =
  (name: string): Template =>
  (l, r, type) =>
    sql`${qualified({ schema: schemaOf(type), name })}(${l}, ${r})`;

const schemaOf = (type: PgType): string => (type.base ?? type).schema;

/** Types that have `=` but not `<>`. */
const WITHOUT_UNEQUAL = ['line', 'box', 'path', 'geometry', 'geography', 'raster'];
const hasUnequal = (type: PgType): boolean => !WITHOUT_UNEQUAL.includes((type.base ?? type).name);

export const OPERATOR_TEMPLATES: Readonly<Record<OperatorName, Template>> = {
  _eq: infix(sql`=`),
  _neq: (l, r, type, other) =>
    hasUnequal(type) ? infix(sql`<>`)(l, r, type, other) : sql`not (${infix(sql`=`)(l, r, type, other)})`,
  _gt: infix(sql`>`),
  _gte: infix(sql`>=`),
  _lt: infix(sql`<`),
  _lte: infix(sql`<=`),
  _in: infixAny(sql`=`),
  _nin: (l, r, type) =>
    hasUnequal(type) ? infixAll(sql`<>`)(l, r, type) : sql`not (${infixAny(sql`=`)(l, r, type)})`,
  _is_null: (l, r) => sql`(${l} is null) = ${r}`,
  _like: like(sql`like`, sql`~~`),
  _nlike: like(sql`not like`, sql`!~~`),
  _ilike: (l, r) => sql`${l} ilike ${r}`,
  _nilike: (l, r) => sql`${l} not ilike ${r}`,
  _similar: similar(sql`similar to`, sql`~`),
  _nsimilar: similar(sql`not similar to`, sql`!~`),
  _regex: infix(sql`~`),
  _nregex: infix(sql`!~`),
  _iregex: infix(sql`~*`),
  _niregex: infix(sql`!~*`),
  _contains: (l, r) => sql`${l} @> ${r}`,
  _contained_in: (l, r) => sql`${l} <@ ${r}`,
  _has_key: (l, r) => sql`${l} ? ${r}`,
  _has_keys_any: (l, r) => sql`${l} ?| ${r}`,
  _has_keys_all: (l, r) => sql`${l} ?& ${r}`,
  _ancestor: infix(sql`@>`),
  _ancestor_any: infixAny(sql`@>`),
  _descendant: infix(sql`<@`),
  _descendant_any: infixAny(sql`<@`),
  _matches: infix(sql`~`),
  _matches_any: infix(sql`?`),
  _matches_fulltext: infix(sql`@`),
  _st_contains: call('st_contains'),
  _st_crosses: call('st_crosses'),
  _st_equals: call('st_equals'),
  _st_overlaps: call('st_overlaps'),
  _st_touches: call('st_touches'),
  _st_within: call('st_within'),
  _st_intersects: call('st_intersects'),
  _st_3d_intersects: call('st_3dintersects'),
  _st_d_within: call('st_dwithin'),
  _st_3d_d_within: call('st_3ddwithin'),
  _st_intersects_rast: call('st_intersects'),
  _st_intersects_nband_geom: call('st_intersects'),
  _st_intersects_geom_nband: call('st_intersects'),
};
