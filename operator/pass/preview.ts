/** The plan in the status of a resource whose plan is requested: what a pass would do, and what that means for roles.
 *  In: the engine, the resources. Out: lines by uid.
 *  Not here: the plan (plan.ts), its lines (status/plan-text.ts), which resources want one (decide/pause.ts). */
import { accessLine } from '../decide/access.ts';
import { ownerOf } from '../decide/decide.ts';
import { wantsPlan, withoutPlanPauses } from '../decide/pause.ts';
import type { EnginePort } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import { type PlanEffects, planLines } from '../status/plan-text.ts';
import { plannedAccess } from '../status/planned-access.ts';
import { type PassPlan, plannedDecisions, type Report } from '../status/report.ts';
import { schemaLines } from '../status/schema-text.ts';
import { verdictsOf } from '../status/verdicts.ts';
import { plan, schemaEffectsOf } from './plan.ts';

export const NO_PLANS: ReadonlyMap<string, readonly string[]> = new Map();

/** Returns the plan of each resource whose plan is requested, by uid. Empty when the engine does not answer. */
export async function preview(
  engine: EnginePort,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
  before: Pick<Report, 'backoff' | 'heldBack'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const resources = withoutPlanPauses(snapshot.resources);
  if (!resources) return NO_PLANS;
  try {
    const made = await plan(engine, { ...snapshot, resources }, options, before);
    const verdicts = verdictsOf(made, made.settled.inconsistent);
    const effects = await planEffects(engine, made);
    return new Map(
      snapshot.resources
        .filter(wantsPlan)
        .map((cr) => [cr.metadata.uid, planLines(cr, made, verdicts.get(cr.metadata.uid)!.outcome, effects)]),
    );
  } catch (error) {
    if (error instanceof EngineProblem) return NO_PLANS;
    throw error;
  }
}

/** Returns what all planned changes together mean for the access and the schemas of roles. */
async function planEffects(engine: EnginePort, made: PassPlan): Promise<PlanEffects> {
  const effects = await schemaEffectsOf(engine, made).catch(toProblem);
  const isKnown = !(effects instanceof EngineProblem);
  const access = plannedAccess(made, isKnown ? effects : undefined);
  const ofSchemas = isKnown
    ? schemaLines(effects)
    : [`the effect on schemas is not known: ${effects.message}`];
  const lines = [...access.others.map((change) => accessLine(change)), ...ofSchemas];
  const owners = new Set(plannedDecisions(made).map(ownerOf));
  const isTogether = isKnown && lines.length > 0 && owners.size > 1;
  const heading = `with the changes of ${owners.size} resources together:`;
  return { access, lines: isTogether ? [heading, ...lines] : lines };
}

function toProblem(error: unknown): EngineProblem {
  if (error instanceof EngineProblem) return error;
  throw error;
}
