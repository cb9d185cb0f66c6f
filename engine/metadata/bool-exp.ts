/** The grammar of boolean expressions as JSON, and the names in them: columns, relationships, computed fields and tables.
 *  A key is a connective or a field of a table; the caller says which fields a table has (`NameWalk.fieldOf`). Pure, total on any JSON.
 *  Not here: the condition that is executed (resolve/bool-exp.ts), comparing filters (access/filter.ts).
 *  Spec: BoolExp; grammar: docs/reference/behaviour/operators.md. */
import { isRecord, type JsonRecord } from '../json/value.ts';
import type { QualifiedName } from './schema/common.ts';
import type { FieldKind, MemberKind, NameKind, QualifiedKind } from './schema/marks.ts';
import { mapEntries, mapItems } from './walk-marks.ts';

/** The rows that a name belongs to. The table is null for rows of no table, and undefined when it is not known. */
export type SourceRows = { readonly source: string; readonly table: QualifiedName | null | undefined };
export type SourceTable = { readonly source: string; readonly table: QualifiedName };

/** A name, and where it belongs. `unknown` is a key of an expression over a table that is not known. */
export type Name = { readonly isOwn: boolean; readonly source: string } & (
  | { readonly kind: QualifiedKind; readonly name: QualifiedName }
  | { readonly kind: MemberKind; readonly table: QualifiedName; readonly name: string }
  | { readonly kind: Exclude<NameKind, QualifiedKind | MemberKind> | 'unknown'; readonly name: string }
);

/** A field of a table that an expression follows. `target` is undefined when only a database knows it, or the field has one value. */
export type FollowedField = { readonly kind: FieldKind; readonly target: SourceTable | undefined };

/** A walk over names. */
export type NameWalk = {
  /** Returns the relationship or computed field of a table; undefined for a column. */
  readonly fieldOf: (source: string, table: QualifiedName, name: string) => FollowedField | undefined;
  /** Returns the name that replaces a name; undefined to keep it. */
  readonly rename: (name: Name) => string | QualifiedName | undefined;
};

/** Returns a map from both spellings of an operator, `_name` and `$name`. */
function spelled<T>(operators: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(
    ['_', '$'].flatMap((sign) => Object.entries(operators).map(([name, to]) => [sign + name, to])),
  );
}

type Connective = 'and' | 'or' | 'not' | 'exists';
const CONNECTIVES = spelled<Connective>({ and: 'and', or: 'or', not: 'not', exists: 'exists' });

/** Returns the connective of a key, `_and` or `$and`; undefined for the name of a field. */
export function connectiveOf(key: string): Connective | undefined {
  return CONNECTIVES.get(key);
}

/** The operators that compare two columns, without their `_` or `$`, and the comparisons that they make. */
export const COLUMN_OPERATORS = {
  ceq: '_eq',
  cne: '_neq',
  cneq: '_neq',
  cgt: '_gt',
  cgte: '_gte',
  clt: '_lt',
  clte: '_lte',
} as const;
type Comparison = (typeof COLUMN_OPERATORS)[keyof typeof COLUMN_OPERATORS];
const COMPARISONS = spelled<Comparison>(COLUMN_OPERATORS);

/** Returns the comparison that an operator makes with another column; undefined for an operator that compares with a value. */
export function columnOperatorOf(key: string): Comparison | undefined {
  return COMPARISONS.get(key);
}

/** Returns the column that an operand names: `column` or `[column]` in the same row, `["$", column]` in the row of the permission. */
export function operandColumn(
  operand: unknown,
): { readonly name: string; readonly isRoot: boolean } | undefined {
  const list = Array.isArray(operand) ? operand : [operand];
  const isRoot = Array.isArray(operand) && list.length === 2 && list[0] === '$';
  const name: unknown = list.at(-1);
  return typeof name === 'string' && (isRoot || list.length === 1) ? { name, isRoot } : undefined;
}

/** Returns a table as an expression names it. Expressions are kept as written, so it may be a bare name. */
export function qualifiedOf(value: unknown): QualifiedName | undefined {
  if (typeof value === 'string') return { schema: 'public', name: value };
  if (!isRecord(value) || typeof value['name'] !== 'string') return undefined;
  const { name, schema } = value;
  return { schema: typeof schema === 'string' ? schema : 'public', name };
}

/** Renames in an expression over rows; in the operand `["$", c]`, `c` is a column of `root`. An expression without a renamed
 *  name is returned itself. */
export function walkBoolExp(
  expression: unknown,
  rows: SourceRows,
  walk: NameWalk,
  root: SourceRows = rows,
): unknown {
  if (Array.isArray(expression)) {
    return mapItems(expression, (item) => walkBoolExp(item, rows, walk, root));
  }
  if (!isRecord(expression)) return expression;
  return mapEntries(expression, (key, value) => walkEntry(key, value, { rows, root }, walk));
}

type At = { readonly rows: SourceRows; readonly root: SourceRows };

function walkEntry(key: string, value: unknown, at: At, walk: NameWalk): readonly [string, unknown] {
  const { rows, root } = at;
  const connective = connectiveOf(key);
  if (connective === 'exists') return [key, walkExists(value, at, walk)];
  if (connective !== undefined) return [key, walkBoolExp(value, rows, walk, root)];
  const { source, table } = rows;
  if (table === null) return [key, value];
  if (table === undefined) {
    return [
      renamed({ kind: 'unknown', isOwn: false, source, name: key }, walk),
      walkBoolExp(value, rows, walk, root),
    ];
  }
  const field = walk.fieldOf(source, table, key);
  const name = renamed({ kind: field?.kind ?? 'column', isOwn: false, source, table, name: key }, walk);
  if (field?.kind === 'remote_relationship') {
    // Rows of another source are read by columns of their own table only.
    const target = field.target ?? { source, table: undefined };
    return [name, walkBoolExp(value, target, { ...walk, fieldOf: () => undefined })];
  }
  if (field?.target) return [name, walkBoolExp(value, field.target, walk, root)];
  return [name, walkOperators(value, at, walk, field !== undefined)];
}

function walkExists(value: unknown, { rows, root }: At, walk: NameWalk): unknown {
  const table = isRecord(value) ? qualifiedOf(value['_table']) : undefined;
  if (!table) return value;
  const { source } = rows;
  return mapEntries(value as JsonRecord, (key, item) => {
    if (key === '_table')
      return [key, walk.rename({ kind: 'table', isOwn: false, source, name: table }) ?? item];
    return [key, key === '_where' ? walkBoolExp(item, { source, table }, walk, root) : item];
  });
}

/** Renames in the operators of a value: `{_eq: 1, _ceq: "other"}`, a list of such, or a bare value. A computed field may return rows of a
 *  table that is not known. */
function walkOperators(value: unknown, at: At, walk: NameWalk, mayLead: boolean): unknown {
  if (Array.isArray(value)) return mapItems(value, (item) => walkOperators(item, at, walk, mayLead));
  if (!isRecord(value)) return value;
  const behind = { ...at, rows: { ...at.rows, table: undefined } };
  return mapEntries(value, (operator, operand) => {
    if (columnOperatorOf(operator)) return [operator, walkOperand(operand, at, walk)];
    return mayLead ? walkEntry(operator, operand, behind, walk) : [operator, operand];
  });
}

function walkOperand(operand: unknown, { rows, root }: At, walk: NameWalk): unknown {
  const column = operandColumn(operand);
  const { source, table } = column?.isRoot ? root : rows;
  if (!column || !table) return operand;
  const name = renamed({ kind: 'column', isOwn: false, source, table, name: column.name }, walk);
  if (name === column.name) return operand;
  if (column.isRoot) return ['$', name];
  return Array.isArray(operand) ? [name] : name;
}

/** Returns the new name of a name that is a text. */
export function renamed(name: Extract<Name, { readonly name: string }>, walk: NameWalk): string {
  const next = walk.rename(name);
  return typeof next === 'string' ? next : name.name;
}
