/** The named values of a pass: those of Secrets are sent before the objects that refer to them, and removed when nothing does.
 *  Not here: which values resources need (decide/desired.ts), the operations (engine/client.ts). */
import { Metadata, variablesIn } from '@pergola/engine/metadata';
import { ownerOfValues } from '../objects/value-name.ts';
import type { EnginePort, ValueChange } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import type { PassPlan } from '../status/report.ts';
import { ownersOfValues } from './earlier-names.ts';

/** Returns which named values would be sent or removed. Empty when the engine refuses values: what refers to them is then inconsistent. */
export async function plannedValues(
  engine: EnginePort,
  values: ReadonlyMap<string, string>,
  { manager }: ReconcileOptions,
): Promise<readonly ValueChange[]> {
  try {
    return await engine.planValues(ownerOfValues(manager), values);
  } catch (error) {
    if (!(error instanceof EngineProblem) || error.kind !== 'rejected') throw error;
    return [];
  }
}

/** True when a write that follows the plan removes the value: all resources are visible, and the document does not refer to it. */
export function isRemovable(name: string, { scope, settled }: PassPlan, snapshot: CrSnapshot): boolean {
  if (scope.skipped.size > 0 || !snapshot.isComplete) return false;
  return !variablesIn(Metadata, settled.document).some((variable) => variable.name === `value:${name}`);
}

/** Sends the values of Secrets before the objects that refer to them. A refusal is not an error of the pass: the objects are then
 *  inconsistent, and the engine's reason names the value and says what it lacks. */
export async function sendValues(engine: EnginePort, values: ReadonlyMap<string, string>): Promise<void> {
  if (values.size === 0) return;
  try {
    await engine.setValues(values);
  } catch (error) {
    if (!(error instanceof EngineProblem) || error.kind !== 'rejected') throw error;
  }
}

/** Removes the values that no resource refers to any more, once a pass has seen all resources. The next pass repeats what fails. */
export async function removeUnusedValues(
  engine: EnginePort,
  { scope, desired }: PassPlan,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
): Promise<void> {
  if (scope.skipped.size > 0 || !snapshot.isComplete) return;
  const used = new Set(desired.values.keys());
  try {
    for (const owner of ownersOfValues(options)) await engine.removeValues(owner, used);
  } catch (error) {
    if (!(error instanceof EngineProblem)) throw error;
  }
}
