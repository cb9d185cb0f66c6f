/** Functions of the database in the model: root fields and computed fields, with their arguments.
 *  Not here: how they are resolved (resolve/function.ts). */

import type { Scalar } from '../../catalog/scalars.ts';
import type { PgType } from '../../catalog/types.ts';
import type { QualifiedName } from '../../metadata/schema/common.ts';
import type { Predicate } from '../predicate.ts';
import type { JsonForm } from './column.ts';

/** An SQL function that is a root field and returns rows of a tracked table. */
export type ResolvedFunction = {
  readonly source: string;
  readonly function: QualifiedName;
  /** The name of the input type of its arguments. */
  readonly argsTypeName: string;
  readonly rootField: string;
  readonly aggregateRootField: string;
  readonly description: string | null;
  readonly returns: QualifiedName;
  readonly returnsSet: boolean;
  readonly exposedAs: 'query' | 'mutation';
  readonly isVolatile: boolean;
  /** True when every role that may read the returned table may call the function (--infer-function-permissions). False when its
   *  permissions name roles: then only those may. */
  readonly isForReaders: boolean;
  /** Arguments in call order. */
  readonly arguments: readonly ResolvedArgument[];
  /** The roles that have or inherit a permission. */
  readonly roles: ReadonlySet<string>;
};

export type ResolvedArgument = {
  /** The origin of the value: the row itself, the session variables as json, or the client. */
  readonly kind: 'row' | 'session' | 'user';
  /** The SQL name; null for an argument without a name, which is passed by position. */
  readonly name: string | null;
  readonly graphqlName: string;
  readonly type: PgType;
  readonly scalar: Scalar;
  readonly hasDefault: boolean;
};

/** A field of a table whose value an SQL function computes from the row. */
export type ResolvedComputedField = {
  readonly name: string;
  readonly description: string | null;
  readonly function: QualifiedName;
  readonly arguments: readonly ResolvedArgument[];
  readonly returns:
    | { readonly kind: 'scalar'; readonly type: PgType; readonly scalar: Scalar; readonly json: JsonForm }
    | { readonly kind: 'rows'; readonly table: QualifiedName; readonly isSet: boolean };
  /** Set for one role (schema/function.ts): the field is null in rows that do not satisfy this. */
  readonly visibleIf?: Predicate;
};
