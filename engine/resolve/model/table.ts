/** A tracked table of the model, and the relationships that lead from its rows to other sources and remote schemas.
 *  Not here: its columns, functions and permissions (column.ts, function.ts, access.ts), how it is resolved (resolve/table.ts). */

import type { CatalogIndex, CatalogKey, PgType } from '../../catalog/types.ts';
import type { QualifiedName } from '../../metadata/schema/common.ts';
import type { RootFieldKind } from '../../metadata/schema/table.ts';
import type { Naming, Part } from '../naming.ts';
import type { UpstreamField } from '../upstream.ts';
import type { TableAccess } from './access.ts';
import type { ResolvedColumn } from './column.ts';
import type { ResolvedEnum } from './enum.ts';
import type { ResolvedComputedField } from './function.ts';
import type { NativeRows } from './native-query.ts';
import type { ResolvedRelationship } from './relationship.ts';
import type { ResolvedRemoteSchema } from './remote-schema.ts';
import type { RemoteStep } from './remote-step.ts';

export type ResolvedTable = {
  readonly source: string;
  readonly table: QualifiedName;
  /** How the source spells names. */
  readonly naming: Naming;
  /** The part that names of fields and types are composed of: `author`, `sales_order`, or the custom name. */
  readonly base: Part;
  /** The name of the object type. */
  readonly typeName: string;
  /** Present when GraphQL cannot spell its name. No schema has the table; operations on rows and event triggers do. */
  readonly isUnnameable?: true;
  readonly description: string | null;
  /** Columns in catalog order, without those whose name is no GraphQL name. */
  readonly columns: readonly ResolvedColumn[];
  /** Every column, by SQL name. */
  readonly columnByName: ReadonlyMap<string, ResolvedColumn>;
  /** Columns of the primary key, in key order; null without one. */
  readonly primaryKey: readonly ResolvedColumn[] | null;
  /** Present when a federated graph may fetch rows by their key. */
  readonly isEntity?: true;
  /** The primary key, then the unique keys. `on_conflict` may name those that are constraints. */
  readonly uniqueKeys: readonly CatalogKey[];
  /** Unique indexes that `on_conflict` may name because the metadata lists them. */
  readonly conflictIndexes: readonly CatalogIndex[];
  /** True for a partitioned table, where Postgres does not tell which row an upsert found. */
  readonly isPartitioned: boolean;
  /** Present when other tables inherit from it: its keys do not cover all of its rows. */
  readonly isParent?: true;
  /** Every root field, by kind, with its final name. */
  readonly rootFields: Readonly<Record<RootFieldKind, RootField>>;
  /** The relationships by name, in metadata order, object relationships first. */
  readonly relationships: ReadonlyMap<string, ResolvedRelationship>;
  /** The computed fields by name, in metadata order. */
  readonly computedFields: ReadonlyMap<string, ResolvedComputedField>;
  /** Keyed by name; absent when there are none. */
  readonly remoteRelationships?: ReadonlyMap<string, ResolvedRemoteRelationship>;
  /** The enum that its rows are, when it is an enum table. */
  readonly enum?: ResolvedEnum;
  /** By role, without the administrator. Read through accessOf (access.ts). */
  readonly permissions: ReadonlyMap<string, TableAccess>;
  /** The access of the administrator: everything the database allows. */
  readonly adminAccess: TableAccess;
  readonly isInsertable: boolean;
  readonly isUpdatable: boolean;
  readonly isDeletable: boolean;
  /** Present for the rows of a native query, which are no table. */
  readonly native?: NativeRows;
};

export type RootField = { readonly name: string; readonly description: string | null };

export type ResolvedRemoteRelationship = {
  readonly name: string;
  /** The values by which it is joined. */
  readonly keys: readonly JoinKey[];
  readonly target: /** Rows of a source. `relationship` joins them to rows of keys, whose columns have the types `keyTypes`. */
    | {
        readonly kind: 'source';
        readonly source: string;
        readonly keyTypes: readonly PgType[];
        readonly relationship: ResolvedRelationship;
      }
    /** The field of a remote schema that the steps lead to. */
    | {
        readonly kind: 'remote';
        readonly remote: ResolvedRemoteSchema;
        readonly steps: readonly RemoteStep[];
      };
};

/** A value of a row, or of an object of a remote schema. */
export type JoinKey =
  /** A field of an object; `isEnum` is true when its type is an enum. */
  | { readonly kind: 'upstream'; readonly field: UpstreamField; readonly isEnum: boolean }
  | { readonly kind: 'column'; readonly column: ResolvedColumn }
  | {
      readonly kind: 'computed';
      readonly table: ResolvedTable;
      readonly field: ResolvedComputedField;
      readonly returns: Extract<ResolvedComputedField['returns'], { kind: 'scalar' }>;
    };

/** A field of a remote schema, by its own name, and its arguments. */
