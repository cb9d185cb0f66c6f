/** Runs the steps of a plan. In a query all steps run at the same time. In a mutation they run in order: statements between two
 *  calls share a transaction, and what is committed stays committed when a later step fails. Keyed steps follow, level by level.
 *  In: a planned request and its context. Out: a row of columns for each step, and the errors that stand beside `data`.
 *  Not here: one step of each kind (statements.ts, action.ts, entities.ts, remote.ts, webhook/), keys (join.ts).
 *  Reference: docs/reference/behaviour/mutations.md, docs/reference/behaviour/remote-schemas.md. */
import { AnswerMemory } from '../outgoing/answer-memory.ts';
import type { Step } from '../sql/plan.ts';
import { validateInput } from '../webhook/input-validation.ts';
import type { Row } from '../wire/statement.ts';
import { runAction } from './action.ts';
import { runEntities } from './entities.ts';
import { joinKeyedSteps } from './join.ts';
import { remoteFailure, runRemote } from './remote.ts';
import { schemaText } from './schema-text.ts';
import { runMutation, runQuery } from './statements.ts';
import { bindingOf, type RunContext, type StepResult } from './step-types.ts';

export type Results = {
  /** The columns of each step. Null when `data` is null. */
  readonly rows: readonly Row[] | null;
  readonly errors: readonly unknown[];
};

const NO_ERRORS: readonly unknown[] = [];

export async function runSteps(run: RunContext): Promise<Results> {
  const { operation, steps, keyedSteps } = run.planned.plan;
  const isMutation = operation === 'mutation';
  const [only] = steps;
  if (steps.length === 1 && only!.kind === 'statement' && keyedSteps.length === 0) {
    const { statement } = only!;
    const binding = bindingOf(run);
    if (isMutation)
      return { rows: await runMutation([statement], binding, run.databases), errors: NO_ERRORS };
    return { rows: [await runQuery(statement, binding, run.databases)], errors: NO_ERRORS };
  }
  const isCalling = keyedSteps.length > 0 || steps.some(({ kind }) => kind !== 'statement');
  const results = await (isCalling ? runCalls(run, isMutation) : runAll(run, isMutation));
  const { record } = run.outbound;
  if (record && results.errors.length > 0) record.error = results.errors;
  return results;
}

/** Runs steps that call services. Their answers hold memory until all steps are done. */
async function runCalls(run: RunContext, isMutation: boolean): Promise<Results> {
  const memory = new AnswerMemory();
  try {
    return await runAll({ ...run, outbound: { ...run.outbound, memory } }, isMutation);
  } finally {
    memory.release();
  }
}

async function runAll(run: RunContext, isMutation: boolean): Promise<Results> {
  const { steps, keyedSteps } = run.planned.plan;
  const results = await (isMutation ? runInOrder(steps, run) : runTogether(steps, run));
  const errors = results.flatMap((result) => result.errors);
  // A mutation stops at the first step that is not usable.
  if (results.length < steps.length || !results.every(({ isUsable }) => isUsable))
    return { rows: null, errors };
  const rows = results.map(({ columns }) => columns);
  if (keyedSteps.length === 0) return { rows, errors };
  const joined = await joinKeyedSteps(rows, run);
  return { rows: joined.rows, errors: [...errors, ...joined.errors] };
}

function runTogether(steps: readonly Step[], run: RunContext): Promise<readonly StepResult[]> {
  const binding = bindingOf(run);
  return Promise.all(
    steps.map(async (step) => {
      if (step.kind === 'statement') return resultOf(await runQuery(step.statement, binding, run.databases));
      if (step.kind !== 'remote') return runCall(step, run);
      // A remote schema that fails makes its own fields null, and no others.
      return runRemote(step.call, run).catch((error: unknown) =>
        remoteFailure(error, step.call, run.outbound),
      );
    }),
  );
}

async function runInOrder(steps: readonly Step[], run: RunContext): Promise<readonly StepResult[]> {
  const binding = bindingOf(run);
  const results: StepResult[] = [];
  while (results.length < steps.length) {
    const rest = steps.slice(results.length);
    const end = rest.findIndex(({ kind }) => kind !== 'statement');
    const between = rest.slice(0, end < 0 ? rest.length : end);
    const statements = between.flatMap((step) => (step.kind === 'statement' ? [step.statement] : []));
    if (statements.length > 0) {
      results.push(...(await runMutation(statements, binding, run.databases)).map(resultOf));
    } else {
      const result = await runCall(rest[0]!, run);
      results.push(result);
      if (!result.isUsable) break;
    }
  }
  return results;
}

const resultOf = (columns: Row): StepResult => ({ columns, errors: NO_ERRORS, isUsable: true });

async function runCall(step: Step, run: RunContext): Promise<StepResult> {
  switch (step.kind) {
    case 'validation': {
      const { session, outbound, planned } = run;
      await validateInput(step.validation, { session, variables: planned.variables.values }, outbound);
      return resultOf([]);
    }
    case 'remote':
      return runRemote(step.call, run);
    case 'schema-text':
      return resultOf([await schemaText(step.text)]);
    case 'action':
      return resultOf([await runAction(step, run)]);
    case 'entities':
      return runEntities(step, run);
    case 'statement':
      throw new Error('a statement is not a call');
    default:
      return step satisfies never;
  }
}
