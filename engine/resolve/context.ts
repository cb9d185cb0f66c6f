/** What the steps of one resolution share, and a source between two steps.
 *  Not here: the order of the steps (resolve.ts), the steps of a source (source.ts, native-query.ts, inherited-roles.ts). */
import type { Catalog } from '../catalog/types.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import type { VariableRules } from './environment-variables.ts';
import type { Inconsistencies } from './inconsistency.ts';
import type { ResolvedLogicalModel } from './logical-model.ts';
import type { Memo } from './memo.ts';
import type { ResolveOptions } from './model/options.ts';
import type { ResolvedTable } from './model/table.ts';
import type { Naming } from './naming.ts';

export type ResolveContext = {
  readonly options: ResolveOptions;
  /** Names of the experimental features that are on. */
  readonly features: ReadonlySet<string>;
  readonly variables: VariableRules;
  readonly memo: Memo;
  /** Receives what does not fit. */
  readonly found: Inconsistencies;
};

/** A source with the objects that fit so far, and the metadata and catalog they come from. */
export type PartialSource = {
  readonly name: string;
  readonly naming: Naming;
  readonly source: Source;
  readonly catalog: Catalog;
  /** The metadata of each table, by qualifiedKey. */
  readonly definitions: ReadonlyMap<string, Table>;
  /** The tracked tables, by qualifiedKey. */
  readonly tables: ReadonlyMap<string, ResolvedTable>;
  /** Logical models, by name. */
  readonly models: ReadonlyMap<string, ResolvedLogicalModel>;
  /** Rows of native queries, by qualifiedKey of nativeName (names.ts). */
  readonly nativeQueries: ReadonlyMap<string, ResolvedTable>;
};

/** Returns a source without any object; its naming is still to be set. */
export function emptySource(source: Source, catalog: Catalog): Omit<PartialSource, 'naming'> {
  const [definitions, tables, models, nativeQueries] = [new Map(), new Map(), new Map(), new Map()];
  return { name: source.name, source, catalog, definitions, tables, models, nativeQueries };
}

/** Returns a map with the same keys, in the same order, and other values. */
export function mapValues<T, U = T>(
  map: ReadonlyMap<string, T>,
  change: (value: T) => U,
): ReadonlyMap<string, U> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}
