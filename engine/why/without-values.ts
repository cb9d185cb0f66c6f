/** A judged row without the values of its columns, for requests with the console secret: whether each clause holds, not what the row has.
 *  The texts of Postgres's errors are left out, too, because they may quote a value.
 *  In: JudgedRow. Out: JudgedRow. Pure. Not here: judging (clause-truth.ts), who asks (admin/explain-access.ts). */
import type { TruthAnswer } from '../execute/row-truth.ts';
import type { JudgedClause } from './clause-truth.ts';
import type { JudgedRow } from './verdict.ts';

const HIDDEN_ERROR = 'the database could not evaluate it; administrators see why';

export function withoutValues(row: JudgedRow): JudgedRow {
  const { inserted, changed, filter, where, check, grants } = row;
  return {
    ...row,
    inserted: withoutError(inserted),
    changed: withoutError(changed),
    filter: withoutError(filter),
    where: withoutError(where),
    check: withoutError(check),
    grants: grants.map((one) => ({
      ...one,
      filter: one.filter && clauseWithoutValues(one.filter),
      check: one.check && clauseWithoutValues(one.check),
    })),
  };
}

function withoutError(answer: TruthAnswer | null): TruthAnswer | null {
  return answer && 'error' in answer ? { error: HIDDEN_ERROR } : answer;
}

function clauseWithoutValues({ value: _, ...clause }: JudgedClause): JudgedClause {
  return {
    ...clause,
    error: clause.error === null ? null : HIDDEN_ERROR,
    clauses: clause.clauses.map(clauseWithoutValues),
  };
}
