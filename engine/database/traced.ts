/** Databases that make a span of every statement, for the one request that has a trace. Where there is none they are not in
 *  the way at all. A statement's text has no values in it. Source: OpenTelemetry semantic conventions, "Database". */
import { type Span, within } from '../observe/span.ts';
import type { Databases } from './databases.ts';
import { type Database, type Run, wrapped } from './pool.ts';

export function traced(databases: Databases, parent: Span): Databases {
  return { get: (source, access) => tracedDatabase(databases.get(source, access), source, parent) };
}

function tracedDatabase(database: Database, source: string, parent: Span): Database {
  const spanned =
    (run: Run): Run =>
    (statement, values, patience) => {
      const attributes = {
        'db.system.name': 'postgresql',
        'db.namespace': source,
        'db.query.text': statement.text,
      };
      return within(parent.child('statement', 'client', attributes), () => run(statement, values, patience));
    };
  return wrapped(database, spanned);
}
