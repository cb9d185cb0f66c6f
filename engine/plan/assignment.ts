/** Assignments of an update: the operators among its arguments, and the role's presets. Raises `validationFailed` for a column
 *  that appears in two operators. Not here: the rows (update.ts). Reference: docs/reference/behaviour/mutations.md. */
import { arrayOf, baseType, builtinType, type PgType } from '../catalog/types.ts';
import { fail } from '../errors/engine-error.ts';
import type { UpdateAccess } from '../resolve/model/access.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import type { Leaf } from '../resolve/predicate.ts';
import { inputOrigin } from '../schema/origin.ts';
import { type Input, leafOf } from './input.ts';
import type { Assignment } from './mutation-types.ts';

const KINDS: Readonly<
  Record<string, { kind: Exclude<Assignment['kind'], 'default'>; type: (own: PgType) => PgType }>
> = {
  _set: { kind: 'set', type: (own) => own },
  _inc: { kind: 'increment', type: baseType },
  _append: { kind: 'append', type: baseType },
  _prepend: { kind: 'prepend', type: baseType },
  _delete_key: { kind: 'delete-key', type: () => builtinType('text') },
  _delete_elem: { kind: 'delete-element', type: () => builtinType('int4') },
  _delete_at_path: { kind: 'delete-at-path', type: () => arrayOf(builtinType('text')) },
};

/** Returns the assignment of an operator to a column. The operator has its name in the default naming convention; `operandOf` returns its
 *  operand as a value of a type. */
export function assignmentOf(
  operator: string,
  column: ResolvedColumn,
  operandOf: (type: PgType) => Leaf,
): Assignment {
  const { kind, type } = KINDS[operator]!;
  return { kind, column: column.name, type: column.type, value: operandOf(type(column.type)) };
}

/** Returns the assignments of one operator, given by its name in the default naming convention. */
export function assignments(operator: string, input: Extract<Input, { kind: 'object' }>): Assignment[] {
  return [...input.fields].map(([name, value]) => {
    const origin = inputOrigin(input.type.getFields()[name]!);
    if (origin.kind !== 'column') throw new Error(`${name} is no column`);
    return assignmentOf(operator, origin.column, (type) => leafOf(value, type));
  });
}

export function refuseRepeated(assigned: readonly Assignment[]): void {
  const names = assigned.map(({ column }) => column);
  const repeated = [...new Set(names.filter((name, i) => names.indexOf(name) !== i))];
  if (repeated.length === 0) return;
  const list = repeated.map((name) => `'${name}'`).join(', ');
  fail('validationFailed', { text: `Column found in multiple operators: [${list}].` });
}

/** Returns the role's presets as assignments, except for columns in `taken`. */
export function presetAssignments(
  table: ResolvedTable,
  access: UpdateAccess,
  taken: ReadonlySet<string>,
): Assignment[] {
  return [...access.presets].flatMap(([column, value]) => {
    const type = table.columnByName.get(column)?.type;
    return type && !taken.has(column) ? [{ kind: 'set' as const, column, type, value }] : [];
  });
}
