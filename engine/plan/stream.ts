/** `T_stream` → the next rows after a cursor, in its order. The cursor is a leaf: it starts at the value in the request, and
 *  after each batch the value of the last row replaces it. Every batch of a stream is therefore the same statement. A row
 *  without a value in the cursor's column is never returned. Raises `validationFailed` unless there is exactly one column. Not
 *  here: when batches are fetched (subscribe/stream.ts). Reference: docs/reference/behaviour/subscriptions.md. */
import { baseType } from '../catalog/types.ts';
import { fail, withPath } from '../errors/engine-error.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { comparison, type Leaf, visibleIfOf } from '../resolve/predicate.ts';
import { filtered } from '../resolve/row-barrier.ts';
import { inputOrigin } from '../schema/origin.ts';
import { readArguments } from './arguments.ts';
import { columnRef } from './bool-exp.ts';
import type { PlanContext, SelectedNodes } from './context.ts';
import { countOf } from './count.ts';
import { type Input, itemsOf, leafOf } from './input.ts';
import type { Select } from './query-types.ts';
import { objectTypeOf, planRowArguments, planSelection } from './table.ts';

export function planStream(
  table: ResolvedTable,
  at: SelectedNodes,
  context: PlanContext,
): { readonly select: Select; readonly cursor: Leaf } {
  const given = readArguments(at, context);
  const { names } = table.naming;
  const { column, initial, direction } = withPath('args', () =>
    cursorOf(itemsOf(given.get('cursor')), names.initial_value),
  );
  const type = baseType(column.type);
  const rowArguments = withPath('args', () => planRowArguments(table, given, context));
  const batchSize = withPath('args', () => countOf(given.get(names.batch_size), context));
  const right = { kind: 'stream-cursor', initial: leafOf(initial, type), type } as const;
  const isAfter = comparison(columnRef(column), direction === 'asc' ? '_gt' : '_lt', right);
  const nulls = direction === 'asc' ? 'last' : 'first';
  const select: Select = {
    ...planSelection(table, objectTypeOf(at.field), at.nodes, context),
    where: filtered(rowArguments.where, isAfter),
    orderBy: [{ path: [], column: column.name, direction, nulls, ...visibleIfOf(column) }],
    limit: Math.min(Number(batchSize), rowArguments.limit ?? Number.MAX_SAFE_INTEGER),
    withTies: true,
  };
  return { select, cursor: right };
}

type Cursor = {
  readonly column: ResolvedColumn;
  readonly initial: Input;
  readonly direction: 'asc' | 'desc';
};

function cursorOf(items: readonly Input[], initialValue: string): Cursor {
  const cursors = items.flatMap((item): Cursor[] => {
    if (item.kind !== 'object') return [];
    const ordering = item.fields.get('ordering');
    const direction = ordering?.kind === 'enum' && ordering.value === 'desc' ? 'desc' : 'asc';
    const values = item.fields.get(initialValue);
    if (values?.kind !== 'object') return [];
    return [...values.fields].flatMap(([name, initial]) => {
      const origin = inputOrigin(values.type.getFields()[name]!);
      return origin.kind === 'column' ? [{ column: origin.column, initial, direction }] : [];
    });
  });
  const [only, another] = cursors;
  if (another) fail('validationFailed', { text: 'multiple column cursors are not supported yet' });
  if (!only) return fail('validationFailed', { text: 'one streaming column field is expected' });
  return only;
}
