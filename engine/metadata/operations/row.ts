/** The columns of a row of OPERATIONS, and functions for rows with the usual values.
 *  Not here: the rows, one file for each group beside this one. */

import { ObjectName } from '../schema/common.ts';
import { type TProperties, type TSchema, Type } from '../schema/type.ts';

export type Endpoint = '/v1/query' | '/v1/metadata' | '/v2/query';

/** The consequences of the effect of an operation. */
type EffectRow = {
  /** True when the operation may change the document, and so waits for its turn. */
  readonly mayEdit: boolean;
  /** True when the operation is refused in maintenance mode. */
  readonly isMaintenance: boolean;
};

/** The effects of operations. `edit`: a function from document to document (admin/handlers). `state`: replaces the document or a part of it.
 *  `client-state`: changes the state that a client stores beside the document. `sql`: runs SQL of the client. `database`: changes events in
 *  a database. `migration`: runs migrations, which continue when the request ends. `read`: changes nothing. `rows`: reads or writes rows as
 *  the caller's role. `values`: changes named values, which are no part of the document. `batch`: performs other operations. */
export const EFFECTS = {
  edit: { mayEdit: true, isMaintenance: true },
  state: { mayEdit: true, isMaintenance: true },
  'client-state': { mayEdit: true, isMaintenance: false },
  sql: { mayEdit: true, isMaintenance: true },
  database: { mayEdit: true, isMaintenance: false },
  migration: { mayEdit: false, isMaintenance: true },
  read: { mayEdit: false, isMaintenance: false },
  rows: { mayEdit: false, isMaintenance: false },
  values: { mayEdit: false, isMaintenance: false },
  batch: { mayEdit: false, isMaintenance: false },
} as const satisfies Record<string, EffectRow>;

export type Effect = keyof typeof EFFECTS;

export type OperationDeclaration = {
  readonly effect: Effect;
  readonly args: TSchema;
  /** A sentence for the reference. */
  readonly summary: string;
  readonly versions: readonly number[];
  readonly endpoints: readonly Endpoint[];
  /** True when the newer name is the older one with `pg_` in front. */
  readonly isPrefixed: boolean;
  /** Earlier names, on `/v1/query`. */
  readonly aliases?: readonly string[];
  /** True when the console secret may perform it: it reads, and its answer has no secrets and no values of rows. All others are refused. */
  readonly isForConsole?: true;
  /** How a batch performs its items: all or none, each by itself, or all at the same time. */
  readonly batch?: 'atomic' | 'each' | 'concurrent';
  /** True for an operation on rows that only reads. */
  readonly isReading?: true;
  /** True when `source` is an argument, whose default is `default`. */
  readonly takesSource: boolean;
  /** Rewrites other forms of the arguments to that of `args`. */
  readonly lenient?: (args: unknown) => unknown;
  /** True when an empty object removes a setting, and so differs from a missing argument. */
  readonly keepsEmpty?: boolean;
  /** Raises `parseFailed` for arguments that fit the schema and do not fit together. */
  readonly check?: (args: never) => void;
};

const METADATA: readonly Endpoint[] = ['/v1/query', '/v1/metadata'];

export const EVERYWHERE: readonly Endpoint[] = ['/v1/query', '/v1/metadata', '/v2/query'];

export const SCHEMA: readonly Endpoint[] = ['/v1/query', '/v2/query'];

type Row<E extends Effect, S extends TSchema> = OperationDeclaration & {
  readonly effect: E;
  readonly args: S;
};

/** An operation whose arguments have a schema of their own. */
export function shaped<const E extends Effect, S extends TSchema>(
  effect: E,
  summary: string,
  args: S,
  more: Partial<OperationDeclaration> = {},
): Row<E, S> {
  return {
    summary,
    versions: [1],
    endpoints: METADATA,
    isPrefixed: false,
    takesSource: false,
    ...more,
    effect,
    args,
  };
}

export function row<const E extends Effect, P extends TProperties>(
  effect: E,
  summary: string,
  args: P,
  more: Partial<OperationDeclaration> = {},
) {
  return shaped(effect, summary, Type.Object(args), more);
}

/** An operation on one source: `pg_` in its newer name, `source` among its arguments. */
export function sourced<const E extends Effect, P extends TProperties>(
  effect: E,
  summary: string,
  args: P,
  more: Partial<OperationDeclaration> = {},
) {
  return row(
    effect,
    summary,
    { source: ObjectName, ...args },
    { isPrefixed: true, takesSource: true, ...more },
  );
}
