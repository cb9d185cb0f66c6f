/** Ends a connection whose database has fallen silent: a statement that waits for it would hold its turn for ever, and a statement that takes
 *  long is no sign of that. The sign is that the database does not answer on another connection either.
 *  In: the client that holds the turn, how the database is asked. Out: a function that ends the watch.
 *  Not here: a database that is silent before anything began (target-waits.ts). */
import type pg from 'pg';

/** The interval of checks. Most transactions have ended before the first one. */
const CHECK_MS = 5000;
/** The time in which the database has to answer: one that is busy takes seconds to open a connection. */
export const ANSWER_SECONDS = 10;

/** Watches until the returned function is called. `answers` resolves to false when the database did not answer in time. */
export function endWhenSilent(client: pg.ClientBase, answers: () => Promise<boolean>): () => void {
  let isOver = false;
  const check = async () => {
    const isThere = await answers();
    if (isOver) return;
    if (isThere) schedule();
    else (client as pg.Client).connection.stream.destroy();
  };
  let timer: NodeJS.Timeout;
  const schedule = () => {
    timer = setTimeout(() => void check(), CHECK_MS).unref();
  };
  schedule();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
