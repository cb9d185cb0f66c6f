/** The manifests that a pass stores for the console: those of the resources in scope that changed. Those that the Engine does not admit are not
 *  stored, so that their authors write nothing into the engine.
 *  In: all resources, the plan, the verdicts. Out: a patch. Pure. Not here: a manifest (objects/manifests.ts). */
import { isElsewhere } from '../decide/desired.ts';
import { crName, type Reason } from '../kinds.ts';
import { type ManifestsPatch, manifestChanges } from '../objects/manifests.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import type { Verdict } from '../ports/verdict.ts';
import type { PassPlan } from '../status/report.ts';

const NOT_ADMITTED: ReadonlySet<Reason> = new Set(['NotPermitted', 'RefNotPermitted']);

export function changedManifests(
  { resources, isComplete }: CrSnapshot,
  { scope, reading }: PassPlan,
  verdicts: ReadonlyMap<string, Verdict>,
): ManifestsPatch {
  const { snapshot, ledger } = scope;
  const { lost } = snapshot;
  const isCertain = isComplete && lost !== 'unknown';
  const names = new Set(resources.map(crName));
  // The objects of resources whose definition was deleted stay, and so does what they were declared by.
  const exists = (cr: string) =>
    !isCertain || names.has(cr) || isElsewhere({ cr }, snapshot) || lost?.has(cr) === true;
  const admitted = snapshot.resources.filter(
    ({ metadata }) => !NOT_ADMITTED.has(verdicts.get(metadata.uid)!.outcome.reason),
  );
  return manifestChanges(admitted, reading.manifests ?? new Map(), { manager: ledger.manager, exists });
}
