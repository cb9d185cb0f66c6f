/** The root fields of a subgraph. `_service` is text. `_entities` is a call of the engine to itself: the representations are
 *  read when the request runs, and the rows of each table are one column of their source's statement.
 *  A plan depends on the requested types, not on the rows. Raises `introspectionDisabled`.
 *  Not here: representations (execute/entities.ts). Reference: docs/reference/behaviour/remote-schemas.md. */
import { Kind, visit } from 'graphql';
import { fail, withPath } from '../errors/engine-error.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { joinedPair } from '../resolve/predicate.ts';
import { keyColumn } from '../resolve/remote-relationship.ts';
import { requestPolicyOf } from '../resolve/request-policy.ts';
import { entityTables, subgraphSdl } from '../schema/federation.ts';
import { readArguments } from './arguments.ts';
import type { PlanContext, SelectedField } from './context.ts';
import { pathsInFields } from './join-paths.ts';
import { keyedRows } from './keyed-rows.ts';
import { literalValue } from './literal.ts';
import type { Field } from './query-types.ts';
import { SchemaText } from './schema-text.ts';
import { selectedFields, subselections } from './selection.ts';
import { objectTypeOf, planSelection } from './table.ts';
import type { EntityRows, Root } from './types.ts';

/** The name of the member that holds the entity in each object of the rows. */
export const ENTITY = 'entity';

/** The number of fields that the SDL of the role counts as: as many as a standard introspection. */
const SDL_WEIGHT = 5_000;

export function planService({ alias, field, nodes }: SelectedField, context: PlanContext): Root {
  const { role } = context.document;
  if (!requestPolicyOf(role.model, role.role).mayIntrospect)
    fail('introspectionDisabled', { role: role.role });
  const type = objectTypeOf(field!);
  const selection = withPath('selectionSet', () => selectedFields(subselections(nodes), type, context));
  context.countFields(selection.length * SDL_WEIGHT);
  const text = new SchemaText(role, context.schemaTexts, function* (output) {
    const sdl = subgraphSdl(role.builder, role.schema());
    yield;
    const members = selection.map((selected) => [selected.alias, selected.field ? sdl : type.name]);
    output.add(JSON.stringify(Object.fromEntries(members)));
  });
  return { kind: 'schema-text', alias, text };
}

export function planEntities({ alias, field, nodes }: SelectedField, context: PlanContext): Root {
  readArguments({ field: field!, nodes }, context);
  const { document, variables } = context;
  const tables = new Map(entityTables(document.role.builder).map((table) => [table.typeName, table]));
  const { value: representations } = nodes[0]!.arguments![0]!;
  const namesIn = (value: unknown) => typeNamesIn(value).filter((name) => tables.has(name));
  visit(representations, {
    [Kind.VARIABLE]: ({ name }) => {
      context.facets.set(name.value, (value) => namesIn(value).join(' '));
    },
  });
  const typeNames = namesIn(literalValue(representations, (name) => variables[name]));
  const joins = typeNames.map((typeName, position) => {
    return entityRows(tables.get(typeName)!, { nodes, position }, context);
  });
  const call = { kind: 'entities', representations, alias, joins } as const;
  return { kind: 'called', alias, call: context.calls.push(() => call) - 1, field: 0 };
}

/** Returns the type names in one representation or a list of them, each once, sorted. */
function typeNamesIn(value: unknown): readonly string[] {
  const list = Array.isArray(value) ? value : [value];
  const names = list.map((item) => (item as { readonly __typename?: unknown } | null)?.__typename);
  return [...new Set(names.filter((name) => typeof name === 'string'))].sort();
}

function entityRows(
  table: ResolvedTable,
  { nodes, position }: Pick<SelectedField, 'nodes'> & { readonly position: number },
  context: PlanContext,
): EntityRows {
  const key = table.primaryKey!;
  const select = {
    ...planSelection(table, context.document.role.builder.objectType(table), nodes, context),
    where: context.filterOf(table),
  };
  const mapping = key.map((column, i) => joinedPair({ name: keyColumn(i), type: column.type }, column));
  const rows: Field = {
    kind: 'object',
    alias: ENTITY,
    join: { table: table.table, mapping, isUnique: true },
    select,
  };
  const keys = key.map(({ type }, i) => ({ column: keyColumn(i), type }));
  return {
    typeName: table.typeName,
    paths: pathsInFields(select.fields),
    source: table.source,
    query: keyedRows([rows], keys, position),
    fields: key.map(({ graphqlName }) => graphqlName),
  };
}
