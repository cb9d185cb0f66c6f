/** The compile step of one request, timed: the first time a text is seen (parse, validate, plan, render) and every time after
 *  (two look-ups and the check of its variables). In: a role's schema and requests. Out: lines for the terminal. */
import { performance } from 'node:perf_hooks';
import { cachedPlan } from '../execute/plan-cache.ts';
import { prepareDocument } from '../plan/document.ts';
import { planRequest } from '../plan/plan.ts';
import { coerceVariables } from '../plan/variables.ts';
import type { RoleSchema } from '../schema/role-schemas.ts';
import { preparePlan } from '../sql/plan.ts';

export type Query = {
  readonly name: string;
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
};

const ROUNDS = 2000;

/** Microseconds at the median. */
export type Step = { readonly name: string; readonly first: number; readonly again: number };

export function printSteps(role: RoleSchema, queries: readonly Query[]): readonly Step[] {
  console.log('microseconds at the median of 2,000'.padEnd(40), 'first time', '     again');
  return queries.map((query) => {
    const first = median(() => compileOnce(role, query));
    cachedPlan(role, { query: query.text, variables: query.variables });
    const again = median(() => cachedPlan(role, { query: query.text, variables: query.variables }));
    console.log(query.name.padEnd(40), first.toFixed(1).padStart(10), again.toFixed(1).padStart(10));
    return { name: query.name, first, again };
  });
}

function compileOnce(schema: RoleSchema, { text, variables }: Query): void {
  const document = prepareDocument(schema, text, null);
  preparePlan(planRequest(document, coerceVariables(document, variables)).plan);
}

function median(body: () => void): number {
  for (let i = 0; i < 200; i++) body();
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    body();
    return performance.now() - start;
  });
  return times.sort((a, b) => a - b)[ROUNDS / 2]! * 1000;
}
