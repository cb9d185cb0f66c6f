/** Runs a hand-built plan's statements on a test database and splices their rows, as execute/ would. For the twins of this room. */

import type { Database, Row } from '../../database/pool.ts';
import { type Binding, bind } from '../../execute/bind.ts';
import { bodyText, splice } from '../../execute/splice.ts';
import type { Plan } from '../../plan/types.ts';
import { preparePlan } from '../plan.ts';

const ADMIN = { role: 'admin', variables: {}, mayUseBackendOnly: false };

export type Outcome = {
  readonly data: unknown;
  /** First row of each statement that is not an `answer`. */
  readonly rows: readonly Row[];
};

export async function runPlan(
  database: Database,
  plan: Plan,
  { session = ADMIN, variables = {} }: Partial<Binding> = {},
): Promise<Outcome> {
  const prepared = preparePlan(plan);
  const rows: Row[] = [];
  const answers: Row[] = [];
  for (const { text, parameters, answer } of prepared.statements) {
    const row = await database.run({ name: '', text }, bind(parameters, { session, variables }));
    rows.push(row);
    if (!answer) answers.push(row);
    else {
      const values = bind(answer.parameters, { session, variables, written: row[0] ?? null });
      answers.push(await database.run({ name: '', text: answer.text }, values));
    }
  }
  return { data: JSON.parse(bodyText(splice(prepared.template, answers))).data, rows };
}
