/** A mutation root → what is written, under which conditions, and what comes back. Permission filters, checks and presets
 *  are merged in here. Reference: features.md 1.5 and rows 141–142; spec: "Permission arguments". */
import type { FieldNode, GraphQLField } from 'graphql';
import { arrayOf, builtinType, type PgType } from '../catalog/types.ts';
import { fail, withPath } from '../errors/engine-error.ts';
import { fieldName } from '../resolve/naming.ts';
import { and, type Leaf, type Predicate, TRUE } from '../resolve/predicate.ts';
import type { InsertAccess, ResolvedColumn, ResolvedTable, UpdateAccess } from '../resolve/types.ts';
import { UPDATE_OPERATORS } from '../schema/mutation.ts';
import { type FieldOrigin, fieldOrigin, inputOrigin, type MutationKind } from '../schema/origin.ts';
import { type Arguments, readArguments } from './arguments.ts';
import { planBoolExp } from './bool-exp.ts';
import type { PlanContext } from './context.ts';
import { type Input, leafOf } from './input.ts';
import { selectedFields, subselections } from './selection.ts';
import { keyPredicate, objectTypeOf, planSelection } from './table.ts';
import type {
  Assignment,
  Insert,
  MutationField,
  MutationOutput,
  MutationRoot,
  OnConflict,
  Root,
  Update,
} from './types.ts';

type MutationOrigin = Extract<FieldOrigin, { kind: MutationKind }>;
type MutationRootField = {
  readonly alias: string;
  readonly field: GraphQLField<unknown, unknown>;
  readonly nodes: readonly FieldNode[];
  readonly origin: MutationOrigin;
};

export function planMutation(root: MutationRootField, context: PlanContext): Root {
  const { alias, field, nodes, origin } = root;
  const { table } = origin;
  const { names } = table.naming;
  const given = readArguments(field, nodes, context);
  const output = outputOf(root, context);
  const at = { alias, source: table.source };
  const one = (action: MutationRoot['action']): Root => {
    return { kind: 'mutation', ...at, mutation: { action, output } };
  };
  return withPath('args', (): Root => {
    switch (origin.kind) {
      case 'insert': {
        const objects = itemsOf(given.get('objects'));
        if (objects.length === 0) return { kind: 'local', alias, json: emptyResponse(output) };
        return one(planInsert(table, objects, given, context));
      }
      case 'insert-one':
        return one(planInsert(table, itemsOf(given.get('object')), given, context));
      case 'update':
        return one(planUpdate(table, given, whereOf(given, context), context));
      case 'update-by-pk':
        return one(
          planUpdate(table, given, keyPredicate(table, fieldsOf(given.get(names.pk_columns))), context),
        );
      case 'update-many':
        return one({
          kind: 'update-many',
          updates: itemsOf(given.get('updates')).map((update, i) =>
            withPath('updates', () =>
              withPath(i, () => {
                const fields = fieldsOf(update);
                return planUpdate(table, fields, whereOf(fields, context), context);
              }),
            ),
          ),
        });
      case 'delete':
        return one(planDelete(table, whereOf(given, context), context));
      case 'delete-by-pk':
        return one(planDelete(table, keyPredicate(table, given), context));
      default:
        return origin.kind satisfies never;
    }
  });
}

function planInsert(
  table: ResolvedTable,
  objects: readonly Input[],
  given: Arguments,
  context: PlanContext,
): Insert {
  const access = context.access(table).insert ?? notPermitted();
  const rows = objects.map((object) => columnValues(fieldsOf(object), object));
  const columns = table.columns.filter(
    ({ name }) => access.presets.has(name) || rows.some((row) => row.has(name)),
  );
  const { names } = table.naming;
  const conflict = given.get(names.on_conflict);
  const onConflict =
    conflict?.kind === 'object'
      ? withPath(names.on_conflict, () => planOnConflict(table, conflict.fields, context))
      : null;
  return {
    kind: 'insert',
    table: table.table,
    columns: columns.map(({ name, type }) => ({ column: name, type })),
    rows: rows.map((row) => columns.map((column) => insertValue(column, row, access))),
    onConflict,
    check: access.check,
  };
}

function insertValue(
  column: ResolvedColumn,
  row: ReadonlyMap<string, Input>,
  access: InsertAccess,
): Leaf | 'default' {
  const preset = access.presets.get(column.name);
  if (preset) return preset;
  const input = row.get(column.name);
  return input ? leafOf(input, column.type) : 'default';
}

/** By SQL name. */
function columnValues(fields: ReadonlyMap<string, Input>, object: Input): ReadonlyMap<string, Input> {
  if (object.kind !== 'object') return new Map();
  return new Map([...fields].map(([name, value]) => [columnAt(object, name).name, value]));
}

function columnAt(object: Extract<Input, { kind: 'object' }>, name: string): ResolvedColumn {
  const origin = inputOrigin(object.type.getFields()[name]!);
  if (origin.kind !== 'column') throw new Error(`${name} is no column`);
  return origin.column;
}

function planOnConflict(
  table: ResolvedTable,
  fields: ReadonlyMap<string, Input>,
  context: PlanContext,
): OnConflict {
  const access = context.access(table).update ?? notPermitted();
  const constraint = fields.get('constraint');
  const where = fields.get('where');
  const updateColumns = itemsOf(fields.get(table.naming.names.update_columns)).flatMap((item) =>
    item.kind === 'enum' ? [item.value] : [],
  );
  return {
    constraint: constraint?.kind === 'enum' ? constraint.value : '',
    check: access.check,
    updateColumns,
    presets: updateColumns.length > 0 ? presetAssignments(table, access, new Set(updateColumns)) : [],
    where: and(
      access.filter,
      where && where.kind !== 'null' ? withPath('where', () => planBoolExp(where, context)) : TRUE,
    ),
  };
}

function planUpdate(table: ResolvedTable, given: Arguments, where: Predicate, context: PlanContext): Update {
  const access = context.access(table).update ?? notPermitted();
  const operators = UPDATE_OPERATORS.map(({ name }) => ({ name, spelled: fieldName(table.naming, name) }));
  const asked = operators.flatMap(({ name, spelled }) => {
    const input = given.get(spelled);
    return input?.kind === 'object' ? withPath(spelled, () => assignments(name, input)) : [];
  });
  refuseRepeated(asked);
  const set = [...asked, ...presetAssignments(table, access, new Set(asked.map(({ column }) => column)))];
  if (set.length === 0) {
    fail('validationFailed', {
      text: `at least any one of ${operators.map(({ spelled }) => spelled).join(', ')} is expected`,
    });
  }
  return { kind: 'update', table: table.table, set, where: and(access.filter, where), check: access.check };
}

const ASSIGNMENT_KINDS: Readonly<
  Record<string, { kind: Assignment['kind']; type: (own: PgType) => PgType }>
> = {
  _set: { kind: 'set', type: (own) => own },
  _inc: { kind: 'increment', type: (own) => own },
  _append: { kind: 'append', type: (own) => own },
  _prepend: { kind: 'prepend', type: (own) => own },
  _delete_key: { kind: 'delete-key', type: () => builtinType('text') },
  _delete_elem: { kind: 'delete-element', type: () => builtinType('int4') },
  _delete_at_path: { kind: 'delete-at-path', type: () => arrayOf(builtinType('text')) },
};

function assignments(operator: string, input: Extract<Input, { kind: 'object' }>): Assignment[] {
  const { kind, type } = ASSIGNMENT_KINDS[operator]!;
  return [...input.fields].map(([name, value]) => {
    const column = columnAt(input, name);
    return { kind, column: column.name, type: column.type, value: leafOf(value, type(column.type)) };
  });
}

function refuseRepeated(asked: readonly Assignment[]): void {
  const names = asked.map(({ column }) => column);
  const repeated = [...new Set(names.filter((name, i) => names.indexOf(name) !== i))];
  if (repeated.length === 0) return;
  const list = repeated.map((name) => `'${name}'`).join(', ');
  fail('validationFailed', { text: `Column found in multiple operators: [${list}].` });
}

function presetAssignments(
  table: ResolvedTable,
  access: UpdateAccess,
  taken: ReadonlySet<string>,
): Assignment[] {
  return [...access.presets].flatMap(([column, value]) => {
    const type = table.columnByName.get(column)?.type;
    return type && !taken.has(column) ? [{ kind: 'set' as const, column, type, value }] : [];
  });
}

function planDelete(table: ResolvedTable, where: Predicate, context: PlanContext) {
  const access = context.access(table).delete ?? notPermitted();
  return { kind: 'delete', table: table.table, where: and(access.filter, where) } as const;
}

function whereOf(given: Arguments, context: PlanContext): Predicate {
  const where = given.get('where');
  return where ? withPath('where', () => planBoolExp(where, context)) : TRUE;
}

function outputOf({ field, nodes, origin }: MutationRootField, context: PlanContext): MutationOutput {
  const type = objectTypeOf(field);
  if (['insert-one', 'update-by-pk', 'delete-by-pk'].includes(origin.kind)) {
    return {
      kind: 'row',
      select: visible(planSelection(origin.table, type, nodes, context), origin.table, context),
    };
  }
  const fields = withPath('selectionSet', () =>
    selectedFields(subselections(nodes), type, context).map((selected): MutationField => {
      if (!selected.field)
        return { kind: 'constant', alias: selected.alias, json: JSON.stringify(type.name) };
      const { alias, name, field: inner } = selected;
      return withPath(name, (): MutationField => {
        const about = fieldOrigin(inner);
        if (about.kind === 'affected-rows') return { kind: 'affected-rows', alias };
        if (about.kind !== 'returning') throw new Error(`${about.kind} is not part of a mutation's response`);
        const select = planSelection(about.table, objectTypeOf(inner), selected.nodes, context);
        return { kind: 'returning', alias, select: visible(select, about.table, context) };
      });
    }),
  );
  return { kind: 'response', fields };
}

/** Written rows the role may not read do not come back. */
function visible<T extends { readonly where: Predicate }>(
  select: T,
  table: ResolvedTable,
  context: PlanContext,
): T {
  return { ...select, where: context.filterOf(table) };
}

/** The response of a mutation that has nothing to write. */
function emptyResponse(output: MutationOutput): string {
  if (output.kind === 'row') return 'null';
  const members = output.fields.map((field) => {
    const json = field.kind === 'affected-rows' ? '0' : field.kind === 'returning' ? '[]' : field.json;
    return `${JSON.stringify(field.alias)}:${json}`;
  });
  return `{${members.join(',')}}`;
}

function itemsOf(input: Input | undefined): readonly Input[] {
  if (!input || input.kind === 'null') return [];
  return input.kind === 'list' ? input.items : [input];
}

function fieldsOf(input: Input | undefined): ReadonlyMap<string, Input> {
  return input?.kind === 'object' ? input.fields : new Map();
}

/** The role's schema shows a mutation only where it has the permission. */
function notPermitted(): never {
  throw new Error('a mutation was planned that the role has no permission for');
}
