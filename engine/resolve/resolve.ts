/** Metadata + catalogs → Model, in stages. Never fails: what does not fit becomes an Inconsistency and is left out.
 *  Not here yet: functions, computed fields, remote schemas, actions, event triggers, native queries, inherited roles. */
import type { Catalog } from '../catalog/types.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Inconsistency, Model } from './types.ts';

export type ResolveOptions = {
  /** --stringify-numeric-types: bigint, numeric and float8 leave as JSON strings. */
  readonly stringifyNumericTypes: boolean;
};

export type Resolution = { readonly model: Model; readonly inconsistencies: readonly Inconsistency[] };

/** `catalogs` by source name; `{error}` says why a source could not be asked. */
export declare function resolve(
  metadata: Metadata,
  catalogs: ReadonlyMap<string, Catalog | { readonly error: string }>,
  options: ResolveOptions,
): Resolution;
