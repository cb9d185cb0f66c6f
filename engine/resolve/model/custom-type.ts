/** The types that arguments and results of actions have in the model.
 *  Not here: how they are resolved (resolve/custom-type.ts). */
import type { Scalar } from '../../catalog/scalars.ts';
import type { PgType } from '../../catalog/types.ts';
import type { ResolvedRelationship } from './relationship.ts';

export type ActionTypes = {
  /** Declared types, by name. */
  readonly declared: ReadonlyMap<string, CustomType>;
  /** Returns the declared type or the scalar of the database with the name. GraphQL's own scalars are not among them. */
  readonly find: (name: string) => ActionType | undefined;
};

/** A declared type, or a scalar of the database, which needs no declaration. */
export type ActionType = CustomType | { readonly kind: 'database'; readonly scalar: Scalar };

export type CustomType = { readonly name: string; readonly description: string | null } & (
  | { readonly kind: 'scalar' }
  | {
      readonly kind: 'enum';
      readonly values: readonly {
        readonly name: string;
        readonly description: string | null;
        readonly isDeprecated: boolean;
      }[];
    }
  | { readonly kind: 'input'; readonly fields: readonly CustomField[] }
  | ({ readonly kind: 'object' } & CustomObject)
);

export type CustomObject = {
  readonly fields: readonly CustomField[];
  readonly relationships: readonly CustomRelationship[];
  /** The fields whose values join rows, each as a value of a type. Relationships refer to them in their join. */
  readonly keys: readonly CustomKey[];
};

export type CustomField = {
  readonly name: string;
  readonly type: TypeUse;
  readonly description: string | null;
};

export type CustomKey = { readonly column: string; readonly field: string; readonly type: PgType };

export type CustomRelationship = { readonly source: string; readonly relationship: ResolvedRelationship };

/** A reference to a type: `[Book!]`. */
export type TypeUse =
  | { readonly kind: 'named'; readonly name: string; readonly isNullable: boolean }
  | { readonly kind: 'list'; readonly item: TypeUse; readonly isNullable: boolean };
