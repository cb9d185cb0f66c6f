/** Predicate → SQL condition on one row. Out: a fragment for `where`, `on` or `and`; it is never empty (`true` when
 *  unrestricted). Relationships become `exists`, or joins where there is a FROM clause and one row is related. Conditions on aggregates
 *  compare a value over related rows or over the rows of a group. Not here: which filters apply (plan/table.ts). Spec: BoolExp. */
import { own as ownMember } from '../metadata/own.ts';
import { conjuncts } from '../resolve/own-part.ts';
import {
  type AggregateRef,
  and,
  type ColumnRef,
  type Join,
  type Operand,
  type Predicate,
  TRUE,
} from '../resolve/predicate.ts';
import { split } from '../resolve/row-barrier.ts';
import { comma, empty, type Fragment, id, join, param, sql, typeName } from './fragment.ts';
import { functionCall } from './function.ts';
import { nativeRows } from './native-query.ts';
import { compared, EQUALS, OPERATOR_TEMPLATES } from './operators.ts';
import { type Aliases, columnOf, type PredicateScope, rowScope } from './scope.ts';

export function condition(predicate: Predicate, scope: PredicateScope): Fragment {
  switch (predicate.kind) {
    case 'true':
      return sql`true`;
    case 'false':
      return scope.aliases.form === 'plain' ? sql`false` : never(scope.row);
    case 'and':
      return join(
        predicate.all.map((p) => nested(p, scope)),
        sql` and `,
      );
    case 'or':
      return sql`(${join(
        predicate.any.map((p) => nested(p, scope)),
        sql` or `,
      )})`;
    case 'not':
      return sql`not (${condition(predicate.not, scope)})`;
    case 'compare':
      return OPERATOR_TEMPLATES[predicate.operator](
        valueOfRef(predicate.left, scope),
        operand(predicate.right, scope),
        predicate.left.type,
        predicate.right.kind === 'column' ? predicate.right.type : undefined,
      );
    case 'is-null': {
      const column = valueOfRef(predicate.left, scope);
      return predicate.isNull ? sql`${column} is null` : sql`${column} is not null`;
    }
    case 'related': {
      const row = scope.aliases.next({ mapping: predicate.join.mapping, outer: scope.row });
      scope.aliases.test(row);
      const { joins, conditions } = reachedByJoins(predicate, { ...scope, row });
      const where = allOf([matches(predicate.join, scope.row, row), ...conditions]);
      const source = joinedSource(predicate.join, scope.row, row, scope.aliases, ...conditionsOn(predicate));
      return sql`exists (select 1 from ${source} ${id(row)}${join(joins, empty)} where ${where})`;
    }
    case 'called': {
      const row = scope.aliases.next();
      const where = allOf(reached(predicate, { ...scope, row }));
      return sql`exists (select 1 from ${functionCall(predicate.call, scope.row, scope.aliases)} ${id(row)} where ${where})`;
    }
    case 'barrier': {
      const { filter, where } = predicate;
      return behind(condition(filter, rowScope(scope.row, scope.aliases)), condition(where, scope));
    }
    case 'exists': {
      const row = scope.aliases.next();
      // An aggregate may be about the condition, which then has to be about its row.
      const anchor = scope.aliases.isAnchored ? [sql`(${id(scope.row)} is null) is not null`] : [];
      const where = allOf([...anchor, condition(predicate.where, { ...scope, row })]);
      const source = scope.aliases.source({
        table: predicate.table,
        row,
        where: predicate.where,
        join: null,
      });
      return sql`exists (select 1 from ${source} ${id(row)} where ${where})`;
    }
    default:
      return predicate satisfies never;
  }
}

/** Returns a condition on a row that never holds. Citus cannot plan an outer join beside a condition without columns. */
export function never(row: string): Fragment {
  return sql`(${id(row)} is null) is null`;
}

/** Returns a condition that is evaluated only where `filter` holds. Postgres evaluates the arms of a CASE after its condition,
 *  unlike the members of an AND: PostgreSQL manual, "Expression Evaluation Rules". */
export function behind(filter: Fragment, where: Fragment): Fragment {
  return sql`case when ${filter} then ${where} end`;
}

/** A condition as joins and conditions over all joined rows. */
type Joined = { readonly joins: readonly Fragment[]; readonly conditions: readonly Fragment[] };

/** Returns a condition with inner joins in place of the members that are about a single related row. The joins neither add rows nor
 *  remove any that satisfy the condition. Postgres can begin at either side of a join, and look each related row up once; it plans an
 *  `exists` over several tables only as a whole. */
export function joined(predicate: Predicate, scope: PredicateScope): Joined {
  return together(membersOf(predicate, scope, (each) => joinedMember(each, scope), only));
}

/** Returns a member of a conjunction as joins and conditions. */
function joinedMember(predicate: Predicate, scope: PredicateScope): Joined {
  if (predicate.kind === 'and') return joined(predicate, scope);
  if (predicate.kind !== 'related' || !predicate.join.isUnique || predicate.join.from) {
    return only(condition(predicate, scope));
  }
  const { join: on } = predicate;
  const row = scope.aliases.next({ mapping: on.mapping, outer: scope.row });
  const { joins, conditions } = joinedOn(predicate, { ...scope, row });
  const source = joinedSource(on, scope.row, row, scope.aliases, ...conditionsOn(predicate));
  return {
    joins: [sql` join ${source} ${id(row)} on ${matches(on, scope.row, row)}`, ...joins],
    conditions,
  };
}

/** Returns the conditions on reached rows, with joins. */
function joinedOn({ where, filter = TRUE }: Reached, scope: PredicateScope): Joined {
  const { safe, barrier } = behindFilter(where, filter, scope);
  const inner = together([joined(safe, scope), joined(filter, rowScope(scope.row, scope.aliases))]);
  return { joins: inner.joins, conditions: [...inner.conditions, ...barrier] };
}

/** Returns the conditions of an `exists` on reached rows. A cluster plans one inside of another better than joins. */
function reachedByJoins(predicate: Reached, scope: PredicateScope): Joined {
  if (scope.aliases.form === 'plain') return joinedOn(predicate, scope);
  return { joins: [], conditions: reached(predicate, scope) };
}

function only(fragment: Fragment): Joined {
  return { joins: [], conditions: [fragment] };
}

function together(parts: readonly Joined[]): Joined {
  return {
    joins: parts.flatMap(({ joins }) => joins),
    conditions: parts.flatMap(({ conditions }) => conditions),
  };
}

/** Conditions on rows reached from another row: the request's condition and the role's filter. */
type Reached = { readonly where: Predicate; readonly filter?: Predicate };

/** Returns the conditions on reached rows; `scope` is the scope of the request's condition. */
function reached({ where, filter = TRUE }: Reached, scope: PredicateScope): readonly Fragment[] {
  const { safe, barrier } = behindFilter(where, filter, scope);
  return [filtered(safe, scope), filtered(filter, rowScope(scope.row, scope.aliases)), ...barrier];
}

/** Returns the part of the request's condition that cannot raise an error, and the rest, which is evaluated only on rows that pass the
 *  filter. */
function behindFilter(
  where: Predicate,
  filter: Predicate,
  scope: PredicateScope,
): { readonly safe: Predicate; readonly barrier: readonly Fragment[] } {
  const { safe, unsafe } = filter.kind === 'true' ? { safe: where, unsafe: TRUE } : split(where);
  if (unsafe.kind === 'true') return { safe, barrier: [] };
  const own = condition(filter, rowScope(scope.row, scope.aliases));
  return { safe, barrier: [behind(own, condition(unsafe, scope))] };
}

function conditionsOn({ where, filter = TRUE }: Reached): readonly Predicate[] {
  return [filter, where];
}

/** Returns the source of the rows that a join leads to; `conditions` are those of the query on them. */
export function joinedSource(
  { table, from, mapping }: Join,
  outer: string,
  row: string,
  aliases: Aliases,
  ...conditions: readonly Predicate[]
): Fragment {
  const where = and(...conditions);
  return aliases.source({
    table,
    row,
    where,
    join: { mapping, outer },
    ...(from ? { source: nativeRows(from), isNative: true } : {}),
  });
}

/** Returns the equality of a join's columns between two aliases. */
export function matches(on: Pick<Join, 'mapping'>, local: string, remote: string): Fragment {
  return join(
    on.mapping.map(([l, r, schema = null]) =>
      compared(columnOf(remote, r), EQUALS, columnOf(local, l), schema),
    ),
    sql` and `,
  );
}

/** Joins conditions by `and` and omits those that are always true; `true` when none remains. */
export function allOf(conditions: readonly Fragment[]): Fragment {
  const real = conditions.filter((c) => !isTrue(c));
  return real.length === 0 ? sql`true` : join(real, sql` and `);
}

export function isTrue(fragment: Fragment): boolean {
  const [only, ...rest] = fragment.parts;
  return rest.length === 0 && only?.kind === 'syntax' && only.text === 'true';
}

/** Returns ` where …`, or nothing when every row qualifies. */
export function whereClause(conditions: readonly Fragment[]): Fragment {
  const all = allOf(conditions);
  return isTrue(all) ? sql`` : sql` where ${all}`;
}

/** Returns the value of a column, the result of a computed field's function, or an aggregate. */
export function valueOfRef(ref: Omit<ColumnRef, 'type'>, scope: PredicateScope): Fragment {
  const { column, call, aggregate, cast, visibleIf } = ref;
  const { row, aliases } = scope;
  const own = aggregate
    ? aggregateValue(aggregate, scope)
    : call
      ? functionCall(call, row, aliases)
      : columnOf(row, column);
  const value = visibleOrNull(own, visibleIf, row, aliases);
  return cast ? sql`${value}::${typeName(cast)}` : value;
}

/** Returns the value, or null in rows where the role does not see it. Postgres does not evaluate the value there: PostgreSQL
 *  manual, "Conditional Expressions". */
export function visibleOrNull(
  value: Fragment,
  visibleIf: Predicate | undefined,
  row: string,
  aliases: Aliases,
): Fragment {
  if (!visibleIf) return value;
  return sql`case when ${condition(visibleIf, rowScope(row, aliases))} then ${value} end`;
}

/** Returns a whole condition of WHERE or ON. */
export function filtered(predicate: Predicate, scope: PredicateScope): Fragment {
  if (scope.aliases.form === 'plain') return condition(predicate, scope);
  return allOf(conjunctsForCluster(predicate, scope));
}

/** Returns the members of a conjunction as conditions for a cluster. */
export function conjunctsForCluster(predicate: Predicate, scope: PredicateScope): readonly Fragment[] {
  const one = (each: Predicate) => condition(each, scope);
  return clusterMembers(predicate, scope, one, (fragment) => fragment);
}

function membersOf<T>(
  predicate: Predicate,
  scope: PredicateScope,
  member: (each: Predicate) => T,
  wrap: (fragment: Fragment) => T,
): readonly T[] {
  if (scope.aliases.form !== 'plain') return clusterMembers(predicate, scope, member, wrap);
  return predicate.kind === 'and' ? predicate.all.map(member) : [member(predicate)];
}

/** Returns the members of a conjunction. A column has at most one value that Postgres sees as such, and not another one than the column outside
 *  that it equals: from two values Postgres derives a condition without columns, and Citus can plan no outer join beside that on Postgres 15
 *  and 16. The same value at both levels sends the query of a tenant to one shard. */
function clusterMembers<T>(
  predicate: Predicate,
  scope: PredicateScope,
  member: (each: Predicate) => T,
  wrap: (fragment: Fragment) => T,
): readonly T[] {
  // The values are noted first, because the subqueries of other members look them up.
  const derived = noteValues(predicate, scope);
  return conjuncts(predicate).map((each) =>
    derived.has(each) ? wrap(sql`(${condition(each, scope)}) is true`) : member(each),
  );
}

/** Notes the values that the members of a conjunction give to columns of the row, those of the session first, because rules have them at every
 *  level. Returns the members whose value Postgres must not see. */
export function noteValues(predicate: Predicate, { row, aliases }: PredicateScope): ReadonlySet<Predicate> {
  const members = conjuncts(predicate).map((member) => ({ member, values: valuesOf(member) }));
  const isOfSession = ({ values }: (typeof members)[number]) =>
    values.every(({ right }) => right.kind === 'session');
  const ordered = [...members.filter(isOfSession), ...members.filter((each) => !isOfSession(each))];
  const derived = ordered.filter(({ values }) =>
    values.some(({ left, right }) => !aliases.fixes(row, left.column, JSON.stringify(right))),
  );
  return new Set(derived.map(({ member }) => member));
}

/** Returns the values that a condition gives to columns of the row. Postgres takes out of a disjunction what all its members have. */
function valuesOf(predicate: Predicate): readonly ValueOfColumn[] {
  if (isValue(predicate)) return [predicate];
  if (predicate.kind !== 'or') return [];
  const [first = [], ...others] = predicate.any.map((member) => conjuncts(member).flatMap(valuesOf));
  return first.filter((value) =>
    others.every((values) => values.some((each) => JSON.stringify(each) === JSON.stringify(value))),
  );
}

type ValueOfColumn = Extract<Predicate, { readonly kind: 'compare' }>;

/** True for a condition that gives a column of the row one value. */
function isValue(each: Predicate): each is ValueOfColumn {
  if (each.kind !== 'compare' || each.operator !== '_eq' || each.right.kind === 'column') return false;
  return !each.left.call && !each.left.aggregate && !each.left.visibleIf;
}

function nested(predicate: Predicate, scope: PredicateScope): Fragment {
  return predicate.kind === 'and' ? sql`(${condition(predicate, scope)})` : condition(predicate, scope);
}

function operand(value: Operand, scope: PredicateScope): Fragment {
  if (value.kind === 'arguments') return join(value.values.map(param), comma);
  if (value.kind !== 'column') return param(value);
  return columnOf(value.scope === 'root' ? scope.root : scope.row, value.column);
}

/** The functions of AGGREGATE_PREDICATES; none of their names needs quotes. */
const AGGREGATE_CALLS: Readonly<Record<AggregateRef['fn'], Fragment>> = {
  avg: sql`avg`,
  bool_and: sql`bool_and`,
  bool_or: sql`bool_or`,
  corr: sql`corr`,
  count: sql`count`,
  covar_samp: sql`covar_samp`,
  max: sql`max`,
  min: sql`min`,
  stddev_samp: sql`stddev_samp`,
  sum: sql`sum`,
  var_samp: sql`var_samp`,
};

/** Returns the aggregate that a condition compares, over related rows or over the rows of a group. */
function aggregateValue(ref: AggregateRef, scope: PredicateScope): Fragment {
  if (ref.join === null) {
    const where = condition(ref.where, scope);
    return isTrue(where)
      ? aggregateCall(ref, scope)
      : sql`${aggregateCall(ref, scope)} filter (where ${where})`;
  }
  const row = scope.aliases.next({ mapping: ref.join.mapping, outer: scope.row });
  scope.aliases.test(row);
  const where = whereClause([matches(ref.join, scope.row, row), ...reached(ref, { ...scope, row })]);
  const source = joinedSource(ref.join, scope.row, row, scope.aliases, ...conditionsOn(ref));
  return sql`(select ${aggregateCall(ref, { ...scope, row })} from ${source} ${id(row)}${where})`;
}

function aggregateCall(
  { fn, columns, isDistinct, visibleIf }: AggregateRef,
  { row, aliases }: PredicateScope,
): Fragment {
  const values = columns.map((column) =>
    visibleOrNull(columnOf(row, column), ownMember(visibleIf, column), row, aliases),
  );
  const [first] = values;
  if (!first) return sql`count(*)`;
  // `count` takes several columns as one value; the two columns of a statistical function are separate arguments.
  const isOne = fn === 'count' && values.length > 1;
  const given = isOne ? sql`(${join(values, comma)})` : join(values, comma);
  return isDistinct ? sql`${AGGREGATE_CALLS[fn]}(distinct ${given})` : sql`${AGGREGATE_CALLS[fn]}(${given})`;
}
