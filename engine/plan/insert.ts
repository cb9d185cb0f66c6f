/** Objects to insert → one insert or, when an object holds related objects, the steps of a nested insert. The order is the
 *  reference's: object by object; first the rows an object refers to, then its own row, then the rows that refer to it.
 *  Presets take precedence, so no relationship changes them. Raises `validationFailed` when a column would get two values.
 *  Reference: docs/reference/behaviour/mutations.md; spec: InsertPermission. */
import { fail, type PathStep, withPath } from '../errors/engine-error.ts';
import { printQualified } from '../metadata/schema/common.ts';
import type { UpdateAccess } from '../resolve/model/access.ts';
import type { ResolvedRelationship } from '../resolve/model/relationship.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { and, type Leaf, type Predicate, TRUE } from '../resolve/predicate.ts';
import { filtered } from '../resolve/row-barrier.ts';
import { NO_COLUMN } from '../schema/insert.ts';
import { inputOrigin } from '../schema/origin.ts';
import { columnsOf } from './aggregate.ts';
import { presetAssignments } from './assignment.ts';
import { planBoolExp } from './bool-exp.ts';
import { notPermitted, type PlanContext } from './context.ts';
import { type Arguments, fieldsOf, type Input, itemsOf, leafOf } from './input.ts';
import { piecesOf } from './insert-pieces.ts';
import type { Insert, InsertStep, NestedInsert, OnConflict } from './mutation-types.ts';
import { refuseConflict } from './on-cluster.ts';
import { OBJECT_WEIGHT } from './selection-size.ts';

/** The objects to insert into one table, as the client wrote them. */
type Batch = {
  readonly table: ResolvedTable;
  readonly rows: readonly Row[];
  readonly onConflict: OnConflict | null;
};

type Row = {
  /** The values by SQL name of their column. */
  readonly values: ReadonlyMap<string, Input>;
  readonly related: readonly Related[];
};

type Related = {
  readonly relationship: ResolvedRelationship;
  readonly batch: Batch;
};

/** Values of columns that come from related rows, by SQL name. */
type Determined = ReadonlyMap<string, Leaf>;
const NOTHING: Determined = new Map();

export function planInsert(
  table: ResolvedTable,
  argument: 'object' | 'objects',
  given: Arguments,
  context: PlanContext,
): Insert | NestedInsert {
  const batch = batchOf(table, argument, given, context);
  const steps = new Steps(context);
  if (batch.rows.every(isFlat)) {
    const insert = insertOf(batch, batch.rows, NOTHING, context);
    const pieces = piecesOf(insert);
    if (pieces.length === 1) return insert;
    steps.addFlat(pieces, [], true);
  } else withPath(argument, () => steps.addEach(batch, NOTHING, [], true));
  return { kind: 'nested-insert', table: table.table, steps: steps.done };
}

/** Reads the objects in `member`. */
function batchOf(table: ResolvedTable, member: string, given: Arguments, context: PlanContext): Batch {
  const { on_conflict } = table.naming.names;
  const conflict = given.get(on_conflict);
  return {
    table,
    rows: withPath(member, () => rowsOf(given.get(member), context)),
    onConflict:
      conflict?.kind === 'object'
        ? withPath(on_conflict, () => planOnConflict(table, conflict.fields, context))
        : null,
  };
}

function rowsOf(objects: Input | undefined, context: PlanContext): readonly Row[] {
  if (objects?.kind !== 'list') return itemsOf(objects).map((object) => rowOf(object, context));
  return objects.items.map((object, i) => withPath(i, () => rowOf(object, context)));
}

function rowOf(object: Input, context: PlanContext): Row {
  const values = new Map<string, Input>();
  const related: Related[] = [];
  if (object.kind !== 'object') return { values, related };
  context.inputs.count(OBJECT_WEIGHT + object.fields.size);
  const known = object.type.getFields();
  for (const [name, value] of object.fields) {
    const origin = inputOrigin(known[name]!);
    if (origin.kind === 'column') values.set(origin.column.name, value);
    else if (origin.kind === 'relationship') {
      const { relationship, target } = origin;
      const batch = withPath(name, () => batchOf(target, 'data', fieldsOf(value), context));
      // Null and an empty list have no effect.
      if (batch.rows.length > 0) related.push({ relationship, batch });
    } else throw new Error(`${origin.kind} is not part of a row`);
  }
  return { values, related };
}

const isFlat = (row: Row): boolean => row.related.length === 0;

function insertOf(batch: Batch, rows: readonly Row[], determined: Determined, context: PlanContext): Insert {
  const { table } = batch;
  const { presets, check } = context.access(table).insert ?? notPermitted();
  const columns = [...table.columnByName.values()].filter(
    ({ name }) => presets.has(name) || determined.has(name) || rows.some(({ values }) => values.has(name)),
  );
  return {
    kind: 'insert',
    table: table.table,
    columns: columns.map(({ name, type }) => ({ column: name, type })),
    rows: rows.map(({ values }) =>
      columns.map(({ name, type }) => {
        const value = values.get(name);
        return presets.get(name) ?? (value ? leafOf(value, type) : (determined.get(name) ?? 'default'));
      }),
    ),
    ...checkedBy(check, batch),
  };
}

/** Returns the checks of an insert. In an upsert into a partitioned table, Postgres cannot tell inserted rows from updated
 *  ones (`cannot retrieve a system column in this context`), so both checks apply to all rows. */
export function checkedBy(
  check: Predicate,
  { table, onConflict }: Pick<Batch, 'table' | 'onConflict'>,
): Pick<Insert, 'check' | 'onConflict'> {
  if (!table.isPartitioned || !onConflict?.check) return { check, onConflict };
  const both = and(check, onConflict.check);
  return { check: both, onConflict: { ...onConflict, check: both } };
}

type Draft = InsertStep & { readonly keeps: string[]; unlessInserted: InsertStep['unlessInserted'] };

/** The steps of one nested insert, in the order they were added. */
class Steps {
  readonly done: Draft[] = [];
  readonly #context: PlanContext;

  constructor(context: PlanContext) {
    this.#context = context;
  }

  /** Adds a step for each row, with the steps of its related rows. */
  addEach(batch: Batch, determined: Determined, path: readonly PathStep[], isAnswered: boolean): void {
    batch.rows.forEach((row, i) => {
      withPath(i, () => this.#addRow(batch, row, determined, [...path, i], isAnswered));
    });
  }

  /** Adds steps for rows without related rows. */
  addFlat(pieces: readonly Insert[], path: readonly PathStep[], isAnswered: boolean): void {
    for (const insert of pieces) this.#add(insert, path, isAnswered);
  }

  #addRow(
    batch: Batch,
    row: Row,
    determined: Determined,
    path: readonly PathStep[],
    isAnswered: boolean,
  ): number {
    refuseDetermined(row, determined);
    const before = row.related.filter(({ relationship }) => relationship.insertion === 'before');
    for (const { relationship } of before) refuseGiven(relationship, row, determined);
    const all = new Map([
      ...before.flatMap((related) => this.#addBefore(related, batch.table, path)),
      ...determined,
    ]);
    const step = this.#add(insertOf(batch, [row], all, this.#context), path, isAnswered);
    for (const kind of ['array', 'object'] as const) {
      for (const related of row.related) {
        const { relationship } = related;
        if (relationship.kind === kind && relationship.insertion === 'after')
          this.#addAfter(related, step, batch.table, path);
      }
    }
    return step;
  }

  /** Adds the step of a row that another row refers to. Returns the values it determines in that row of `table`. */
  #addBefore(
    { relationship, batch }: Related,
    table: ResolvedTable,
    path: readonly PathStep[],
  ): [string, Leaf][] {
    const { name, join } = relationship;
    const here = [...path, name];
    const step = withPath(name, () =>
      withPath('data', () => this.#addRow(batch, batch.rows[0]!, NOTHING, [...here, 'data'], false)),
    );
    const text = `cannot proceed to insert object relation "${name}" since insert to table "${printQualified(batch.table.table)}" affects zero rows`;
    this.done[step]!.unlessInserted ??= { text, path: here };
    return join.mapping.map(([local, remote]) => [local, this.#keep(step, remote, table, local)]);
  }

  /** Adds the steps of rows that refer to the row of `step`, which is in `table`. */
  #addAfter(
    { relationship, batch }: Related,
    step: number,
    table: ResolvedTable,
    path: readonly PathStep[],
  ): void {
    const { name, join } = relationship;
    const text = `cannot proceed to insert array relations since insert to table "${printQualified(table.table)}" affects zero rows`;
    this.done[step]!.unlessInserted ??= { text, path };
    const determined = new Map(
      join.mapping.map(([local, remote]) => [remote, this.#keep(step, local, batch.table, remote)]),
    );
    const here = [...path, name, 'data'];
    withPath(name, () =>
      withPath('data', () => {
        if (!batch.rows.every(isFlat)) return this.addEach(batch, determined, here, false);
        batch.rows.forEach((row, i) => {
          withPath(i, () => refuseDetermined(row, determined));
        });
        this.addFlat(piecesOf(insertOf(batch, batch.rows, determined, this.#context)), here, false);
      }),
    );
  }

  #add(insert: Insert, path: readonly PathStep[], isAnswered: boolean): number {
    this.#context.countWrites(1);
    return this.done.push({ insert, keeps: [], isAnswered, unlessInserted: null, path }) - 1;
  }

  /** Returns the value a step has inserted into a column, for the column `own` of `table`. */
  #keep(step: number, column: string, table: ResolvedTable, own: string): Leaf {
    const { keeps } = this.done[step]!;
    if (!keeps.includes(column)) keeps.push(column);
    const { type } = table.columnByName.get(own)!;
    return { kind: 'inserted', step, kept: keeps.indexOf(column), type };
  }
}

function refuseDetermined({ values }: Row, determined: Determined): void {
  const taken = [...values.keys()].filter((name) => determined.has(name));
  if (taken.length === 0) return;
  fail('validationFailed', {
    text: `cannot insert ${quoted(taken)} columns as their values are already being determined by parent insert`,
  });
}

/** Refuses a related row whose join columns have values already. */
function refuseGiven({ name, join }: ResolvedRelationship, { values }: Row, determined: Determined): void {
  const taken = join.mapping.map(([local]) => local).filter((c) => values.has(c) || determined.has(c));
  if (taken.length === 0) return;
  const text = `cannot insert object relationship "${name}" as ${quoted(taken)} column values are already determined`;
  fail('validationFailed', { text }, { path: [name] });
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

function planOnConflict(
  table: ResolvedTable,
  fields: ReadonlyMap<string, Input>,
  context: PlanContext,
): OnConflict {
  const constraint = fields.get('constraint');
  const where = fields.get('where');
  const condition = where ? withPath('where', () => planBoolExp(where, context)) : TRUE;
  const updateColumns = columnsOf(fields.get(table.naming.names.update_columns));
  if (updateColumns.includes(NO_COLUMN)) fail('validationFailed', { text: 'erroneous column name' });
  const name = constraint?.kind === 'enum' ? constraint.value : '';
  const planned = onConflictOf(table, { constraint: name, updateColumns, where: condition }, () => {
    return context.access(table).update ?? notPermitted();
  });
  refuseConflict(table, planned.where, context);
  return planned;
}

type RequestedConflict = Pick<OnConflict, 'updateColumns' | 'where'> & { readonly constraint: string };

/** Returns what happens to a row that conflicts. The update permission counts only when columns are updated. */
export function onConflictOf(
  table: ResolvedTable,
  { constraint, updateColumns, where }: RequestedConflict,
  updateAccess: () => UpdateAccess,
): OnConflict {
  const target = targetOf(table, constraint);
  if (updateColumns.length === 0) return { target, updateColumns, presets: [], where: TRUE };
  const access = updateAccess();
  return {
    target,
    check: access.check,
    updateColumns,
    presets: presetAssignments(table, access, new Set(updateColumns)),
    where: filtered(access.filter, where),
  };
}

/** Returns the conflict target. The names of indexes and constraints of a table never collide. */
function targetOf({ conflictIndexes }: ResolvedTable, name: string): OnConflict['target'] {
  const index = conflictIndexes.find((each) => each.name === name);
  return index ? { kind: 'index', index } : { kind: 'constraint', name };
}
