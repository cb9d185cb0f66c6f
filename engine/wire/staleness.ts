/** Which errors a session may raise only because of what it has cached before the schema changed. A prepared statement keeps the types of
 *  its parameters; a session keeps the variables, plans and row types of the functions that it has called, which no command clears.
 *  In: an error, and how far its statement had come. Out: what may be out of date. Not here: what is done about it (pool.ts).
 *  Sources: PostgreSQL's plancache.c, execExprInterp.c (CheckVarSlotCompatibility), pl_comp.c; the appendix "Error Codes". */
import type pg from 'pg';

/** The part that may be out of date: the prepared statement, which is parsed again, or the session, which is replaced. */
export type Staleness = 'statement' | 'session';

/** How far Postgres had come with a statement: parsed at all, and its parameters read. */
type Stage = {
  /** True when it was parsed for this run. */
  readonly isParsed: boolean;
  /** True when Postgres has parsed it, in this run or before. */
  readonly isAnalyzed: boolean;
  /** True when it has its parameters and a plan. */
  readonly isBound: boolean;
};

/** While a statement that was prepared earlier is bound: its types, tables or functions differ (0A000, 3F000, 42, XX000), it is gone
 *  (26000), or a value is invalid for a type that has been replaced (22, 23514). */
const OF_STATEMENTS = /^(0A000|22...|23514|26000|3F000|42...|XX000)$/;

/** Objects, columns, types and their caches that are missing or differ, in what a function has cached. */
const OF_SESSIONS = /^(3F000|42...|XX000)$/;

/** Errors that depend on nothing that is cached: insufficient_privilege and syntax_error. */
const NEVER = /^(42501|42601)$/;

/** Returns the part that may be out of date; null when the error has another cause. */
export function stalenessOf(
  { code = '', routine = '' }: pg.DatabaseError,
  { isParsed, isAnalyzed, isBound }: Stage,
): Staleness | null {
  if (NEVER.test(code)) return null;
  if (code === '26000' || (!isBound && !isParsed)) return OF_STATEMENTS.test(code) ? 'statement' : null;
  // Postgres reads its catalog while it parses, so that what it says then is true.
  if (!isAnalyzed) return null;
  // A variable of a function still has the type that an enum had.
  const isOldLabel = code === '22P02' && routine === 'enum_in' && isBound;
  const isOldPlan = code === '0A000' && routine === 'RevalidateCachedQuery';
  return isOldLabel || isOldPlan || OF_SESSIONS.test(code) ? 'session' : null;
}
