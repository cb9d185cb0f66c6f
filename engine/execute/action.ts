/** Runs an action step: the action's value is checked against the output type, and rows that belong to it are read in one
 *  statement per source. Raises what performing the action raises (webhook/action.ts).
 *  Not here: the selected fields (webhook/action-output.ts). Reference: docs/reference/behaviour/actions.md. */
import { parseJson } from '../json/parse-json.ts';
import type { ActionCall } from '../plan/action-types.ts';
import { KEYS_VARIABLE } from '../plan/keyed-rows.ts';
import { performAction, refuseOutput } from '../webhook/action.ts';
import { checkOutput, type JoinedRows, outputText } from '../webhook/action-output.ts';
import { textOfColumn } from '../wire/statement.ts';
import type { CallContext } from './calls.ts';
import type { PlannedRequest, ReadyCall } from './plan-cache.ts';
import { runPlan } from './run-plan.ts';

type ReadyAction = ReadyCall & { readonly call: ActionCall };

/** Returns the action's value as JSON text. */
export async function answerAction(
  ready: ReadyAction,
  asked: PlannedRequest,
  context: CallContext,
): Promise<string> {
  const { call } = ready;
  const { text, variables } = asked;
  const answer = await performAction(call, { text, variables: variables.values }, context);
  if (!call.output) return JSON.stringify(answer.value);
  const parents = ready.joins.map((): object[] => []);
  checkOutput(call.output, answer.value, parents, (problem) => refuseOutput(problem, answer));
  const rows = await joinedRows(ready, parents, asked, context);
  return outputText(call.output, answer.value, rows);
}

/** The rows of each join, one for each of its objects. */
async function joinedRows(
  { call, statements, joins }: ReadyAction,
  parents: readonly (readonly object[])[],
  { variables }: PlannedRequest,
  { session, databases }: CallContext,
): Promise<JoinedRows> {
  if (parents.every((objects) => objects.length === 0)) return [];
  const keys = call.joins.map(({ fields }, place) =>
    fields.map((field) => parents[place]!.map((object) => memberOf(object, field) ?? null)),
  );
  const binding = { session, variables: { ...variables.values, [KEYS_VARIABLE]: keys } };
  const rows = await runPlan({ operation: 'query', statements }, binding, databases);
  return joins.map(({ statement, column }) => {
    return parseJson(textOfColumn(rows[statement]?.[column] ?? null) ?? '[]') as JoinedRows[number];
  });
}

function memberOf(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Readonly<Record<string, unknown>>)[name] : undefined;
}
