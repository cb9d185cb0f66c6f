/** A permission's boolean expression after columns and tables were renamed. Pure.
 *  The expression is raw metadata: a key is a column, a relationship or a connective, which the relationships of its table decide. Not
 *  here: the rest of the document (follow-renames.ts), the meaning of the expression (resolve/). */
import { isRecord } from '../json/value.ts';
import { qualifiedOf } from '../metadata/dependencies.ts';
import type { BoolExp, QualifiedName } from '../metadata/schema/common.ts';

/** The new names in one source, by old name. A name that has not changed maps to itself. */
export type Renames = {
  readonly source: string;
  readonly table: (table: QualifiedName) => QualifiedName;
  readonly column: (table: QualifiedName, column: string) => string;
  /** The table at the other end of a relationship; undefined when there is no such relationship. */
  readonly target: (table: QualifiedName, relationship: string) => QualifiedName | undefined;
};

/** Operators such as `_ceq` compare with another column, which their value names. */
const COLUMN_OPERATOR = /^[_$]c(eq|ne|neq|gt|lt|gte|lte)$/;

/** Renames in an expression over `table`. In a column operand `["$", c]`, however deep, `c` is a column of that table. */
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

/** Renames in the operators of a column: `{_eq: 1, _ceq: "other"}`, a list of such, or a bare value. */
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
