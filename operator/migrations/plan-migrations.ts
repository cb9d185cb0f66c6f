/** The Migrations of a plan: which files would run, and which problems of other resources they may solve. Nothing runs.
 *  In: the snapshot, what the engine has. Out: the files, and the outcome of each resource in the plan.
 *  Not here: running them (run-migrations.ts). */
import { type CustomResource, crName } from '../kinds.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';
import { answerOf, dependsOn, type MigrationContext, outcomeOf, winnersIn } from './run-migrations.ts';

/** The files of Migrations that would run. */
export type PlannedMigrations = {
  /** The names of files that would run, by the name of their Migration: `Migration default/library`. */
  readonly pending: ReadonlyMap<string, readonly string[]>;
  /** Returns the outcome of a resource; undefined when Migrations do not concern it. */
  readonly outcomeOf: (cr: CustomResource, judged: ResourceOutcome) => ResourceOutcome | undefined;
};

/** Compares the Migrations with the databases of their sources. An engine that cannot say it has none pending. */
export async function planMigrations(context: Omit<MigrationContext, 'known'>): Promise<PlannedMigrations> {
  const { winners, outcomes } = winnersIn(context);
  const own = new Map(outcomes);
  const pending = new Map<string, readonly string[]>();
  const waitsFor = new Map<string, string>();
  for (const [source, cr] of winners) {
    const outcome = await plannedOutcome(context, source, cr, pending);
    if (outcome) own.set(cr.metadata.uid, outcome);
    if (pending.has(crName(cr))) waitsFor.set(source, crName(cr));
  }
  return {
    pending,
    outcomeOf: (cr, judged) => {
      const known = own.get(cr.metadata.uid);
      if (known) return known;
      const migration = waitsFor.get(dependsOn(cr) ?? '');
      if (migration === undefined || judged.reason !== 'DependencyNotReady') return undefined;
      return { reason: 'MigrationPending', message: `before ${migration}: ${judged.message}` };
    },
  };
}

async function plannedOutcome(
  context: Omit<MigrationContext, 'known'>,
  source: string,
  cr: CustomResource,
  pending: Map<string, readonly string[]>,
): Promise<ResourceOutcome | undefined> {
  try {
    const answer = await answerOf(context, source, cr, true);
    if (answer.state !== 'pending' || answer.problem) return outcomeOf(answer);
    const files = answer.pending ?? [];
    pending.set(crName(cr), files);
    return { reason: 'MigrationPending', message: `would run: ${files.join(', ')}` };
  } catch (error) {
    if (!(error instanceof EngineProblem)) throw error;
    return { reason: 'MigrationFailed', message: error.message };
  }
}
