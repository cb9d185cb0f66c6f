/** The databases of all sources, for code that runs statements, and their variant for one request.
 *  Not here: opening them (sources.ts), one database (pool.ts). Source of span attributes: OpenTelemetry semantic conventions,
 *  "Database". */

import { type Span, within } from '../observe/span.ts';
import type { RoutedRequest } from '../transform/connection.ts';
import type { Patience } from '../wire/patience.ts';
import { type Database, type Run, wrapped } from './pool.ts';

/** Looks up databases by the name of their source. */
export interface Databases {
  /** Returns a read replica for `read` where the source has one. */
  get(source: string, access?: 'read'): Database;
  /** Returns the databases that connection templates choose for a request. Absent when no source has a template. */
  readonly chosenFor?: (request: () => RoutedRequest) => Databases;
  /** Returns a key of the choice: requests with equal keys use the same database. Absent when there is nothing to choose. */
  readonly choiceOf?: (source: string) => string;
}

/** Returns databases whose statements are cancelled when `signal` is aborted, hold the bytes of their results in `holding`, and have a span
 *  within `span`. Without any of them, the databases are returned as they are. */
export function databasesOfRequest(
  databases: Databases,
  { signal, holding, span = null }: Omit<Patience, 'limitMs'> & { readonly span?: Span | null },
): Databases {
  if (!signal && !span && !holding) return databases;
  const { choiceOf } = databases;
  return {
    get: (source, access) => {
      const around = span ? (run: Run) => withSpan(run, source, span) : undefined;
      return wrapped(databases.get(source, access), { signal, holding, around });
    },
    ...(choiceOf && { choiceOf }),
  };
}

/** The text of a statement contains no values, so it may be an attribute. */
function withSpan(run: Run, source: string, parent: Span): Run {
  return (statement, values, patience) => {
    const attributes = {
      'db.system.name': 'postgresql',
      'db.namespace': source,
      'db.query.text': statement.text,
    };
    return within(parent.child('statement', 'client', attributes), () => run(statement, values, patience));
  };
}
