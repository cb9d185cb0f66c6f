/** The state shared by the builders of one schema: the model, the role's permissions, and a cache of named types, so that each
 *  type exists once and types can refer to each other. Fields are thunks: a type is built when it is reached. Not here: the
 *  root types (build.ts), the types of each concept. */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLFloat,
  GraphQLID,
  GraphQLInputObjectType,
  type GraphQLInputObjectTypeConfig,
  GraphQLInt,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLObjectTypeConfig,
  GraphQLScalarType,
  GraphQLString,
} from 'graphql';
import { AGGREGATE_FUNCTIONS, type AggregateFunction, isAggregated } from '../catalog/aggregates.ts';
import type { Scalar } from '../catalog/scalars.ts';
import { own } from '../metadata/own.ts';
import { accessOf, NO_ACCESS, targetOf } from '../resolve/access.ts';
import type { SelectAccess, TableAccess } from '../resolve/model/access.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedEnum } from '../resolve/model/enum.ts';
import type { ResolvedComputedField } from '../resolve/model/function.ts';
import type { Model } from '../resolve/model/model.ts';
import type { ResolvedRelationship } from '../resolve/model/relationship.ts';
import type { ResolvedRemoteRelationship, ResolvedTable } from '../resolve/model/table.ts';
import { relayTypeName } from '../resolve/names.ts';
import {
  ArrayType,
  enumExtensions,
  type FieldMap,
  forwardedExtensions,
  scalarExtensions,
  type ValueType,
} from './origin.ts';

export type Related = { readonly relationship: ResolvedRelationship; readonly target: ResolvedTable };

/** A scalar value: a column, an argument, or a computed field. */
export type Typed = { readonly scalar: Scalar; readonly enum?: ResolvedEnum };

/** An aggregate function with the columns and the computed fields it applies to. */
export type AggregateOperands = {
  readonly fn: AggregateFunction;
  readonly columns: readonly ResolvedColumn[];
  /** Only computed fields that return a scalar. */
  readonly computed: readonly ResolvedComputedField[];
};

/** The model, the role and the kind of schema a builder builds. */
export type SchemaScope = {
  readonly model: Model;
  readonly role: string;
  /** True when `backend_only` permissions count. */
  readonly mayUseBackendOnly: boolean;
  /** True for the schema of `/v1beta1/relay`, with connections and global ids. */
  readonly isRelay: boolean;
};

/** The builders that take part in a recursion: types of rows refer to each other through fields of all kinds. */
export type RecursiveBuilders = {
  readonly objectType: (builder: SchemaBuilder, table: ResolvedTable) => GraphQLObjectType;
  readonly joinedFields: (
    builder: SchemaBuilder,
    owner: string,
    relationship: ResolvedRemoteRelationship,
  ) => FieldMap;
};

export class SchemaBuilder implements SchemaScope {
  readonly model: Model;
  readonly role: string;
  readonly mayUseBackendOnly: boolean;
  readonly isRelay: boolean;
  readonly #recursive: RecursiveBuilders;
  #taken: ReadonlySet<string> | undefined;
  readonly #types = new Map<string, GraphQLNamedType>();

  /** True for introspection, where a type is identified by its name alone. */
  readonly #isWhole: boolean;

  constructor(scope: SchemaScope, recursive: RecursiveBuilders, isWhole = false) {
    this.model = scope.model;
    this.role = scope.role;
    this.mayUseBackendOnly = scope.mayUseBackendOnly;
    this.isRelay = scope.isRelay;
    this.#recursive = recursive;
    this.#isWhole = isWhole;
  }

  /** Returns the object type of a table's rows. */
  objectType(table: ResolvedTable): GraphQLObjectType {
    return this.#recursive.objectType(this, table);
  }

  /** Returns the fields of a remote relationship on the type `owner`. */
  joinedFields(owner: string, relationship: ResolvedRemoteRelationship): FieldMap {
    return this.#recursive.joinedFields(this, owner, relationship);
  }

  /** Returns the type of that name; `build` runs at its first use. */
  named<T extends GraphQLNamedType>(name: string, build: (name: string) => T): T {
    let type = this.#types.get(name);
    if (!type) {
      type = build(name);
      this.#types.set(name, type);
    }
    return type as T;
  }

  /** Returns the object type of that name. */
  object(name: string, config: Omit<GraphQLObjectTypeConfig<unknown, unknown>, 'name'>): GraphQLObjectType {
    return this.named(name, () => new GraphQLObjectType({ ...config, name }));
  }

  /** Returns the input object type of that name. */
  input(name: string, config: Omit<GraphQLInputObjectTypeConfig, 'name'>): GraphQLInputObjectType {
    return this.named(name, () => new GraphQLInputObjectType({ ...config, name }));
  }

  /** Returns a type of a remote schema. Other remote schemas may have a type of that name with other fields. */
  namedIn(remote: string, name: string, build: () => GraphQLNamedType): GraphQLNamedType {
    return this.named(this.#isWhole ? name : `${remote} ${name}`, build);
  }

  /** Returns a scalar of the engine for arguments of remote schemas, whose values the service judges. */
  forwarded(scalar: GraphQLScalarType): GraphQLScalarType {
    if (this.#isWhole) return scalar;
    const { name, extensions } = scalar;
    return this.named(`forwarded ${name}`, () => {
      return new GraphQLScalarType({ name, extensions: { ...extensions, ...forwardedExtensions } });
    });
  }

  access(table: ResolvedTable): TableAccess {
    const access = this.#isOutside(table) ? NO_ACCESS : accessOf(table, this.role);
    if (this.mayUseBackendOnly) return access;
    return {
      select: access.select,
      insert: access.insert?.backendOnly ? null : access.insert,
      update: access.update?.backendOnly ? null : access.update,
      delete: access.delete?.backendOnly ? null : access.delete,
    };
  }

  select(table: ResolvedTable): SelectAccess | null {
    return this.#isOutside(table) ? null : accessOf(table, this.role).select;
  }

  /** True when the schema cannot have the table, because of its name. */
  #isOutside({ typeName, isUnnameable }: ResolvedTable): boolean {
    return isUnnameable === true || this.isTaken(typeName);
  }

  /** True when the Relay schema has a type of its own with that name. */
  isTaken(typeName: string): boolean {
    if (!this.isRelay) return false;
    this.#taken ??= relayTypeNames(this.model);
    return this.#taken.has(typeName);
  }

  /** Returns the columns the role may read. A column that is masked in some rows is nullable. */
  selectableColumns(table: ResolvedTable): ResolvedColumn[] {
    const access = this.select(table);
    if (!access) return [];
    const columns = table.columns.filter((column) => access.columns.has(column.name));
    const { cells } = access;
    if (cells.columns.size === 0) return columns;
    return columns.map((column) => {
      const visibleIf = cells.columns.get(column.name);
      return visibleIf ? { ...column, isNullable: true, visibleIf } : column;
    });
  }

  /** Returns the computed fields the role may see: permitted values, and rows of tables it may read. */
  visibleComputedFields(table: ResolvedTable): ResolvedComputedField[] {
    const access = this.select(table);
    if (!access) return [];
    const visible = [...table.computedFields.values()].filter((field) => {
      if (field.returns.kind === 'scalar')
        return access.computedFields === null || access.computedFields.has(field.name);
      return this.select(targetOf(this.model, table.source, field.returns.table)) !== null;
    });
    const cells = access.cells.computedFields;
    if (cells.size === 0) return visible;
    return visible.map((field) => {
      const visibleIf = cells.get(field.name);
      return visibleIf ? { ...field, visibleIf } : field;
    });
  }

  /** True when the role may select aggregates over the table's rows. */
  mayAggregate(table: ResolvedTable): boolean {
    return this.select(table)?.allowsAggregation === true;
  }

  /** Returns the array relationships to tables the role may aggregate. */
  aggregatedRelationships(table: ResolvedTable): Related[] {
    return this.comparableRelationships(table).filter(
      ({ relationship, target }) => relationship.kind === 'array' && this.mayAggregate(target),
    );
  }

  /** Returns the aggregate functions that apply to at least one column or computed field. */
  aggregateFunctions(table: ResolvedTable): AggregateOperands[] {
    const all = this.selectableColumns(table);
    const fields = this.visibleComputedFields(table);
    return AGGREGATE_FUNCTIONS.map((fn) => ({
      fn,
      columns: all.filter(({ scalar, type }) => isAggregated(fn, scalar, type)),
      computed: fields.filter(
        ({ returns }) => returns.kind === 'scalar' && isAggregated(fn, returns.scalar, returns.type),
      ),
    })).filter(({ columns, computed }) => columns.length + computed.length > 0);
  }

  /** Returns the relationships to tables the role may read. */
  relationships(table: ResolvedTable): Related[] {
    return [...table.relationships.values()]
      .map((relationship) => ({
        relationship,
        target: targetOf(this.model, table.source, relationship.join.table),
      }))
      .filter(({ target }) => this.select(target) !== null);
  }

  /** Returns the relationships usable in conditions and orders: those between tables. */
  comparableRelationships(table: ResolvedTable): Related[] {
    return table.native ? [] : this.relationships(table).filter(({ target }) => !target.native);
  }

  /** Returns the GraphQL type of a column, an argument or a computed field. */
  valueType({ scalar, enum: resolved }: Typed): ValueType {
    if (resolved) return this.named(resolved.typeName, () => enumType(resolved));
    const element = this.#elementOf(scalar);
    return element
      ? new ArrayType(new GraphQLNonNull(this.valueType({ scalar: element })))
      : this.scalar(scalar);
  }

  /** Returns the name of a scalar inside names of types: `String`, `String_array`. */
  valueName(scalar: Scalar): string {
    const element = this.#elementOf(scalar);
    return element ? `${this.valueName(element)}_array` : this.scalarName(scalar);
  }

  /** Returns the element type of an array; null when arrays are scalars. */
  #elementOf({ element }: Scalar): Scalar | null {
    return this.model.features.has('disable_postgres_arrays') ? null : element;
  }

  /** Returns the GraphQL type of a Postgres scalar. It takes the values that a column takes, and so is another type than GraphQL's own
   *  of the same name, except for introspection. */
  scalar(scalar: Scalar): GraphQLScalarType {
    const builtIn = own(BUILT_IN, scalar.name);
    if (builtIn && this.#isWhole) return builtIn;
    return this.named(builtIn ? scalar.name : this.scalarName(scalar), (name) => {
      return new GraphQLScalarType({ name, extensions: scalarExtensions(scalar) });
    });
  }

  /** Returns the GraphQL name of a scalar. A Postgres type and a table may both be called `line`: the table keeps the name. */
  scalarName(scalar: Scalar): string {
    const free = (name: string): string => (this.model.typeNames.has(name) ? free(`pg_${name}`) : name);
    return free(spelledName(scalar));
  }
}

/** Returns the GraphQL enum of an enum table. Its internal values are those of the database, and a role needs no permission on
 *  the table to see them. */
function enumType(resolved: ResolvedEnum): GraphQLEnumType {
  return new GraphQLEnumType({
    name: resolved.typeName,
    extensions: enumExtensions(resolved),
    values: Object.fromEntries(
      resolved.values.map(({ name, value, description }) => [name, { value, description }]),
    ),
  });
}

function relayTypeNames({ sources }: Model): ReadonlySet<string> {
  const types = [...sources.values()].flatMap(({ tables }) =>
    [...tables.values()].flatMap((table) => [
      relayTypeName(table, 'Connection'),
      relayTypeName(table, 'Edge'),
    ]),
  );
  return new Set(['Node', 'PageInfo', ...types]);
}

/** Returns the name of a scalar with the characters GraphQL does not allow replaced by underscores. */
function spelledName(scalar: Scalar): string {
  return scalar.name.replaceAll(/[^_0-9A-Za-z]/g, '_').replace(/^(?=\d)/, '_');
}

/** GraphQL's built-in scalars by name. */
export const BUILT_IN: Readonly<Record<string, GraphQLScalarType>> = {
  ID: GraphQLID,
  Int: GraphQLInt,
  Float: GraphQLFloat,
  String: GraphQLString,
  Boolean: GraphQLBoolean,
};
