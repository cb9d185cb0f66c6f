/** One native query: SQL of the administrator's own, as rows that are read like those of a view that takes arguments. The
 *  rows are a ResolvedTable under a name no table can have, so that everything that reads tables reads them too.
 *  In: its metadata, the logical models. Out: ResolvedTable with `native`; relationships and permissions are added later.
 *  Not here: reading code (native-code.ts), asking Postgres about it (database/native-query.ts).
 *  Reference: docs/reference/behaviour/functions.md. */
import { scalarOf } from '../catalog/scalars.ts';
import { typeByName } from '../catalog/type-names.ts';
import type { Catalog } from '../catalog/types.ts';
import { fail } from '../errors/engine-error.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { NativeQuery, NativeRelationship } from '../metadata/schema/native-query.ts';
import type { ObjectRelationship } from '../metadata/schema/relationship.ts';
import type { ResolvedLogicalModel } from './logical-model.ts';
import { isGraphqlName, onlyRootField } from './names.ts';
import { type Naming, rootFieldName, typeName } from './naming.ts';
import { parseNativeCode } from './native-code.ts';
import type { NativeArgument, NativeRows, ResolvedTable } from './types.ts';

export type NativeTable = ResolvedTable & { readonly native: NativeRows };

type Place = { readonly source: string; readonly naming: Naming };

/** No table is in a schema without a name. */
export function nativeName(rootField: string): QualifiedName {
  return { schema: '', name: rootField };
}

/** Raises `logicalModelNotFound`, `invalidConfiguration`, `nativeQueryInvalid`. */
export function resolveNativeQuery(
  at: Place & { readonly catalog: Catalog },
  definition: NativeQuery,
  models: ReadonlyMap<string, ResolvedLogicalModel>,
): NativeTable {
  const { source, catalog, naming } = at;
  const name = definition.root_field_name;
  if (!isGraphqlName(name)) refuse(`"${name}" is not a valid GraphQL identifier`);
  const model = models.get(definition.returns);
  if (!model) return fail('logicalModelNotFound', { name: definition.returns, source });
  const args = argumentsOf(definition, catalog);
  const code = parseNativeCode(definition.code, new Set(args.map((argument) => argument.name)));
  refuseUnfilled(definition, model);
  return {
    ...rowsOf(at, model),
    table: nativeName(name),
    // Relationships are the query's, so a model alone no longer says what its rows have.
    typeName: typeName(naming, { verbatim: hasRelationships(definition) ? name : model.name }),
    rootFields: onlyRootField({
      name: rootFieldName(naming, name),
      description: definition.description || null,
    }),
    native: { code, arguments: args, model: model.name },
  };
}

/** Rows of the model and of nothing yet: what its permissions are about. */
export function rowsOf({ source, naming }: Place, model: ResolvedLogicalModel): ResolvedTable {
  return {
    source,
    table: nativeName(model.name),
    naming,
    base: { verbatim: model.name },
    typeName: typeName(naming, { verbatim: model.name }),
    description: model.description,
    columns: model.columns,
    columnByName: new Map(model.columns.map((column) => [column.name, column])),
    primaryKey: null,
    uniqueKeys: [],
    conflictIndexes: [],
    isPartitioned: false,
    rootFields: onlyRootField({ name: model.name, description: null }),
    relationships: new Map(),
    computedFields: new Map(),
    permissions: new Map(),
    isInsertable: false,
    isUpdatable: false,
    isDeletable: false,
  };
}

export function hasRelationships(query: NativeQuery): boolean {
  return (query.object_relationships ?? []).length + (query.array_relationships ?? []).length > 0;
}

/** The relationship as a table would have it. */
export function asManual({ name, using, comment }: NativeRelationship): ObjectRelationship {
  const { remote_table, remote_native_query, column_mapping } = using;
  const target = {
    ...(remote_table ? { remote_table } : {}),
    ...(remote_native_query ? { remote_native_query } : {}),
  };
  return {
    name,
    using: { manual_configuration: { ...target, column_mapping } },
    ...(comment ? { comment } : {}),
  };
}

/** What PREPARE is asked about: the same for queries it would judge alike. */
export function signatureOf({ native, columns }: NativeTable): string {
  const typed = ({ name, type }: { name: string; type: object }) => [name, type];
  return JSON.stringify([native.code, native.arguments.map(typed), columns.map(typed)]);
}

function argumentsOf(definition: NativeQuery, catalog: Catalog): readonly NativeArgument[] {
  return Object.entries(definition.arguments ?? {}).map(
    ([name, { type: written, nullable, description }]) => {
      const where = `argument "${name}" of native query "${definition.root_field_name}"`;
      if (!isGraphqlName(name)) refuse(`${where} is not a valid GraphQL identifier`);
      const type = typeByName(written, catalog);
      if (!type) return refuse(`${where} is of type "${written}", which the database does not have`);
      const text = description || `Native query argument ${name}`;
      return { name, type, scalar: scalarOf(type), isNullable: nullable ?? false, description: text };
    },
  );
}

/** A field that holds rows of another model needs the relationship that fetches them. */
function refuseUnfilled(definition: NativeQuery, model: ResolvedLogicalModel): void {
  for (const { field, kind } of model.references) {
    const list = kind === 'object' ? definition.object_relationships : definition.array_relationships;
    if (list?.some((relationship) => relationship.name === field)) continue;
    refuse(
      `native query "${definition.root_field_name}" has no ${kind} relationship "${field}" ` +
        `for the field of logical model "${model.name}"`,
    );
  }
}

function refuse(text: string): never {
  fail('invalidConfiguration', { text });
}
