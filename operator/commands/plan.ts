/** `pergola plan`: prints what a folder would change in an engine. Writes nothing.
 *  Exit codes: 0 no changes, 2 changes, 1 a problem with files, resources or the engine. */
import { type FolderCommand, parseFlags, reportFailure } from '../folder/flags.ts';
import { planAsJson, printPlan, printProblems } from '../folder/print.ts';
import { plan } from '../pass/reconcile.ts';
import { verdictsOf } from '../status/verdicts.ts';

export async function run(argv: readonly string[]): Promise<number> {
  try {
    const command = parseFlags('plan', 'print what the folder would change in the engine', argv);
    return command ? await show(command) : 0;
  } catch (error) {
    return reportFailure('plan', error);
  }
}

async function show({ source, engine, isJson, options }: FolderCommand): Promise<number> {
  const snapshot = await source.snapshot();
  const made = await plan(engine, snapshot, options());
  if (isJson) process.stdout.write(`${JSON.stringify(planAsJson(made, source.problems), null, 2)}\n`);
  else {
    process.stderr.write(printProblems(source.problems));
    process.stdout.write(`${printPlan(made, source.positions)}\n`);
  }
  const verdicts = [...verdictsOf(made, made.settled.inconsistent).values()];
  const isFine = verdicts.every(({ outcome }) => outcome.reason === 'Applied' || outcome.reason === 'Paused');
  if (source.problems.length > 0 || !isFine) return 1;
  return made.settled.applied.length > 0 || made.pruneHold ? 2 : 0;
}
