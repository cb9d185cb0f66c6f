/** `insert`, `update` and `delete` of the admin API → the rows to write, by column name, within the role's permissions, and
 *  the returned columns the role may read. Presets, checks and row filters are those of a mutation. In: unvalidated arguments,
 *  a table, the role. Not here: reading (row-selection.ts); related rows, because an object has only columns. Spec: "Errors",
 *  InsertPermission; docs/reference/behaviour/endpoints.md. */
import { columnValueProblem } from '../catalog/column-value.ts';
import { scalarOf } from '../catalog/scalars.ts';
import { baseType, type PgType } from '../catalog/types.ts';
import { fail, withPath } from '../errors/engine-error.ts';
import { printQualified } from '../metadata/schema/common.ts';
import { accessOf, readAccess } from '../resolve/access.ts';
import { checkEnumValue } from '../resolve/enum.ts';
import type { InsertAccess, UpdateAccess } from '../resolve/model/access.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { type Leaf, type LeafValue, TRUE } from '../resolve/predicate.ts';
import { filtered } from '../resolve/row-barrier.ts';
import { presetAssignments } from './assignment.ts';
import { checkedBy } from './insert.ts';
import { piecesOf } from './insert-pieces.ts';
import { returnedRows } from './mutation.ts';
import type {
  Assignment,
  Delete,
  Insert,
  MutationField,
  MutationOutput,
  MutationRoot,
  OnConflict,
  Update,
} from './mutation-types.ts';
import { planColumns, planWhere, type Reader } from './row-selection.ts';
import { textOf } from './scalar-value.ts';

type Objects = readonly Readonly<Record<string, unknown>>[];

type InsertRequest = {
  readonly objects: Objects;
  readonly on_conflict?: ConflictClause | null;
  readonly returning?: readonly unknown[];
};

type ConflictClause = {
  readonly constraint?: string;
  readonly constraint_on?: readonly string[];
  readonly action: 'ignore' | 'update';
};

type Values = Readonly<Record<string, unknown>>;

type UpdateRequest = {
  readonly where: unknown;
  readonly $set?: Values;
  readonly $inc?: Values;
  readonly $mul?: Values;
  readonly $default?: readonly string[];
  readonly returning?: readonly unknown[];
};

type DeleteRequest = Pick<UpdateRequest, 'where' | 'returning'>;

/** The role that writes; a permission may be `backend_only`. */
export type Writer = Reader & { readonly mayUseBackendOnly: boolean };

export function planRowsInsert(table: ResolvedTable, request: InsertRequest, writer: Writer): MutationRoot {
  const access = permitted('insert', table, accessOf(table, writer.role).insert, writer);
  const output = outputOf(table, request.returning, writer);
  if (request.objects.length === 0) fail('noObjects', {}, { path: ['objects'] });
  const given = withPath('objects', () => givenColumns(table, request.objects, access, writer));
  const columns = [...table.columnByName.values()].filter(
    ({ name }) => access.presets.has(name) || given.has(name),
  );
  const onConflict = request.on_conflict
    ? withPath('on_conflict', () => planConflict(table, request.on_conflict!, [...given], writer))
    : null;
  const insert: Insert = {
    kind: 'insert',
    table: table.table,
    columns: columns.map(({ name, type }) => ({ column: name, type })),
    rows: request.objects.map((object, i) =>
      withPath('objects', () =>
        withPath(i, () =>
          columns.map((column) => access.presets.get(column.name) ?? valueIn(object, column)),
        ),
      ),
    ),
    ...checkedBy(access.check, { table, onConflict }),
  };
  const [first, ...more] = piecesOf(insert);
  if (more.length === 0) return { action: first!, output };
  const steps = [first!, ...more].map((piece) => ({
    insert: piece,
    keeps: [],
    isAnswered: true,
    unlessInserted: null,
    path: [],
  }));
  return { action: { kind: 'nested-insert', table: table.table, steps }, output };
}

export function planRowsUpdate(table: ResolvedTable, request: UpdateRequest, writer: Writer): MutationRoot {
  const access = permitted('update', table, accessOf(table, writer.role).update, writer);
  const assigned = [
    ...assignmentsOf('$set', 'set', request.$set, { table, access, writer }),
    ...assignmentsOf('$inc', 'increment', request.$inc, { table, access, writer }),
    ...assignmentsOf('$mul', 'multiply', request.$mul, { table, access, writer }),
    ...defaultsOf(request.$default ?? [], { table, access, writer }),
  ];
  const output = outputOf(table, request.returning, writer);
  const taken = new Set(assigned.map(({ column }) => column));
  const set = [...assigned, ...presetAssignments(table, access, taken)];
  if (set.length === 0) fail('nothingToUpdate', {});
  if (taken.size < assigned.length) {
    fail('unexpectedPayload', { text: 'a column is written by one operator alone' });
  }
  const where = filtered(access.filter, planWhere(table, request.where, writer));
  const update: Update = { kind: 'update', table: table.table, set, where, check: access.check };
  return { action: update, output };
}

export function planRowsDelete(table: ResolvedTable, request: DeleteRequest, writer: Writer): MutationRoot {
  const access = permitted('delete', table, accessOf(table, writer.role).delete, writer);
  const output = outputOf(table, request.returning, writer);
  const where = filtered(access.filter, planWhere(table, request.where, writer));
  const action: Delete = { kind: 'delete', table: table.table, where };
  return { action, output };
}

type Permission = { readonly backendOnly: boolean; readonly validation?: unknown };

/** Returns the role's permission. Raises `operationNotPermitted`, also for a permission with input validation: its webhook
 *  needs GraphQL arguments. */
function permitted<A extends Permission>(
  type: 'insert' | 'update' | 'delete',
  { table }: ResolvedTable,
  access: A | null,
  { role, mayUseBackendOnly }: Writer,
): A {
  if (!access || (access.backendOnly && !mayUseBackendOnly)) {
    return fail('operationNotPermitted', { type, table: table.name, role });
  }
  if (access.validation) {
    fail('notSupported', {
      text: `role "${role}" has its input validated by a webhook: use a GraphQL mutation`,
    });
  }
  return access;
}

/** Returns the columns that any object sets. Raises `columnNotPermitted`, and `notSupported` for a preset. */
function givenColumns(
  table: ResolvedTable,
  objects: Objects,
  { columns, presets }: InsertAccess,
  { role }: Writer,
): ReadonlySet<string> {
  for (const [i, object] of objects.entries()) {
    withPath(i, () => {
      for (const name of Object.keys(object)) {
        const column = writtenColumn(table, name);
        if (presets.has(name)) refusePreset(name, 'insertable', role);
        if (!columns.has(name)) fail('columnNotPermitted', { type: 'insert', column: column.name, role });
      }
    });
  }
  return new Set(objects.flatMap((object) => Object.keys(object)));
}

function refusePreset(name: string, verb: 'insertable' | 'updatable', role: string): never {
  const text = `column "${name}" is not ${verb} for role "${role}"; its value is predefined in permission`;
  return fail('notSupported', { text });
}

/** Returns a column to write. Raises `columnExpected` and `noSuchColumn`. */
function writtenColumn(table: ResolvedTable, name: string): ResolvedColumn {
  if (table.relationships.has(name)) fail('columnExpected', { name });
  return table.columnByName.get(name) ?? fail('noSuchColumn', { name });
}

function valueIn(object: Values, column: ResolvedColumn): Leaf | 'default' {
  return Object.hasOwn(object, column.name) ? leafOf(object[column.name], column) : 'default';
}

/** Returns the leaf of a value. Its text never names a session variable. */
function leafOf(value: unknown, column: ResolvedColumn, type: PgType = column.type): Leaf {
  return withPath(column.name, () => {
    checkEnumValue(column, value, null);
    const problem = value === null ? null : columnValueProblem(value, scalarOf(column.type));
    if (problem) fail('parseFailed', { text: problem });
    return { kind: 'constant', value: textOf(value, type) as LeafValue, type };
  });
}

function planConflict(
  table: ResolvedTable,
  { constraint, constraint_on: on, action }: ConflictClause,
  given: readonly string[],
  writer: Writer,
): OnConflict {
  if (constraint !== undefined && on !== undefined) fail('conflictTargetTwice', {});
  const target: OnConflict['target'] =
    constraint !== undefined
      ? { kind: 'constraint', name: constraint }
      : on !== undefined
        ? { kind: 'columns', columns: withPath('constraint_on', () => on.map(targetColumn(table))) }
        : { kind: 'any' };
  if (
    constraint !== undefined &&
    ![...table.uniqueKeys, ...table.conflictIndexes].some(({ name }) => name === constraint)
  ) {
    const about = { constraint, table: printQualified(table.table) };
    fail('constraintNotExists', about, { path: ['constraint'] });
  }
  if (action === 'ignore') return { target, updateColumns: [], presets: [], where: TRUE };
  if (target.kind === 'any') fail('conflictTargetMissing', {});
  const access = accessOf(table, writer.role).update;
  if (!access || (access.backendOnly && !writer.mayUseBackendOnly)) {
    return fail('upsertNotPermitted', { role: writer.role });
  }
  if (access.validation) permitted('update', table, access, writer);
  const updateColumns = given.filter((name) => access.columns.has(name));
  return {
    target,
    check: access.check,
    updateColumns,
    presets: updateColumns.length > 0 ? presetAssignments(table, access, new Set(updateColumns)) : [],
    where: access.filter,
  };
}

/** Returns a function that finds a column by name and position. Raises `columnNotExists`. */
function targetColumn(table: ResolvedTable): (name: string, i: number) => string {
  return (name, i) =>
    withPath(i, () => {
      if (table.relationships.has(name)) fail('columnExpected', { name });
      return table.columnByName.get(name)?.name ?? fail('columnNotExists', { name });
    });
}

type Updated = {
  readonly table: ResolvedTable;
  readonly access: UpdateAccess;
  readonly writer: Writer;
};

function assignmentsOf(
  operator: '$set' | '$inc' | '$mul',
  kind: 'set' | 'increment' | 'multiply',
  values: Values | undefined,
  updated: Updated,
): readonly Assignment[] {
  return withPath(operator, () =>
    Object.entries(values ?? {}).map(([name, value]): Assignment => {
      const column = updatedColumn(name, updated);
      const operand = kind === 'set' ? column.type : baseType(column.type);
      return { kind, column: column.name, type: column.type, value: leafOf(value, column, operand) };
    }),
  );
}

function defaultsOf(names: readonly string[], updated: Updated): readonly Assignment[] {
  return withPath('$default', () =>
    names.map((name): Assignment => {
      const { type } = updatedColumn(name, updated);
      return { kind: 'default', column: name, type };
    }),
  );
}

function updatedColumn(name: string, { table, access, writer }: Updated): ResolvedColumn {
  const column = writtenColumn(table, name);
  const { role } = writer;
  if (access.presets.has(name)) refusePreset(name, 'updatable', role);
  if (!access.columns.has(name)) fail('columnNotPermitted', { type: 'update', column: name, role });
  return column;
}

/** Plans `{affected_rows, returning}`; `returning` only when it is requested. */
function outputOf(
  table: ResolvedTable,
  returning: readonly unknown[] | undefined,
  writer: Writer,
): MutationOutput {
  const affected: MutationField = { kind: 'affected-rows', alias: 'affected_rows' };
  if (!returning || returning.length === 0) return { kind: 'response', fields: [affected] };
  const select = {
    table: table.table,
    fields: withPath('returning', () => planColumns(table, returning, writer)),
    where: returnedRows(writer.model, readAccess(table, writer.role).filter),
    orderBy: [],
    distinctOn: [],
    limit: null,
    offset: null,
  };
  return { kind: 'response', fields: [affected, { kind: 'returning', alias: 'returning', select }] };
}
