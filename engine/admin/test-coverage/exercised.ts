/** Finds the operations on tables that a request exercises: those of its fields, wherever they are in the document, of the rows that its
 *  mutations insert together, and of the types that it introspects. A field that the role does not have counts for the table that it would
 *  belong to, since a test may expect the error. Pure. */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputField,
  getNamedType,
  isCompositeType,
  isInputObjectType,
  isUnionType,
  Kind,
  parse,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';
import { isRecord } from '../../json/value.ts';
import { own } from '../../metadata/own.ts';
import { isIntrospection } from '../../plan/introspection.ts';
import { spreadType } from '../../plan/selection.ts';
import type { Operation } from '../../resolve/grant.ts';
import type { Model } from '../../resolve/model/model.ts';
import type { ResolvedTable } from '../../resolve/model/table.ts';
import { derivedTypeName } from '../../resolve/names.ts';
import type { Roots } from '../../schema/build.ts';
import { type FieldOrigin, fieldOrigin, inputOrigin } from '../../schema/origin.ts';

/** An operation on a table, as far as permissions tell. */
export type TableAction = {
  readonly source: string;
  readonly table: { readonly schema: string; readonly name: string };
  readonly operation: Operation;
};

/** Returns a text that identifies a table among all sources. */
export function tableId({ source, table: { schema, name } }: Omit<TableAction, 'operation'>): string {
  return JSON.stringify([source, schema, name]);
}

export function actionId(action: TableAction): string {
  return `${action.operation} ${tableId(action)}`;
}

/** The model of an API, and the root types of an administrator, whose fields say which table they belong to. */
export type ApiTypes = { readonly model: Model; readonly roots: Roots };

/** The request of a test. */
export type TestedRequest = {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
};

/** Returns the ids of the operations. */
export function exercisedBy({ query, variables = {} }: TestedRequest, api: ApiTypes): ReadonlySet<string> {
  const document = parsed(query);
  const walk = new Walk(api, variables, document);
  for (const node of document?.definitions ?? []) {
    const root = node.kind === Kind.OPERATION_DEFINITION ? api.roots[node.operation] : null;
    if (root && 'selectionSet' in node) walk.selectionSet(node.selectionSet, root);
  }
  return walk.found;
}

class Walk {
  readonly found = new Set<string>();
  readonly #api: ApiTypes;
  readonly #variables: Variables;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** The types on which each fragment has been visited. */
  readonly #visited = new Set<string>();

  constructor(api: ApiTypes, variables: Variables, document: DocumentNode | undefined) {
    this.#api = api;
    this.#variables = variables;
    const fragments = document?.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION) ?? [];
    this.#fragments = new Map(fragments.map((node) => [node.name.value, node]));
  }

  selectionSet({ selections }: SelectionSetNode, type: GraphQLCompositeType): void {
    for (const node of selections) {
      if (node.kind === Kind.FIELD) this.#field(node, type);
      else if (node.kind === Kind.INLINE_FRAGMENT) this.#fragment(node, node.typeCondition?.name.value, type);
      else this.#spread(this.#fragments.get(node.name.value), type);
    }
  }

  #spread(fragment: FragmentDefinitionNode | undefined, type: GraphQLCompositeType): void {
    const visit = `${fragment?.name.value} ${type.name}`;
    if (!fragment || this.#visited.has(visit)) return;
    this.#visited.add(visit);
    this.#fragment(fragment, fragment.typeCondition.name.value, type);
  }

  #fragment(
    { selectionSet }: { readonly selectionSet: SelectionSetNode },
    on: string | undefined,
    type: GraphQLCompositeType,
  ): void {
    const inner = on === undefined ? type : spreadType(on, type);
    if (inner) this.selectionSet(selectionSet, inner);
  }

  #field(node: FieldNode, type: GraphQLCompositeType): void {
    const { value: name } = node.name;
    const add: Add = (table, operation) => this.found.add(actionId(actionOn(table, operation)));
    if (name === '__type') addIntrospected(node, this.#variables, this.#api, add);
    const field = isIntrospection(name) || isUnionType(type) ? undefined : own(type.getFields(), name);
    if (!field) return;
    addField(node, field, this.#variables, add);
    const inner = getNamedType(field.type);
    if (node.selectionSet && isCompositeType(inner)) this.selectionSet(node.selectionSet, inner);
  }
}

type Add = (table: ResolvedTable, operation: Operation) => unknown;
type Variables = Readonly<Record<string, unknown>>;

function parsed(query: string): DocumentNode | undefined {
  try {
    return parse(query);
  } catch {
    return undefined;
  }
}

function actionOn({ source, table }: ResolvedTable, operation: Operation): TableAction {
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

const WRITES: Readonly<Partial<Record<FieldOrigin['kind'], Operation>>> = {
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
function addIntrospected(node: FieldNode, variables: Variables, api: ApiTypes, add: Add): void {
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
