/** Finds the operations on tables that a request exercises: those of its fields, wherever they are in the document, of the rows that its
 *  mutations insert together, and of the types that it introspects. A field that the role does not have counts for the table that it would
 *  belong to, since a test may expect the error. Pure. */
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  getNamedType,
  isInputObjectType,
  Kind,
  parse,
  TypeInfo,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { isRecord } from '../../engine/json/value.ts';
import type { ResolvedTable } from '../../engine/resolve/model/table.ts';
import { derivedTypeName } from '../../engine/resolve/names.ts';
import { type FieldOrigin, fieldOrigin, inputOrigin } from '../../engine/schema/origin.ts';
import type { PermissionTestSpec } from '../../operator/kinds/permission-test.ts';
import { type Api, actionId, type TableAction, type TableOperation } from './api.ts';

/** Returns the ids of the operations (api.ts). */
export function exercisedBy({ query, variables = {} }: PermissionTestSpec, api: Api): ReadonlySet<string> {
  const document = parsed(query);
  const found = new Set<string>();
  if (document === undefined) return found;
  const info = new TypeInfo(api.schema);
  const add = (table: ResolvedTable, operation: TableOperation) =>
    found.add(actionId(actionOn(table, operation)));
  visit(
    document,
    visitWithTypeInfo(info, {
      Field(node) {
        const field = info.getFieldDef();
        if (node.name.value === '__type') addIntrospected(node, variables, api, add);
        else if (field && !isIntrospection(field, info.getParentType()))
          addField(node, field, variables, add);
      },
    }),
  );
  return found;
}

function isIntrospection(
  { name }: GraphQLField<unknown, unknown>,
  parent: GraphQLNamedType | null | undefined,
): boolean {
  return name.startsWith('__') || parent?.name.startsWith('__') === true;
}

type Add = (table: ResolvedTable, operation: TableOperation) => void;
type Variables = Readonly<Record<string, unknown>>;

function parsed(query: string): DocumentNode | undefined {
  try {
    return parse(query);
  } catch {
    return undefined;
  }
}

function actionOn({ source, table }: ResolvedTable, operation: TableOperation): TableAction {
  return { source, table, operation };
}

function addField(
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
  variables: Variables,
  add: Add,
): void {
  const origin = fieldOrigin(field);
  const write = WRITES[origin.kind];
  if (write === undefined || !('table' in origin)) {
    const table = readTable(origin);
    if (table) add(table, 'select');
    return;
  }
  add(origin.table, write);
  // The field returns the row itself.
  if (ROW_WRITES.has(origin.kind) && node.selectionSet) add(origin.table, 'select');
  if (write === 'insert') addInserted(node, field, origin.table, variables, add);
}

const WRITES: Readonly<Partial<Record<FieldOrigin['kind'], TableOperation>>> = {
  insert: 'insert',
  'insert-one': 'insert',
  update: 'update',
  'update-by-pk': 'update',
  'update-many': 'update',
  delete: 'delete',
  'delete-by-pk': 'delete',
};
const ROW_WRITES: ReadonlySet<FieldOrigin['kind']> = new Set(['insert-one', 'update-by-pk', 'delete-by-pk']);

/** Returns the table whose rows the field reads. */
function readTable(origin: FieldOrigin): ResolvedTable | undefined {
  if (origin.kind === 'joined') return origin.to.kind === 'rows' ? origin.to.related.target : undefined;
  if ('target' in origin) return origin.target;
  // The table of a computed field is that of its row, which another field has read.
  return 'table' in origin ? origin.table : undefined;
}

/** Adds what the arguments of an insert write: related rows, and rows that exist. */
function addInserted(
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
  table: ResolvedTable,
  variables: Variables,
  add: Add,
): void {
  const given = new Map(
    (node.arguments ?? []).map(({ name, value }) => [name.value, valueFromASTUntyped(value, variables)]),
  );
  for (const argument of field.args) addInput(argument, given.get(argument.name), table, add);
}

function addInput(
  input: GraphQLArgument | GraphQLInputField,
  value: unknown,
  table: ResolvedTable,
  add: Add,
): void {
  if (Array.isArray(value)) {
    for (const item of value) addInput(input, item, table, add);
    return;
  }
  const type = getNamedType(input.type);
  if (!isRecord(value) || !isInputObjectType(type)) return;
  if (input.name === table.naming.names.on_conflict) {
    add(table, 'update');
    return;
  }
  const target = relationshipOf(input)?.target;
  if (target) add(target, 'insert');
  for (const [name, inner] of Object.entries(value)) {
    const field = type.getFields()[name];
    if (field) addInput(field, inner, target ?? table, add);
  }
}

/** Returns the relationship that an input inserts into; undefined for arguments and for the parts `data` of such an input. */
function relationshipOf(input: GraphQLArgument | GraphQLInputField) {
  if (Object.keys(input.extensions).length === 0) return undefined;
  const origin = inputOrigin(input);
  return origin.kind === 'relationship' ? origin : undefined;
}

/** `__type(name: "book")` shows the columns that a role reads, an input type those that it writes. */
function addIntrospected(node: FieldNode, variables: Variables, api: Api, add: Add): void {
  const argument = node.arguments?.find(({ name }) => name.value === 'name')?.value;
  const name = argument && argument.kind !== Kind.NULL ? valueFromASTUntyped(argument, variables) : undefined;
  for (const { tables } of api.model.sources.values()) {
    for (const table of tables.values()) {
      if (name === table.typeName) add(table, 'select');
      if (name === derivedTypeName(table, 'insert_input')) add(table, 'insert');
      if (name === derivedTypeName(table, 'set_input')) add(table, 'update');
    }
  }
}
