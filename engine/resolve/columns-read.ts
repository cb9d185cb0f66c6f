/** The columns of a row that a predicate over it reads. In: Predicate. Out: their names, or all of them when a function takes the row.
 *  Not here: columns of related rows. */
import type { CallArgument, ColumnRef, Operand, Predicate } from './predicate.ts';

/** Returns the names of the columns that the predicate reads of its own row; null when it may read every column. */
export function columnsRead(predicate: Predicate): ReadonlySet<string> | null {
  const read: string[] = [];
  return collect(predicate, true, read) ? new Set(read) : null;
}

/** Adds columns to `read`. `isOwn` is false inside conditions on other rows, where only `["$", column]` is a column of the row. Returns
 *  false when every column may be read. */
function collect(predicate: Predicate, isOwn: boolean, read: string[]): boolean {
  switch (predicate.kind) {
    case 'true':
    case 'false':
      return true;
    case 'and':
      return predicate.all.every((part) => collect(part, isOwn, read));
    case 'or':
      return predicate.any.every((part) => collect(part, isOwn, read));
    case 'not':
      return collect(predicate.not, isOwn, read);
    case 'compare':
      return ofValue(predicate.left, isOwn, read) && ofOperand(predicate.right, isOwn, read);
    case 'is-null':
      return ofValue(predicate.left, isOwn, read);
    case 'related':
      if (isOwn) read.push(...predicate.join.mapping.map(([local]) => local));
      return collect(predicate.where, false, read);
    case 'called':
      return !(isOwn && predicate.call.arguments.some(isRow)) && collect(predicate.where, false, read);
    case 'exists':
      return collect(predicate.where, false, read);
    case 'barrier':
      return collect(predicate.filter, isOwn, read) && collect(predicate.where, isOwn, read);
    default:
      return predicate satisfies never;
  }
}

function ofValue(left: ColumnRef, isOwn: boolean, read: string[]): boolean {
  if (!isOwn) return true;
  if (left.call || left.aggregate) return false;
  read.push(left.column);
  const { visibleIf } = left;
  return !visibleIf || collect(visibleIf, isOwn, read);
}

function ofOperand(operand: Operand, isOwn: boolean, read: string[]): boolean {
  if (operand.kind === 'column' && (isOwn || operand.scope === 'root')) read.push(operand.column);
  return true;
}

function isRow({ value }: CallArgument): boolean {
  return value.kind === 'row';
}
