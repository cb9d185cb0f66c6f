/** The SQL of a native query in the model.
 *  Not here: how it is resolved (resolve/native-query.ts), its code (resolve/native-query-code.ts). */

import type { Scalar } from '../../catalog/scalars.ts';
import type { PgType } from '../../catalog/types.ts';

/** The SQL of a native query. */
export type NativeRows = {
  readonly code: readonly (string | { readonly argument: string })[];
  readonly arguments: readonly NativeArgument[];
  /** The name of the logical model, which the types of `where` and `order_by` are named after. */
  readonly model: string;
};

export type NativeArgument = {
  readonly name: string;
  readonly type: PgType;
  readonly scalar: Scalar;
  readonly isNullable: boolean;
  readonly description: string;
};
