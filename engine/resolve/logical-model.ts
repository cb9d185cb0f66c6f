/** One logical model: its fields as columns of rows that belong to no table. A field of another model is no column; a relationship
 *  of the native query that returns the rows has to provide it.
 *  In: its metadata, the catalog for type names. Out: ResolvedLogicalModel. Reference: docs/reference/behaviour/functions.md.
 *  Not here: the SQL that returns the rows (native-query.ts). */
import { type Scalar, scalarOf } from '../catalog/scalars.ts';
import { typeByName } from '../catalog/type-names.ts';
import { arrayOf, type Catalog, type PgType } from '../catalog/types.ts';
import { fail } from '../errors/engine-error.ts';
import type { LogicalModel, LogicalModelField, LogicalModelType } from '../metadata/schema/logical-model.ts';
import type { SelectRule } from '../metadata/schema/permission.ts';
import type { SelectAccess } from './model/access.ts';
import type { ResolvedColumn } from './model/column.ts';
import type { ResolveOptions } from './model/options.ts';
import { isGraphqlName } from './names.ts';
import { type PermissionScope, resolveSelect } from './permission.ts';

export type ResolvedLogicalModel = {
  readonly name: string;
  readonly description: string | null;
  readonly columns: readonly ResolvedColumn[];
  readonly references: readonly ModelReference[];
};

/** A field that contains rows of another model. */
type ModelReference = {
  readonly field: string;
  readonly model: string;
  readonly kind: 'object' | 'array';
};

type LogicalModelScope = {
  readonly catalog: Catalog;
  /** The names of all models of the source. */
  readonly models: ReadonlySet<string>;
  readonly options: ResolveOptions;
};

/** Raises `invalidConfiguration` when a field cannot be what it says. */
export function resolveLogicalModel(
  definition: LogicalModel,
  scope: LogicalModelScope,
): ResolvedLogicalModel {
  const { name, description, fields } = definition;
  if (!isGraphqlName(name)) refuse(`"${name}" is not a valid GraphQL identifier`);
  const seen = new Set<string>();
  const resolved = fields.map((field) => {
    if (seen.has(field.name)) refuse(`logical model "${name}" has two fields "${field.name}"`);
    seen.add(field.name);
    return resolveField(field, name, scope);
  });
  const columns = resolved.filter((field): field is ResolvedColumn => 'scalar' in field);
  if (columns.length === 0) refuse(`logical model "${name}" has no field with a value`);
  return {
    name,
    description: description || null,
    columns,
    references: resolved.filter((field): field is ModelReference => 'model' in field),
  };
}

/** Resolves a select permission of a model. Fields of other models follow the permission of the relationship's target. */
export function resolveModelPermission(
  rule: SelectRule,
  model: ResolvedLogicalModel,
  scope: PermissionScope,
): SelectAccess {
  const references = new Set(model.references.map(({ field }) => field));
  const columns = rule.columns === '*' ? '*' : rule.columns.filter((name) => !references.has(name));
  const access = resolveSelect({ ...rule, columns }, scope);
  return { ...access, allowsAggregation: false };
}

function resolveField(
  field: LogicalModelField,
  model: string,
  scope: LogicalModelScope,
): ResolvedColumn | ModelReference {
  const { name } = field;
  const kind = kindOf(field.type);
  const where = `field "${name}" of logical model "${model}"`;
  if (!isGraphqlName(name)) refuse(`"${name}" is not a valid GraphQL identifier`);
  if ('model' in kind) {
    if (!scope.models.has(kind.model))
      refuse(`${where} is of logical model "${kind.model}", which is unknown`, { behind: 'not-exists' });
    return { field: name, model: kind.model, kind: kind.isList ? 'array' : 'object' };
  }
  const named = typeByName(kind.scalar, scope.catalog);
  if (!named)
    return refuse(`${where} is of type "${kind.scalar}", which the database does not have`, {
      behind: 'not-exists',
    });
  const type = kind.isList && !named.element ? arrayOf(named) : named;
  const isNullable = field.nullable ?? kind.isNullable;
  return {
    name,
    graphqlName: name,
    ...formOf(type, scope.options),
    isNullable,
    isDeclared: !isNullable,
    // The value of the native query is cast.
    isComputed: true,
    hasDefault: false,
    isWritable: false,
    description: field.description || null,
  };
}

function formOf(
  type: PgType,
  options: ResolveOptions,
): { readonly type: PgType; readonly scalar: Scalar; readonly json: ResolvedColumn['json'] } {
  const scalar = scalarOf(type);
  const isStringified = scalar.isStringifiable && options.stringifyNumericTypes;
  return { type, scalar, json: isStringified ? 'stringified' : scalar.json };
}

type Kind = { readonly isList: boolean; readonly isNullable: boolean } & (
  | { readonly scalar: string }
  | { readonly model: string }
);

function kindOf(type: LogicalModelType): Kind {
  if (typeof type === 'string') return { scalar: type, isList: false, isNullable: false };
  const isNullable = type.nullable ?? false;
  if ('array' in type) return { ...kindOf(type.array), isList: true, isNullable };
  if ('scalar' in type) return { scalar: type.scalar, isList: false, isNullable };
  return { model: type.logical_model, isList: false, isNullable };
}

function refuse(text: string, options: { readonly behind?: string } = {}): never {
  fail('invalidConfiguration', { text }, options);
}
