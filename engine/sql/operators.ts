/** One SQL template per OPERATORS row; a row without one does not compile.
 *  In: the column, its type, and the operand, which is several arguments where OPERATORS says so. What an
 *  extension brings is named with the extension's schema, which need not be on the search path. PostgreSQL manual, "Functions and Operators". */
import type { OperatorName } from '../catalog/operators.ts';
import type { PgType } from '../catalog/types.ts';
import { type Fragment, id, qualified, sql } from './fragment.ts';

type Template = (left: Fragment, right: Fragment, type: PgType) => Fragment;

/** A function of the extension that the column's type is from. */
const call =
  (name: string): Template =>
  (l, r, type) =>
    sql`${qualified({ schema: schemaOf(type), name })}(${l}, ${r})`;

/** An operator of the extension that the column's type is from. */
const infix =
  (symbol: Fragment): Template =>
  (l, r, type) =>
    sql`${l} operator(${id(schemaOf(type))}.${symbol}) ${r}`;

const infixAny =
  (symbol: Fragment): Template =>
  (l, r, type) =>
    infix(symbol)(l, sql`any(${r})`, type);

const schemaOf = (type: PgType): string => (type.base ?? type).schema;

export const OPERATOR_TEMPLATES: Readonly<Record<OperatorName, Template>> = {
  _eq: (l, r) => sql`${l} = ${r}`,
  _neq: (l, r) => sql`${l} <> ${r}`,
  _gt: (l, r) => sql`${l} > ${r}`,
  _gte: (l, r) => sql`${l} >= ${r}`,
  _lt: (l, r) => sql`${l} < ${r}`,
  _lte: (l, r) => sql`${l} <= ${r}`,
  _in: (l, r) => sql`${l} = any(${r})`,
  _nin: (l, r) => sql`${l} <> all(${r})`,
  _is_null: (l, r) => sql`(${l} is null) = ${r}`,
  _like: (l, r) => sql`${l} like ${r}`,
  _nlike: (l, r) => sql`${l} not like ${r}`,
  _ilike: (l, r) => sql`${l} ilike ${r}`,
  _nilike: (l, r) => sql`${l} not ilike ${r}`,
  _similar: (l, r) => sql`${l} similar to ${r}`,
  _nsimilar: (l, r) => sql`${l} not similar to ${r}`,
  _regex: (l, r) => sql`${l} ~ ${r}`,
  _nregex: (l, r) => sql`${l} !~ ${r}`,
  _iregex: (l, r) => sql`${l} ~* ${r}`,
  _niregex: (l, r) => sql`${l} !~* ${r}`,
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
