/** What the concepts of a role's schema share while it is built: the model, the role's access, and a memo of named types,
 *  so that each exists once and cycles between tables close. Fields are thunks: a type is built when it is reached. */
import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLScalarType,
  GraphQLString,
} from 'graphql';
import type { Scalar } from '../catalog/scalars.ts';
import { own } from '../metadata/own.ts';
import { accessOf, NO_ACCESS, targetOf } from '../resolve/access.ts';
import { relayTypeName } from '../resolve/names.ts';
import type {
  Model,
  ResolvedColumn,
  ResolvedEnum,
  ResolvedRelationship,
  ResolvedTable,
  SelectAccess,
  TableAccess,
} from '../resolve/types.ts';
import { enumType } from './enum.ts';
import { ArrayType, scalarExtensions, type ValueType } from './origin.ts';

export type Related = { readonly relationship: ResolvedRelationship; readonly target: ResolvedTable };

/** A column, or anything else that is a value. */
export type Typed = { readonly scalar: Scalar; readonly enum?: ResolvedEnum };

export class SchemaBuilder {
  readonly model: Model;
  readonly role: string;
  /** Whether `backend_only` permissions count. */
  readonly mayUseBackendOnly: boolean;
  /** Whether rows come in connections, and objects have a global id. */
  readonly isRelay: boolean;
  #taken: ReadonlySet<string> | undefined;
  readonly #types = new Map<string, GraphQLNamedType>();

  /** Is it for introspection, where a type is known by its name alone? */
  readonly #isWhole: boolean;

  constructor(model: Model, role: string, mayUseBackendOnly: boolean, isRelay = false, isWhole = false) {
    this.#isWhole = isWhole;
    this.model = model;
    this.isRelay = isRelay;
    this.role = role;
    this.mayUseBackendOnly = mayUseBackendOnly;
  }

  /** The type of that name, made by `build` at its first use. */
  named<T extends GraphQLNamedType>(name: string, build: (name: string) => T): T {
    let type = this.#types.get(name);
    if (!type) {
      type = build(name);
      this.#types.set(name, type);
    }
    return type as T;
  }

  /** A type of a remote schema: another may have one of that name, of which the role sees more or less. */
  namedIn(remote: string, name: string, build: () => GraphQLNamedType): GraphQLNamedType {
    return this.named(this.#isWhole ? name : `${remote} ${name}`, build);
  }

  access(table: ResolvedTable): TableAccess {
    const access = this.isTaken(table.typeName) ? NO_ACCESS : accessOf(table, this.role);
    if (this.mayUseBackendOnly) return access;
    return {
      select: access.select,
      insert: access.insert?.backendOnly ? null : access.insert,
      update: access.update?.backendOnly ? null : access.update,
      delete: access.delete?.backendOnly ? null : access.delete,
    };
  }

  select(table: ResolvedTable): SelectAccess | null {
    return this.isTaken(table.typeName) ? null : accessOf(table, this.role).select;
  }

  /** Is there a type of the relay schema that is called so? */
  isTaken(typeName: string): boolean {
    if (!this.isRelay) return false;
    this.#taken ??= relayTypeNames(this.model);
    return this.#taken.has(typeName);
  }

  /** As the role sees them: one that it does not see in every row may be null. */
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

  /** Relationships whose other table the role may read. */
  relationships(table: ResolvedTable): Related[] {
    return [...table.relationships.values()]
      .map((relationship) => ({
        relationship,
        target: targetOf(this.model, table.source, relationship.join.table),
      }))
      .filter(({ target }) => this.select(target) !== null);
  }

  /** Relationships that rows can be chosen and ordered by: those between tables. */
  comparableRelationships(table: ResolvedTable): Related[] {
    return table.native ? [] : this.relationships(table).filter(({ target }) => !target.native);
  }

  /** What a column, an argument or a computed field holds. */
  valueType({ scalar, enum: resolved }: Typed): ValueType {
    if (resolved) return this.named(resolved.typeName, () => enumType(resolved));
    const element = this.#elementOf(scalar);
    return element
      ? new ArrayType(new GraphQLNonNull(this.valueType({ scalar: element })))
      : this.scalar(scalar);
  }

  /** What the names of types say of a scalar: `String`, `String_array`. */
  valueName(scalar: Scalar): string {
    const element = this.#elementOf(scalar);
    return element ? `${this.valueName(element)}_array` : this.scalarName(scalar);
  }

  /** Of an array, where those are lists. */
  #elementOf({ element }: Scalar): Scalar | null {
    return this.model.features.has('disable_postgres_arrays') ? null : element;
  }

  scalar(scalar: Scalar): GraphQLScalarType {
    return (
      own(BUILT_IN, scalar.name) ??
      this.named(this.scalarName(scalar), (name) => {
        return new GraphQLScalarType({ name, extensions: scalarExtensions(scalar) });
      })
    );
  }

  /** GraphQL has one name for a column of type `line` and the rows of a table `line`: those keep it. */
  scalarName(scalar: Scalar): string {
    const free = (name: string): string => (this.model.typeNames.has(name) ? free(`pg_${name}`) : name);
    return free(spelledName(scalar));
  }
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

/** A Postgres type may be called what GraphQL cannot: other characters become underscores. */
function spelledName(scalar: Scalar): string {
  return scalar.name.replaceAll(/[^_0-9A-Za-z]/g, '_').replace(/^(?=\d)/, '_');
}

/** GraphQL's own, by name. */
export const BUILT_IN: Readonly<Record<string, GraphQLScalarType>> = {
  ID: GraphQLID,
  Int: GraphQLInt,
  Float: GraphQLFloat,
  String: GraphQLString,
  Boolean: GraphQLBoolean,
};
