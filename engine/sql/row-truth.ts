/** Truth values of predicates over one row, as one statement that returns JSON. The row is the one with a key, the same row after an
 *  update that is not executed, or a row that is not inserted. Nothing is written.
 *  In: the row and the questions. Out: a statement for one text, a JSON list with `[[truth, …], [value, …]]` for each row, at most two.
 *  Not here: running it (execute/row-truth.ts), the clauses (resolve/clause.ts). Spec: BoolExp. */
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { ComparedValue } from '../resolve/clause.ts';
import type { Leaf, Predicate } from '../resolve/predicate.ts';
import type { ResolvedColumn } from '../resolve/types.ts';
import { condition, matches, valueOfRef } from './bool-exp.ts';
import { fetchStatement } from './fetched.ts';
import {
  comma,
  compile,
  type Fragment,
  id,
  join,
  param,
  qualified,
  type Statement,
  sql,
  typeName,
} from './fragment.ts';
import { Aliases, columnOf, type PredicateScope } from './scope.ts';

/** The row that questions are about: that with the key, and that of a write. */
export type ProbedRow = {
  readonly table: QualifiedName;
  /** The columns in order. */
  readonly columns: readonly Pick<ResolvedColumn, 'name' | 'type'>[];
  /** The values of the key; null for an insert. */
  readonly key: ReadonlyMap<string, Leaf> | null;
  /** The values that the write gives, by column; null when nothing is written. */
  readonly written: ReadonlyMap<string, Leaf> | null;
};

export type TruthQuestion = {
  /** The row before or after the write. */
  readonly of: 'before' | 'after';
  readonly predicate: Predicate;
  /** The value to return beside the truth. */
  readonly compared: ComparedValue | null;
};

/** The most characters of a value in the answer. */
const MOST_CHARACTERS = sql`200`;

export function truthStatement(row: ProbedRow, questions: readonly TruthQuestion[]): Statement {
  const aliases = new Aliases();
  const [before, after] = [aliases.next(), aliases.next()];
  const scopeOf = ({ of }: TruthQuestion): PredicateScope => {
    const alias = of === 'before' ? before : after;
    return { row: alias, root: alias, aliases };
  };
  const truths = questions.map((question) => sql`(${condition(question.predicate, scopeOf(question))})`);
  const values = questions.map((question) => comparedText(question.compared, scopeOf(question)));
  const answer = sql`json_build_array(array[${join(truths, comma)}]::boolean[], array[${join(values, comma)}]::text[])`;
  return compile(sql`select json_agg(${answer})::text from ${rowsOf(row, before, after)}`);
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

function rowsOf({ table, columns, key, written }: ProbedRow, before: string, after: string): Fragment {
  const found =
    key && sql`(select * from ${qualified(table)} ${id(before)}${keyed(key, before)} limit 2) ${id(before)}`;
  if (!written) return found ?? sql`(select) ${id(before)}`;
  const values = columns.map(({ name, type }) => {
    const leaf = written.get(name);
    const value = leaf ? param(leaf) : found ? columnOf(before, name) : sql`null::${typeName(type)}`;
    return sql`${value} as ${id(name)}`;
  });
  const after_ = sql`(select ${join(values, comma)}) ${id(after)}`;
  return found ? sql`${found} cross join lateral ${after_}` : after_;
}

function keyed(key: ReadonlyMap<string, Leaf>, row: string): Fragment {
  const equal = [...key].map(([name, leaf]) => sql`${columnOf(row, name)} = ${param(leaf)}`);
  return sql` where ${join(equal, sql` and `)}`;
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
