/** The options of the resolution.
 *  Not here: the options of the engine (config/options.ts). */

import type { NamingConvention } from '../../metadata/schema/source.ts';
import type { Environment, ReferenceReader } from '../environment-variables.ts';
import type { RequestBounds } from '../request-policy.ts';
import type { TypeDefinition } from '../type-definition.ts';
import type { Model } from './model.ts';

export type ResolveOptions = {
  /** The environment of the engine. Without it, every variable that an object names counts as set. */
  readonly env?: Environment;
  /** The reader of named values and files. Without it, every one that an object names counts as set. */
  readonly references?: ReferenceReader | undefined;
  /** The option --infer-function-permissions: roles that may read a table may call functions that only read it. Default true. */
  readonly inferFunctionPermissions?: boolean;
  /** The option --stringify-numeric-types: bigint, numeric and float8 are sent as JSON strings. */
  readonly stringifyNumericTypes: boolean;
  /** The option --default-naming-convention, for sources that name no convention. Without it, conventions are off. */
  readonly namingConvention?: NamingConvention | undefined;
  /** The names in --experimental-features, and `v1_boolean_null_collapse`, `null_in_nonnullable_variables` and
   *  `strict_returning` for the flags of that name. Default none. */
  readonly features?: readonly string[];
  /** The option --strict-writes: a role writes only rows that it may read. Default false. */
  readonly strictWrites?: boolean;
  /** The option --header-prefix: how names of session variables begin in documents. Default SESSION_PREFIX. */
  readonly headerPrefix?: string | undefined;
  /** The option --enable-remote-schema-permissions. Default true. With false, every role sees the whole of a remote schema without
   *  permissions; one with permissions is visible to administrators only, and its permissions are inconsistent. */
  readonly enableRemoteSchemaPermissions?: boolean;
  /** True when a remote schema whose permissions are off is open to every role although permissions are declared, as in the reference.
   *  Otherwise only administrators have access to it. */
  readonly opensRemoteSchemas?: boolean;
  /** The option --remote-schema-prioritize-data. Default false. */
  readonly remoteSchemaPrioritizeData?: boolean;
  /** The option --remote-schema-skip-nulls. Default false. */
  readonly remoteSchemaSkipNulls?: boolean;
  /** The option --enable-allowlist: roles may run only documents of the allow list. Default false. */
  readonly enableAllowlist?: boolean;
  /** The time limit of statements of roles without one of their own; absent or null: none. */
  readonly defaultTimeLimitMs?: number | null;
  /** The most bytes in a response to a role without a limit of its own; absent or null: no limit. */
  readonly defaultResponseBytes?: number | null;
  /** The limits of one request; absent: the defaults of the options. */
  readonly requestBounds?: RequestBounds;
  /** Finds the definitions of the engine's types, to compare remote types of the same names with. Without it no two are equal. */
  readonly typeDefinitions?: TypeDefinitions;
};

/** Returns a function that finds the definition of a type of the model by its name. The schema of a model is built by a later stage,
 *  so the function is passed in. */
export type TypeDefinitions = (model: Model) => (name: string) => TypeDefinition | undefined;
