/** Databases that write down every statement before they run it. */

import type { Databases } from '../../database/databases.ts';
import { type Run, wrapped } from '../../database/pool.ts';

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
  return {
    databases: { get: (source) => wrapped(databases.get(source), { around: noting }) },
    taken: () => {
      const taken = texts;
      texts = [];
      return taken;
    },
  };
}
