/** `select` of the admin API → Select: columns by name, `*`, relationships with columns of their own, conditions, an order, a
 *  limit. As in GraphQL, columns the role may not read are refused and rows it may not read are left out. In: unvalidated
 *  arguments, a table, the role. Not here: writing (row-writes.ts), the grammar of conditions (resolve/bool-exp.ts). Spec:
 *  "Errors"; docs/reference/behaviour/endpoints.md. */
import { fail, withPath } from '../errors/engine-error.ts';
import { nearestNumber } from '../json/number.ts';
import { isRecord, nameOfJson } from '../json/value.ts';
import { accessOf, readAccess, rootAccess, targetOf } from '../resolve/access.ts';
import { resolveBoolExp } from '../resolve/bool-exp.ts';
import { callBeside } from '../resolve/function-call.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedComputedField } from '../resolve/model/function.ts';
import type { Model } from '../resolve/model/model.ts';
import type { ResolvedRelationship } from '../resolve/model/relationship.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { type Predicate, TRUE, visibleIfOf } from '../resolve/predicate.ts';
import { filtered } from '../resolve/row-barrier.ts';
import type { Field, OrderItem, Select } from './query-types.ts';
import { MOST_LEVELS } from './reach.ts';
import type { SelectionSize } from './selection-size.ts';
import { printedAs } from './table.ts';

/** The role of a request, its model, the size of its selection so far, and the number of relationships from the root. */
export type Reader = {
  readonly model: Model;
  readonly role: string;
  readonly size: SelectionSize;
  readonly level: number;
};

/** The arguments of `select`, and of each relationship among `columns`. */
type SelectRequest = {
  readonly columns: readonly unknown[];
  readonly where?: unknown;
  readonly order_by?: unknown;
  readonly limit?: unknown;
  readonly offset?: unknown;
};

const WINDOW = ['where', 'order_by', 'limit', 'offset'] as const;

/** Returns a column the role may read. Raises `columnNotPermitted`, `columnExpected`, `columnNotExists`. */
export function readableColumn(table: ResolvedTable, name: string, reader: Reader): ResolvedColumn {
  if (table.relationships.has(name)) fail('columnExpected', { name });
  const column = table.columnByName.get(name) ?? fail('columnNotExists', { name });
  if (readAccess(table, reader.role).columns.has(name)) return column;
  return fail('columnNotPermitted', { type: 'select', column: name, role: reader.role });
}

/** Plans `select`. Raises `rootReadNotPermitted`. */
export function planRootSelect(table: ResolvedTable, request: SelectRequest, reader: Reader): Select {
  rootAccess(table, reader.role, 'select');
  return planSelect(table, request, reader);
}

/** Plans `select`, or the rows of a relationship. */
function planSelect(table: ResolvedTable, request: SelectRequest, reader: Reader): Select {
  const access = readAccess(table, reader.role);
  const limit = withPath('limit', () => countOf(request.limit));
  return {
    table: table.table,
    fields: withPath('columns', () => planColumns(table, request.columns, reader)),
    where: filtered(access.filter, planWhere(table, request.where, reader)),
    orderBy: withPath('order_by', () => planOrder(table, request, reader)),
    distinctOn: [],
    limit: limit === null ? access.limit : Math.min(limit, access.limit ?? limit),
    offset: withPath('offset', () => countOf(request.offset))?.toString() ?? null,
  };
}

/** Plans a condition; an absent one is `{}`. */
export function planWhere(table: ResolvedTable, where: unknown, { model, role }: Reader): Predicate {
  if (where === undefined || where === null) return TRUE;
  const { tables } = model.sources.get(table.source)!;
  const scope = { table, root: table, tables: { get: (key: string) => tables.get(key) }, reader: role };
  return withPath('where', () => resolveBoolExp(where, scope));
}

/** Plans columns, each once, under the first name it is requested by. Raises `empty`, `tooManyFields`, `tooDeep`. */
export function planColumns(
  table: ResolvedTable,
  columns: readonly unknown[],
  reader: Reader,
): readonly Field[] {
  if (columns.length === 0) fail('empty', {});
  const fields = columns.flatMap((column, i) => withPath(i, () => planColumn(table, column, reader)));
  reader.size.count(fields.length);
  return [...new Map(fields.toReversed().map((field) => [field.alias, field])).values()].toReversed();
}

const STARS = /^\*(\.\*)*$/;

function planColumn(table: ResolvedTable, column: unknown, reader: Reader): readonly Field[] {
  if (typeof column === 'string') {
    if (STARS.test(column)) return everything(table, (column.length + 1) / 2, reader);
    return [planNamed(table, column, reader)];
  }
  if (!isNamed(column)) {
    return fail('parseFailed', {
      text: 'parsing a column failed, expected its name or an object with `name`',
    });
  }
  return [planRelated(table, column, reader)];
}

/** Returns the fields of `*`, all the role may read in the row, and of `*.*`, also of the related rows. */
function everything(table: ResolvedTable, levels: number, reader: Reader): readonly Field[] {
  if (reader.level + levels > MOST_LEVELS) fail('tooDeep', {});
  const { columns } = readAccess(table, reader.role);
  const own = table.columns.filter(({ name }) => columns.has(name));
  const fields = own.map((column) => columnField(column, reader, table));
  if (levels === 1) return fields;
  const inner = Array.from({ length: levels - 1 }, () => '*').join('.');
  const related = [...table.relationships.values()].filter(({ join }) => {
    return accessOf(targetOf(reader.model, table.source, join.table), reader.role).select !== null;
  });
  return [
    ...fields,
    ...related.flatMap(({ name }) => planRelated(table, { name, columns: [inner] }, reader)),
  ];
}

function planNamed(table: ResolvedTable, name: string, reader: Reader): Field {
  if (table.relationships.has(name)) fail('relationshipNotExpanded', { name });
  const field = table.computedFields.get(name);
  if (!field) return columnField(readableColumn(table, name, reader), reader, table);
  const { computedFields } = readAccess(table, reader.role);
  if (computedFields && !computedFields.has(name)) {
    fail('columnNotPermitted', { type: 'select', column: name, role: reader.role });
  }
  return computedField(field, table, reader);
}

function columnField(column: ResolvedColumn, reader: Reader, table: ResolvedTable): Field {
  const printed = printedAs(column);
  const visibleIf = readAccess(table, reader.role).cells.columns.get(column.name);
  // Only GraphQL writes the values of an enum in capitals.
  const json = printed.json === 'capitals' ? 'quoted' : printed.json;
  return {
    kind: 'column',
    alias: column.name,
    column: column.name,
    ...printed,
    json,
    path: null,
    ...visibleIfOf({ visibleIf }),
  };
}

function computedField(field: ResolvedComputedField, table: ResolvedTable, reader: Reader): Field {
  const { name, returns } = field;
  const isPlain = field.arguments.every(({ kind, hasDefault }) => kind !== 'user' || hasDefault);
  if (returns.kind !== 'scalar' || !isPlain) {
    return fail('notSupported', {
      text: `computed field "${name}" is no column: it returns rows or takes arguments`,
    });
  }
  const visibleIf = readAccess(table, reader.role).cells.computedFields.get(name);
  const call = callBeside(field, table);
  const { type, json } = returns;
  return { kind: 'computed', alias: name, call, type, json, path: null, ...visibleIfOf({ visibleIf }) };
}

type Named = { readonly name: string; readonly alias?: unknown; readonly columns?: unknown } & Omit<
  SelectRequest,
  'columns'
>;

function isNamed(column: unknown): column is Named {
  return isRecord(column) && typeof column['name'] === 'string';
}

function planRelated(table: ResolvedTable, request: Named, reader: Reader): Field {
  const { name, alias = name, columns } = request;
  const relationship = relationshipOf(table, name);
  if (typeof alias !== 'string') fail('parseFailed', { text: 'an alias is a text' }, { path: ['alias'] });
  if (!Array.isArray(columns)) fail('parseFailed', { text: 'key "columns" not found' });
  const target = targetOf(reader.model, table.source, relationship.join.table);
  if (relationship.kind === 'object' && WINDOW.some((key) => request[key] !== undefined)) {
    fail('argumentsOnObjectRelationship', {});
  }
  const { join, kind } = relationship;
  const deeper = { ...reader, level: reader.level + 1 };
  if (deeper.level > MOST_LEVELS) fail('tooDeep', {});
  return { kind, alias, join, select: planSelect(target, { ...request, columns }, deeper) };
}

function relationshipOf(table: ResolvedTable, name: string): ResolvedRelationship {
  if (table.columnByName.has(name)) fail('columnChained', { name });
  return table.relationships.get(name) ?? fail('fieldNotExists', { name });
}

/** Plans an order: `+id`, `-id`, `{column, type, nulls}`, or a list of them; `author.name` is a column of a related row. */
function planOrder(table: ResolvedTable, request: SelectRequest, reader: Reader): readonly OrderItem[] {
  const { order_by: order } = request;
  if (order === undefined || order === null) return [];
  if (!Array.isArray(order)) return [planOrderItem(table, order, request, reader)];
  if (order.length === 0) fail('emptyOrderBy', {});
  return order.map((item, i) => withPath(i, () => planOrderItem(table, item, request, reader)));
}

type Direction = Pick<OrderItem, 'direction' | 'nulls'>;

function planOrderItem(
  table: ResolvedTable,
  item: unknown,
  request: SelectRequest,
  reader: Reader,
): OrderItem {
  const { column, ...direction } = typeof item === 'string' ? signed(item) : spelledOut(item);
  const names = column.split('.');
  const [first] = names;
  const isIncluded = request.columns.some((each) => isNamed(each) && each.name === first);
  // Rows may be ordered by related rows only if those are selected.
  if (names.length > 1 && table.relationships.has(first!) && !isIncluded)
    fail('columnNotIncluded', { name: first! });
  return { ...reached(table, names, reader), ...direction };
}

function signed(item: string): { readonly column: string } & Direction {
  const direction = item.startsWith('-') ? 'desc' : 'asc';
  return { column: item.replace(/^[+-]/, ''), direction, nulls: direction === 'asc' ? 'last' : 'first' };
}

function spelledOut(item: unknown): { readonly column: string } & Direction {
  const { column, type = 'asc', nulls } = isRecord(item) ? item : {};
  const direction = String(type).toLowerCase();
  if (typeof column !== 'string') return fail('parseFailed', { text: 'key "column" not found' });
  if (direction !== 'asc' && direction !== 'desc') {
    return fail('parseFailed', { text: 'expected asc or desc' }, { path: ['type'] });
  }
  const place = nulls ?? (direction === 'asc' ? 'last' : 'first');
  if (place !== 'first' && place !== 'last') {
    return fail('parseFailed', { text: 'expected first or last' }, { path: ['nulls'] });
  }
  return { column, direction, nulls: place };
}

function reached(
  table: ResolvedTable,
  [name, ...names]: readonly string[],
  reader: Reader,
): Pick<OrderItem, 'path' | 'column' | 'visibleIf'> {
  if (names.length === 0) {
    const column = readableColumn(table, name!, reader).name;
    const visibleIf = readAccess(table, reader.role).cells.columns.get(column);
    return { path: [], column, ...visibleIfOf({ visibleIf }) };
  }
  const { join, kind } = relationshipOf(table, name!);
  if (kind === 'array') fail('orderByArrayRelationship', { name: name! });
  const target = targetOf(reader.model, table.source, join.table);
  const { path, ...rest } = reached(target, names, reader);
  return { path: [{ join, filter: readAccess(target, reader.role).filter }, ...path], ...rest };
}

const MOST = 2 ** 31 - 1;

/** Returns a `limit` or `offset`; null when it is absent. */
function countOf(given: unknown): number | null {
  const value = nearestNumber(given);
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' || !Number.isInteger(value) || value > MOST) {
    const found = typeof value === 'number' ? `${value}` : nameOfJson(value);
    return fail('parseFailed', { text: `parsing Int failed, expected Number, but encountered ${found}` });
  }
  return value < 0 ? fail('notSupported', { text: 'unexpected negative value' }) : value;
}
