/** Truth values of predicates over rows, as one statement that returns JSON. A row is a stored one, the same row after an update that is
 *  not executed, or a row that is not inserted. Nothing is written.
 *  In: the rows and the questions. Out: a statement for one text, a JSON list with `[[truth, …], [value, …], [key, …]]` for each row.
 *  Not here: running it (execute/row-truth.ts), the clauses (resolve/clause.ts), the values of a write (write.ts). Spec: BoolExp. */
import { operatorSchema } from '../catalog/operators.ts';
import { builtinType, type CatalogIndex } from '../catalog/types.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { Assignment, OnConflict } from '../plan/mutation-types.ts';
import type { ComparedValue } from '../resolve/clause.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { Leaf, Predicate } from '../resolve/predicate.ts';
import { allOf, condition, matches, valueOfRef, whereClause } from './bool-exp.ts';
import { fetchStatement } from './fetched.ts';
import {
  catalogued,
  comma,
  compile,
  empty,
  type Fragment,
  id,
  integer,
  join,
  param,
  qualified,
  type Statement,
  sql,
  typeName,
} from './fragment.ts';
import { compared, EQUALS } from './operators.ts';
import { Aliases, columnOf, type PredicateScope, rowScope } from './scope.ts';
import { assignedValue, conflictValues, EXCLUDED } from './write.ts';

type Typed = Pick<ResolvedColumn, 'name' | 'type'>;

/** The rows that questions are about. */
export type ProbedRows = {
  readonly table: QualifiedName;
  /** The columns in order. */
  readonly columns: readonly Typed[];
  /** The columns that identify a row: those of the primary key, or all columns. */
  readonly identity: readonly Typed[];
  /** True when `identity` is the primary key. */
  readonly isKey: boolean;
  /** The rows before the write; null for an insert. */
  readonly stored: StoredRows | null;
  readonly write: RowWrite | null;
};

/** The rows of the table: those whose columns have values, or print as texts; those that satisfy a condition, in the order of the primary
 *  key; those that conflict with a row to insert. */
export type StoredRows =
  | { readonly kind: 'key'; readonly values: ReadonlyMap<string, Leaf> }
  | { readonly kind: 'texts'; readonly texts: ReadonlyMap<string, Leaf> }
  | {
      readonly kind: 'where';
      readonly predicate: Predicate;
      readonly most: number;
    }
  | { readonly kind: 'conflict'; readonly on: ConflictKey };

/** The columns or the index on which rows conflict. */
export type ConflictKey =
  | { readonly kind: 'columns'; readonly columns: readonly string[]; readonly nullsConflict: boolean }
  | { readonly kind: 'index'; readonly index: CatalogIndex; readonly nullsConflict: boolean };

/** The values by column that an insert gives, that an update assigns, or that an upsert would insert. */
export type RowWrite =
  | { readonly kind: 'insert'; readonly values: ReadonlyMap<string, Leaf> }
  | { readonly kind: 'update'; readonly set: readonly Assignment[] }
  | {
      readonly kind: 'upsert';
      readonly values: ReadonlyMap<string, Leaf>;
      readonly conflict: Pick<OnConflict, 'updateColumns' | 'presets'>;
    };

export type TruthQuestion =
  | {
      /** The row before or after the write. */
      readonly of: 'before' | 'after';
      readonly predicate: Predicate;
      /** The value to return beside the truth. */
      readonly compared: ComparedValue | null;
    }
  /** A question whose answer is true, or the error of a value of the row to insert, or of one that an update assigns. */
  | { readonly of: 'inserted' | 'changed' };

/** The most characters of a value in the answer. */
const MOST_CHARACTERS = sql`200`;

/** The number of rows that tells whether a key belongs to more than one. */
const MORE_THAN_ONE = 2;

type RowAliases = { readonly before: string; readonly after: string; readonly aliases: Aliases };

export function truthStatement(rows: ProbedRows, questions: readonly TruthQuestion[]): Statement {
  const aliases = new Aliases();
  const scope = { before: aliases.next(), after: aliases.next(), aliases };
  const scopeOf = (of: 'before' | 'after') => rowScope(scope[of], aliases);
  const truths = questions.map((question) =>
    'predicate' in question
      ? sql`(${condition(question.predicate, scopeOf(question.of))})`
      : areComputed(rows, question.of, scope.after),
  );
  const values = questions.map((question) =>
    'predicate' in question ? comparedText(question.compared, scopeOf(question.of)) : sql`null`,
  );
  const keys = rows.stored
    ? rows.identity.map(({ name }) => sql`(${columnOf(scope.before, name)})::text`)
    : [];
  const answer = sql`json_build_array(${list(truths, sql`boolean`)}, ${list(values, sql`text`)}, ${list(keys, sql`text`)})`;
  const order = orderOf(rows, scope.before);
  return compile(sql`select json_agg(${answer}${order})::text from ${rowsOf(rows, scope)}`);
}

function list(items: readonly Fragment[], type: Fragment): Fragment {
  return sql`array[${join(items, comma)}]::${type}[]`;
}

function orderOf({ stored, identity, isKey }: ProbedRows, row: string): Fragment {
  const items = identity.map(({ name }) => columnOf(row, name));
  return stored?.kind === 'where' && isKey ? sql` order by ${join(items, comma)}` : empty;
}

/** Returns a condition that is true, and raises the error of a value that Postgres cannot compute. */
function areComputed({ write }: ProbedRows, which: 'inserted' | 'changed', after: string): Fragment {
  const row = which === 'inserted' && write?.kind === 'upsert' ? EXCLUDED : after;
  const values = writtenColumns(write, which).map((name) => columnOf(row, name));
  return sql`(row(${join(values, comma)})::text is not null)`;
}

function writtenColumns(write: RowWrite | null, which: 'inserted' | 'changed'): readonly string[] {
  if (write === null) return [];
  if (write.kind === 'update') return write.set.map(({ column }) => column);
  if (which === 'inserted' || write.kind === 'insert') return [...write.values.keys()];
  return conflictValues(write.conflict, '').map(([column]) => column);
}

/** Returns the stored row that the columns of `identity` have these texts in. */
export function onlyRow(
  { identity, isKey }: ProbedRows,
  texts: ReadonlyMap<string, string | null>,
): StoredRows {
  const leaves = new Map(
    identity.map(({ name, type }): [string, Leaf] => {
      const value = texts.get(name) ?? null;
      return [name, { kind: 'constant', value, type: isKey ? type : builtinType('text') }];
    }),
  );
  return isKey ? { kind: 'key', values: leaves } : { kind: 'texts', texts: leaves };
}

/** Returns the leaves that a predicate needs values for, also those of rows of other sources. */
export function leavesOf(predicate: Predicate): readonly Leaf[] {
  const scope = { row: 'row', root: 'row', aliases: new Aliases() };
  return compile(condition(predicate, scope)).parameters.flatMap(allLeaves);
}

function allLeaves(leaf: Leaf): readonly Leaf[] {
  if (leaf.kind === 'list') return leaf.items.flatMap(allLeaves);
  if (leaf.kind === 'fetched') return fetchStatement(leaf).parameters.flatMap(allLeaves);
  return [leaf];
}

function rowsOf(rows: ProbedRows, { before, after, aliases }: RowAliases): Fragment {
  const { table, stored, write } = rows;
  const inserted = write && write.kind !== 'update' ? write.values : null;
  const own = inserted
    ? newRow(rows, new Map([...inserted].map(([name, leaf]) => [name, param(leaf)])))
    : null;
  const found =
    stored &&
    sql`lateral (select * from ${qualified(table)} ${id(before)}${storedWhere(rows, before, aliases)}) ${id(before)}`;
  if (!found) return own ? sql`${own} ${id(after)}` : sql`(select) ${id(before)}`;
  if (!write || write.kind === 'insert') return sql`(select) ${id(aliases.next())} cross join ${found}`;
  const first =
    write.kind === 'upsert' ? sql`${own ?? empty} ${id(EXCLUDED)}` : sql`(select) ${id(aliases.next())}`;
  const values =
    write.kind === 'upsert'
      ? new Map(conflictValues(write.conflict, before))
      : new Map(write.set.map((given) => [given.column, assignedValue(given, before)]));
  const changed = newRow(rows, values, before);
  return sql`${first} cross join ${found} cross join lateral ${changed} ${id(after)}`;
}

/** Returns the row with some values; the others are those of the row `from`, or null. A value has the type of its column. */
function newRow(
  { columns }: ProbedRows,
  values: ReadonlyMap<string, Fragment>,
  from: string | null = null,
): Fragment {
  const all = columns.map(({ name, type }) => {
    const given = values.get(name);
    const value = given
      ? sql`(${given})::${typeName(type)}`
      : from === null
        ? sql`null::${typeName(type)}`
        : columnOf(from, name);
    return sql`${value} as ${id(name)}`;
  });
  return sql`(select ${join(all, comma)})`;
}

function storedWhere(rows: ProbedRows, row: string, aliases: Aliases): Fragment {
  const { stored, columns } = rows;
  const limited = (where: readonly Fragment[], most = MORE_THAN_ONE) =>
    sql`${whereClause(where)} limit ${integer(most)}`;
  switch (stored?.kind) {
    case undefined:
      return empty;
    case 'key':
      return limited(
        [...stored.values].map(([name, leaf]) =>
          compared(columnOf(row, name), EQUALS, param(leaf), operatorSchema(leaf.type)),
        ),
      );
    case 'texts':
      return limited(
        [...stored.texts].map(
          ([name, leaf]) => sql`(${columnOf(row, name)})::text is not distinct from ${param(leaf)}`,
        ),
        1,
      );
    case 'where': {
      const where = whereClause([condition(stored.predicate, rowScope(row, aliases))]);
      return sql`${where}${orderOf(rows, row)} limit ${integer(stored.most)}`;
    }
    case 'conflict':
      return limited([conflictsOn(stored.on, columns, row)]);
    default:
      return stored satisfies never;
  }
}

/** Returns the condition that a stored row conflicts with the row to insert. */
function conflictsOn(on: ConflictKey, columns: readonly Typed[], row: string): Fragment {
  // Records are compared by the equality of their members' types, wherever its operator is; nulls in them are equal. No index is used.
  const isElsewhere = columns.some(({ type }) => operatorSchema(type) !== null);
  const equal = (own: Fragment, other: Fragment) => {
    if (!isElsewhere) {
      return on.nullsConflict ? sql`${own} is not distinct from ${other}` : sql`${own} = ${other}`;
    }
    const isEqual = sql`row(${own})::record = row(${other})::record`;
    return on.nullsConflict ? isEqual : sql`(${own} is not null and ${isEqual})`;
  };
  if (on.kind === 'columns') {
    return allOf(on.columns.map((name) => equal(columnOf(row, name), columnOf(EXCLUDED, name))));
  }
  const { on: items, where } = on.index;
  // The text of an index names columns without a table: it is evaluated where they belong to one row.
  const keysOf = (from: string, as: string) => {
    const own = columns.map(({ name }) => sql`${columnOf(from, name)} as ${id(name)}`);
    const keys = items.map((item, i) => sql`(${catalogued(item)}) as ${id(`k${i}`)}`);
    const rows = whereClause(where === null ? [] : [catalogued(where)]);
    return sql`(select ${join(keys, comma)} from (select ${join(own, comma)}) ${id('r')}${rows}) ${id(as)}`;
  };
  const equals = items.map((_, i) => equal(columnOf('o', `k${i}`), columnOf('n', `k${i}`)));
  return sql`exists (select 1 from ${keysOf(row, 'o')}, ${keysOf(EXCLUDED, 'n')} where ${allOf(equals)})`;
}

function comparedText(compared: ComparedValue | null, scope: PredicateScope): Fragment {
  if (!compared) return sql`null`;
  const text = (inner: PredicateScope) =>
    sql`left((${valueOfRef(compared.left, inner)})::text, ${MOST_CHARACTERS})`;
  return atEnd(compared.joins, scope, text);
}

/** Returns the value at the end of joins that lead to at most one row; null when there is none. */
function atEnd(
  [first, ...rest]: ComparedValue['joins'],
  scope: PredicateScope,
  value: (scope: PredicateScope) => Fragment,
): Fragment {
  if (!first) return value(scope);
  const row = scope.aliases.next();
  const inner = atEnd(rest, { ...scope, row }, value);
  return sql`(select ${inner} from ${qualified(first.table)} ${id(row)} where ${matches(first, scope.row, row)} limit 1)`;
}
