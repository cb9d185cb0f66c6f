/** A text of administrators or migrations that must be one statement. The extended protocol refuses a text of several ("cannot insert
 *  multiple commands into a prepared statement"), so that Postgres decides where a statement ends, and no text can end a transaction
 *  behind another statement. PostgreSQL manual, "Extended Query". */
import type { QueryConfig } from 'pg';

/** Returns the query of a text without parameters. */
export function oneStatement(text: string): QueryConfig {
  const query = { text, queryMode: 'extended' };
  return query;
}
