/** The policy `holdBack` in a pass: what an engine reports about the schemas of roles, what confirms a change, and the changes that a migration
 *  may rely on. In: the engine, the resources, the options. Out: the inputs of the search, and edits for migrations.
 *  Not here: the search itself (settle/hold-back.ts), the order of a pass (reconcile.ts). */
import { listText } from '@pergola/engine/list-text';
import type { Edit } from '@pergola/engine/metadata';
import { isBreaking } from '../decide/access.ts';
import { type Decision, isWrite } from '../decide/decide.ts';
import {
  CONFIRM_CHANGE_ANNOTATION,
  isConfirmed,
  type PendingChange,
  pendingChanges,
} from '../decide/pending-change.ts';
import { type CustomResource, crName } from '../kinds.ts';
import { objectsIn } from '../objects/normal-form.ts';
import {
  type EnginePort,
  EngineProblem,
  type EngineReading,
  type HoldBackEffect,
  type InconsistentObject,
  type ReconcileOptions,
  type SchemaEffects,
} from '../ports.ts';
import type { HeldChanges, HoldBack, HoldBackBudget } from '../settle/hold-back.ts';
import { containerKeyOf } from '../settle/inconsistency.ts';
import { editsOf } from '../settle/order.ts';
import { isAboutContent } from '../settle/trials.ts';
import { wideningsOf } from '../settle/widening.ts';

/** The state that a pass carries from one attempt to the next. */
export type HoldBackState = { readonly before: HeldChanges; readonly budget: HoldBackBudget };

export type Comparison = (edits: readonly Edit[]) => Promise<SchemaEffects>;

export function holdsBack({ policies }: ReconcileOptions): boolean {
  return policies.holdBack !== undefined && policies.holdBack.length > 0;
}

/** Returns the effects for which changes are held back. A value that this version does not know, which the Engine or its file reports, stands
 *  for all of them. */
function effectsIn({ policies: { holdBack = [] } }: ReconcileOptions): ReadonlySet<HoldBackEffect> {
  return new Set(holdBack.every((effect) => EFFECTS.includes(effect)) ? holdBack : EFFECTS);
}

const EFFECTS: readonly HoldBackEffect[] = ['Breaking', 'Widened'];

/** Returns the comparison of the engine. Throws EngineProblem `unsupported` where the engine has none. */
export function comparisonOf(engine: EnginePort): Comparison {
  return async (edits) => {
    if (engine.schemaEffects) return engine.schemaEffects(edits);
    throw new EngineProblem('unsupported', 'the engine does not report what a change breaks');
  };
}

/** Returns the comparison without objects that only lack a value of a Secret, and what is in them: a plan does not send values. */
export function withoutUnsentValues(
  compare: Comparison,
  sent: (found: readonly InconsistentObject[]) => readonly InconsistentObject[],
): Comparison {
  return async (edits) => {
    const effects = await compare(edits);
    const fits = new Set(sent(effects.inconsistent ?? []));
    const unsent = new Set(
      (effects.inconsistent ?? []).filter((found) => !fits.has(found)).map(({ key }) => key),
    );
    if (unsent.size === 0) return effects;
    const others = edits.filter(({ key }) => !unsent.has(key) && !unsent.has(containerKeyOf(key) ?? ''));
    // What needs an object that is left out is inconsistent here, and not afterwards.
    const { schemas, isComplete, requests = [] } = await compare(others).catch(nothingComparable);
    return { schemas, isComplete, requests };
  };
}

function nothingComparable(error: unknown): SchemaEffects {
  if (!(error instanceof EngineProblem) || !isAboutContent(error)) throw error;
  return { schemas: [], isComplete: true };
}

/** Returns the inputs of the search for held changes. */
export function holdBackOf(
  compare: Comparison,
  resources: readonly CustomResource[],
  options: ReconcileOptions,
  { before, budget }: HoldBackState,
  nowMs: number,
): HoldBack {
  const { confirmChange } = options;
  return {
    policies: effectsIn(options),
    effects: (decisions) => compare(editsOf(decisions)),
    isConfirmed: isConfirmed(confirmChange, annotationsIn(resources)),
    before,
    budget,
    nowMs,
  };
}

/** The changes that migrations may rely on, and what is kept from them, in words. */
export type MigrationEdits = { readonly edits: readonly Edit[]; readonly withheld?: string | undefined };

/** Returns the changes that the pass will make for certain: a migration must not drop a column because of a change that is held back. */
export async function editsForMigrations(
  engine: EnginePort,
  { metadata }: EngineReading,
  decisions: readonly Decision[],
  {
    resources,
    options,
  }: { readonly resources: readonly CustomResource[]; readonly options: ReconcileOptions },
): Promise<MigrationEdits> {
  const writes = decisions.filter(isWrite);
  const policies = effectsIn(options);
  const confirmed = isConfirmed(options.confirmChange, annotationsIn(resources));
  const open = holdsBack(options)
    ? [...pendingChanges(writes).values()].filter((change) => !confirmed(change))
    : [];
  const compared = new Set(open.flatMap((change) => change.decisions));
  const others = writes.filter((decision) => !compared.has(decision));
  const widening = policies.has('Widened') ? wideningsOf(objectsIn(metadata), open, others) : new Map();
  const rest = open.filter((change) => !widening.has(change));
  const isHeld = policies.has('Breaking') && rest.length > 0;
  const held = isHeld && !(await isSafe(comparisonOf(engine), writes)) ? open : [...widening.keys()];
  if (held.length === 0) return { edits: editsOf(writes) };
  const kept = new Set(held.flatMap((change) => change.decisions));
  return { edits: editsOf(writes.filter((decision) => !kept.has(decision))), withheld: withheldText(held) };
}

async function isSafe(compare: Comparison, decisions: readonly Decision[]): Promise<boolean> {
  try {
    const { schemas, isComplete, requests = [] } = await compare(editsOf(decisions));
    return isComplete && schemas.every(({ breaking }) => breaking === 0) && !requests.some(isBreaking);
  } catch (error) {
    const isAnswer =
      error instanceof EngineProblem && (error.kind === 'unsupported' || isAboutContent(error));
    if (!isAnswer) throw error;
    return false;
  }
}

const MOST_NAMED = 5;

function withheldText(changes: readonly PendingChange[]): string {
  const named = changes.map(({ owner, hash }) => `${owner} (${hash})`);
  return (
    `the changes of these resources are held back, or may be, and do not count before they are confirmed with ` +
    `the annotation ${CONFIRM_CHANGE_ANNOTATION}: ${listText(named, { most: MOST_NAMED })}`
  );
}

/** Returns a look-up of the confirmations on resources. */
function annotationsIn(resources: readonly CustomResource[]): (owner: string) => string | undefined {
  let byName: ReadonlyMap<string, string | undefined> | undefined;
  return (owner) => {
    byName ??= new Map(
      resources.map((cr) => [crName(cr), cr.metadata.annotations?.[CONFIRM_CHANGE_ANNOTATION]]),
    );
    return byName.get(owner);
  };
}
