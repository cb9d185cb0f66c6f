/** One SQL template per OPERATORS row; a row without one does not compile.
 *  In: the column and the operand, both finished fragments. PostgreSQL manual, "Functions and Operators". */
import type { OperatorName } from '../catalog/operators.ts';
import { type Fragment, sql } from './fragment.ts';

type Template = (left: Fragment, right: Fragment) => Fragment;

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
};
