/** Databases that write down every statement before they run it. */

import type { Database, Run } from '../../execute/pool.ts';
import type { Databases } from '../../execute/run-plan.ts';

export type Captured = {
  readonly databases: Databases;
  /** Texts of the statements since the last call. */
  readonly taken: () => readonly string[];
};

export function captured(databases: Databases): Captured {
  let texts: string[] = [];
  const noting =
    (run: Run): Run =>
    (statement, values) => {
      texts.push(statement.text);
      return run(statement, values);
    };
  const wrap = (database: Database): Database => ({
    run: noting(database.run),
    atomic: (options, body) => database.atomic(options, (run) => body(noting(run))),
    transaction: (options, body) => database.transaction(options, body),
    session: (body) => database.session(body),
    query: (text, values) => database.query(text, values),
    counts: database.counts,
    state: database.state,
    close: () => database.close(),
  });
  return {
    databases: { get: (source) => wrap(databases.get(source)) },
    taken: () => {
      const taken = texts;
      texts = [];
      return taken;
    },
  };
}
