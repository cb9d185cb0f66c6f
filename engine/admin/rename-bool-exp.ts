/** A permission's boolean expression after columns and tables got new names. Pure.
 *  The expression is raw metadata: a key is a column, a relationship or a connective, told apart by the relationships of the
 *  table it is about. Not here: the rest of the document (follow-renames.ts), what the expression means (resolve/). */
import { isRecord } from '../json/value.ts';
import type { BoolExp, QualifiedName } from '../metadata/schema/common.ts';

/** New names for the objects of one source; whatever has no new name is returned as it is. Names given are the old ones. */
export type Renames = {
  readonly source: string;
  readonly table: (table: QualifiedName) => QualifiedName;
  readonly column: (table: QualifiedName, column: string) => string;
  /** The table at the other end of a relationship; undefined when there is no such relationship. */
  readonly target: (table: QualifiedName, relationship: string) => QualifiedName | undefined;
};

/** `_ceq` and friends compare with another column; the value names it. */
const COLUMN_OPERATOR = /^[_$]c(eq|ne|neq|gt|lt|gte|lte)$/;

/** The expression is about `table`; a column operand `["$", c]` inside means a column of it however deep it stands. */
export function renameInBoolExp(expression: BoolExp, table: QualifiedName, renames: Renames): BoolExp {
  return rename(expression, table, table, renames) as BoolExp;
}

function rename(expression: unknown, table: QualifiedName, root: QualifiedName, renames: Renames): unknown {
  if (Array.isArray(expression)) return expression.map((item) => rename(item, table, root, renames));
  if (!isRecord(expression)) return expression;
  return Object.fromEntries(
    Object.entries(expression).map(([key, value]) => renameEntry(key, value, table, root, renames)),
  );
}

function renameEntry(
  key: string,
  value: unknown,
  table: QualifiedName,
  root: QualifiedName,
  renames: Renames,
): [string, unknown] {
  if (/^[_$](and|or|not)$/.test(key)) return [key, rename(value, table, root, renames)];
  if (/^[_$]exists$/.test(key)) return [key, renameExists(value, root, renames)];
  const target = renames.target(table, key);
  if (target) return [key, rename(value, target, root, renames)];
  return [renames.column(table, key), renameOperators(value, table, root, renames)];
}

function renameExists(value: unknown, root: QualifiedName, renames: Renames): unknown {
  if (!isRecord(value)) return value;
  const table = qualifiedOf(value['_table']);
  if (!table) return value;
  return {
    ...value,
    _table: renames.table(table),
    ...('_where' in value ? { _where: rename(value['_where'], table, root, renames) } : {}),
  };
}

/** `{_eq: 1, _ceq: "other"}`, a list of such, or a bare value. */
function renameOperators(
  value: unknown,
  table: QualifiedName,
  root: QualifiedName,
  renames: Renames,
): unknown {
  if (Array.isArray(value)) return value.map((item) => renameOperators(item, table, root, renames));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([operator, operand]) => [
      operator,
      COLUMN_OPERATOR.test(operator) ? renameOperand(operand, table, root, renames) : operand,
    ]),
  );
}

function renameOperand(
  operand: unknown,
  table: QualifiedName,
  root: QualifiedName,
  renames: Renames,
): unknown {
  if (typeof operand === 'string') return renames.column(table, operand);
  if (!Array.isArray(operand)) return operand;
  const [first, second] = operand;
  if (typeof first === 'string' && first !== '$') return [renames.column(table, first)];
  return typeof second === 'string' ? [first, renames.column(root, second)] : operand;
}

function qualifiedOf(value: unknown): QualifiedName | undefined {
  if (typeof value === 'string') return { schema: 'public', name: value };
  if (!isRecord(value) || typeof value['name'] !== 'string') return undefined;
  return {
    schema: typeof value['schema'] === 'string' ? value['schema'] : 'public',
    name: value['name'],
  };
}
