/** The one mutable cell of the engine: the current Snapshot. `start` makes the first, `rebuild` and the store's watch the
 *  next ones; whoever took a snapshot keeps it, so a request ends on the document it began with.
 *  Not here: what an operation does to the document (run.ts), rows in the metadata database (store/). */
import type { Snapshot } from './snapshot.ts';

export type EngineStateOptions = {
  readonly metadataDatabaseUrl: string;
  /** Where `{from_env}` values are looked up: the process's environment, with `ENGINE_GRAPHQL_DATABASE_URL` set to the
   *  flag's value when `--database-url` was given. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Was a `--database-url` given: an empty document then starts with a source `default` that reads it from `env`. */
  readonly hasDatabaseUrl: boolean;
  readonly stringifyNumericTypes: boolean;
  /** How often other replicas' changes are looked for besides LISTEN; 0 is never. Default 1000. */
  readonly pollIntervalMs?: number;
  /** How long an unreachable metadata database is waited for at start. Default 60 000. */
  readonly startTimeoutMs?: number;
  readonly report?: (event: StateEvent) => void;
};

/** Everything the state tells its surroundings, for logs and metrics. */
export type StateEvent =
  | { readonly kind: 'database unreachable'; readonly attempt: number; readonly reason: string }
  | { readonly kind: 'migrated'; readonly versions: readonly number[] }
  | { readonly kind: 'source unreachable'; readonly source: string; readonly reason: string }
  | {
      readonly kind: 'published';
      readonly resourceVersion: number;
      readonly inconsistencies: number;
      readonly durationMs: number;
    }
  | { readonly kind: 'watch interrupted'; readonly reason: string };

export declare class EngineState {
  constructor(options: EngineStateOptions);
  snapshot(): Snapshot;
  /** Migrates, loads, introspects, publishes. Throws when the metadata database stays unreachable. */
  start(): Promise<void>;
  /** Introspects every source again and publishes. */
  rebuild(): Promise<void>;
  close(): Promise<void>;
}
