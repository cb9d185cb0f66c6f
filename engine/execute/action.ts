/** Runs an action step: checks the action's value against the output type, and joins the rows that belong to its objects.
 *  Raises what performing the action raises (webhook/action.ts).
 *  Not here: the selected fields (webhook/action-output.ts), keys (join.ts). Reference: docs/reference/behaviour/actions.md. */
import { parseJson } from '../json/parse-json.ts';
import type { Step } from '../sql/plan.ts';
import { performAction, refuseOutput } from '../webhook/action.ts';
import { checkOutput, type JoinedRows, outputText } from '../webhook/action-output.ts';
import { rowsOfEach } from './join.ts';
import type { RunContext } from './step-types.ts';

type ActionStep = Extract<Step, { kind: 'action' }>;

/** Returns the selected part of the action's value as JSON text. */
export async function runAction({ call, rows: read }: ActionStep, run: RunContext): Promise<string> {
  const { text, variables } = run.planned;
  const answer = await performAction(call, { text, variables: variables.values }, run);
  if (!call.output) return JSON.stringify(answer.value);
  const parents = call.joins.map((): object[] => []);
  checkOutput(call.output, answer.value, parents, (problem) => refuseOutput(problem, answer));
  const keys = call.joins.map(({ fields }, join) =>
    parents[join]!.map((object) => fields.map((field) => memberOf(object, field) ?? null)),
  );
  const rows = await rowsOfEach(read, keys, (json) => parseJson(json) as JoinedRows[number], run);
  return outputText(call.output, answer.value, rows);
}

function memberOf(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Readonly<Record<string, unknown>>)[name] : undefined;
}
