/** The databases of all sources, as code that runs statements sees them.
 *  Not here: opening them (sources.ts), one database (pool.ts). */
import type { RoutedRequest } from '../transform/connection.ts';
import { abandonable, type Database } from './pool.ts';

/** Where databases are looked up by the name of their source: database/sources.ts. */
export interface Databases {
  /** Returns a read replica for `read` where the source has one. */
  get(source: string, access?: 'read'): Database;
  /** Returns the databases that connection templates choose for a request. Absent when no source has a template. */
  readonly chosenFor?: (request: RoutedRequest) => Databases;
  /** Returns a key of the choice: requests with equal keys use the same database. Absent when there is nothing to choose. */
  readonly choiceOf?: (source: string) => string;
}

/** Returns databases whose statements are cancelled when `signal` is aborted. */
export function abandonableBy(databases: Databases, signal: AbortSignal): Databases {
  const { choiceOf } = databases;
  return {
    get: (source, access) => abandonable(databases.get(source, access), signal),
    ...(choiceOf && { choiceOf }),
  };
}
