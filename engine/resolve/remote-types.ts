/** Relationships that leave a source or start in a remote schema, in the Model. Pure data, made by remote-relationship.ts
 *  and remote-step.ts. */
import type { PgType } from '../catalog/types.ts';
import type {
  ResolvedColumn,
  ResolvedComputedField,
  ResolvedRelationship,
  ResolvedRemoteSchema,
  ResolvedTable,
} from './types.ts';
import type { UpstreamField } from './upstream.ts';

/** Those that start in remote schemas, by remote schema, type and name; the first two are the remote's own names. */
export type TypeRelationships = ReadonlyMap<
  string,
  ReadonlyMap<string, ReadonlyMap<string, ResolvedRemoteRelationship>>
>;

/** A relationship to what is not in the same source. */
export type ResolvedRemoteRelationship = {
  readonly name: string;
  /** The values that decide what belongs to it. */
  readonly keys: readonly JoinKey[];
  readonly target: /** Rows of a source: `relationship` joins them to rows of keys, whose columns are of these types. */
    | {
        readonly kind: 'source';
        readonly source: string;
        readonly keyTypes: readonly PgType[];
        readonly relationship: ResolvedRelationship;
      }
    /** What is found at the end of the steps. */
    | {
        readonly kind: 'remote';
        readonly remote: ResolvedRemoteSchema;
        readonly steps: readonly RemoteStep[];
      };
};

/** A value of a row, or of an object of a remote schema. */
export type JoinKey =
  /** `isEnum`: what is not GraphQL's own scalar, is it an enum? */
  | { readonly kind: 'upstream'; readonly field: UpstreamField; readonly isEnum: boolean }
  | { readonly kind: 'column'; readonly column: ResolvedColumn }
  | {
      readonly kind: 'computed';
      readonly table: ResolvedTable;
      readonly field: ResolvedComputedField;
      readonly returns: Extract<ResolvedComputedField['returns'], { kind: 'scalar' }>;
    };

/** A field of a remote schema, by its own name, and what it is given. */
export type RemoteStep = {
  readonly field: string;
  readonly arguments: ReadonlyMap<string, StepValue>;
};

export type StepValue =
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'key'; readonly place: number }
  | { readonly kind: 'list'; readonly items: readonly StepValue[] }
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, StepValue> };
