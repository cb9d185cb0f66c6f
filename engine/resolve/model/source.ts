/** A source of the model: a database with what is tracked in it.
 *  Not here: how it is resolved (resolve/source.ts). */

import type { Reaction } from '../../catalog/types.ts';
import type { QueryTags } from '../../metadata/schema/source.ts';
import type { Distributions } from '../distributions.ts';
import type { Naming } from '../naming.ts';
import type { ResolvedEventTrigger } from './event-trigger.ts';
import type { ResolvedFunction } from './function.ts';
import type { ResolvedTable } from './table.ts';

export type ResolvedSource = {
  readonly name: string;
  readonly naming: Naming;
  /** The tracked tables, by qualifiedKey. */
  readonly tables: ReadonlyMap<string, ResolvedTable>;
  /** Tracked functions, by qualifiedKey. */
  readonly functions: ReadonlyMap<string, ResolvedFunction>;
  /** Rows of native queries, by qualifiedKey of nativeName (names.ts). */
  readonly nativeQueries: ReadonlyMap<string, ResolvedTable>;
  /** The event triggers by name, in metadata order. */
  readonly eventTriggers: ReadonlyMap<string, ResolvedEventTrigger>;
  /** The reactions to writes of tables that need the session of the writer, by qualifiedKey. */
  readonly reactions: ReadonlyMap<string, Reaction>;
  /** The distributions of tables, by qualifiedKey, when the database is a Citus cluster; otherwise null. */
  readonly distributions: Distributions | null;
  /** The configuration of comments on statements; null when there are none. */
  readonly queryTags: QueryTags | null;
};
