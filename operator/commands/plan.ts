/** `pergola plan`: prints what resources would change in an engine, and for whom access changes. Writes nothing.
 *  Exit codes: 0 no changes, 2 changes, 1 anything else: wrong flags, a problem with files, resources or the engine, or a change that
 *  --fail-on refuses. */
import { runCommand } from '../folder/flag-problem.ts';
import { type FolderCommand, parseFlags } from '../folder/flags.ts';
import { planAsMarkdown } from '../folder/markdown.ts';
import { type Output, printData } from '../folder/output.ts';
import {
  isFailing,
  migrationCount,
  planAsJson,
  printPlan,
  printProblems,
  printRefused,
} from '../folder/print.ts';
import { plan, schemaEffectsOf } from '../pass/plan.ts';
import { refusedChanges } from '../status/fail-on.ts';
import { appliedAccess } from '../status/planned-access.ts';
import { verdictsOf } from '../status/verdicts.ts';

const NOTES = `What the inputs no longer contain is shown as deleted: give all resources of the manager. pergola apply deletes it only with --prune.

Exit codes: 0 no changes, 2 changes, 1 anything wrong: flags, files, resources, the engine, or a change that --fail-on refuses or the Engine holds back.

  pergola plan -f ./resources --engine http://localhost:8080
  kustomize build . | pergola plan -f - -o markdown > plan.md     a comment for a pull request
  pergola plan -f ./resources --fail-on widened --fail-on breaking in CI: no role reaches more rows, no client breaks
  pergola plan -f ./resources --fail-on breaking-in-use            against the engine that clients use: none of their operations breaks
`;

const FORM = {
  command: 'plan',
  summary: 'print what the resources would change in the engine',
  outputs: ['text', 'json', 'yaml', 'markdown'],
  without: ['prune'],
  notes: NOTES,
} as const;

export function run(argv: readonly string[]): Promise<number> {
  return runCommand('plan', () => parseFlags(FORM, argv), show, { usageCode: 1 });
}

async function show({ source, engine, output, failOn, options }: FolderCommand<Output>): Promise<number> {
  const snapshot = await source.snapshot();
  const made = await plan(engine, snapshot, options());
  const effects = await schemaEffectsOf(engine, made);
  const refused = refusedChanges(appliedAccess(made, effects), effects, failOn);
  const { problems, positions } = source;
  if (output === 'markdown')
    process.stdout.write(planAsMarkdown(made, { problems, refused, effects, positions }));
  else if (output === 'text') {
    process.stderr.write(printProblems(problems));
    process.stdout.write(`${printPlan(made, effects, { positions, broken: problems.length })}\n`);
    process.stderr.write(printRefused(refused, positions));
  } else process.stdout.write(printData(planAsJson(made, effects, { problems, refused }), output));
  const verdicts = [...verdictsOf(made, made.settled.inconsistent).values()];
  const isFine = !verdicts.some(isFailing);
  if (problems.length > 0 || !isFine || refused.length > 0 || made.settled.heldBack.size > 0) return 1;
  const isChange =
    made.settled.applied.length > 0 ||
    made.pruneHold !== undefined ||
    migrationCount(made) > 0 ||
    (made.values ?? []).length > 0;
  return isChange ? 2 : 0;
}
