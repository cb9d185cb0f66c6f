/** The policy `holdBack` in a pass: what an engine reports about the schemas of roles, what confirms a change, and the changes that a migration
 *  may rely on. In: the engine, the resources, the options. Out: the inputs of the search, and edits for migrations.
 *  Not here: the search itself (settle/hold-back.ts), the order of a pass (reconcile.ts). */
import type { Edit } from '@pergola/engine/metadata';
import { type Decision, isWrite } from '../decide/decide.ts';
import {
  CONFIRM_CHANGE_ANNOTATION,
  isConfirmed,
  type PendingChange,
  pendingChanges,
} from '../decide/pending-change.ts';
import { type CustomResource, crName } from '../kinds.ts';
import {
  type EnginePort,
  EngineProblem,
  type InconsistentObject,
  type ReconcileOptions,
  type SchemaEffects,
} from '../ports.ts';
import type { HeldChanges, HoldBack, HoldBackBudget } from '../settle/hold-back.ts';
import { containerKeyOf } from '../settle/inconsistency.ts';
import { editsOf } from '../settle/order.ts';
import { isAboutContent } from '../settle/trials.ts';

/** The state that a pass carries from one attempt to the next. */
export type HoldBackState = { readonly before: HeldChanges; readonly budget: HoldBackBudget };

export type Comparison = (edits: readonly Edit[]) => Promise<SchemaEffects>;

export function holdsBack({ policies }: ReconcileOptions): boolean {
  // Also with a value that this version does not know, which the Engine or its file reports.
  return policies.holdBack !== undefined && policies.holdBack.length > 0;
}

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
    const { schemas, isComplete } = await compare(others).catch(nothingComparable);
    return { schemas, isComplete };
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
  { confirmChange }: ReconcileOptions,
  { before, budget }: HoldBackState,
  nowMs: number,
): HoldBack {
  return {
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
  decisions: readonly Decision[],
  resources: readonly CustomResource[],
  options: ReconcileOptions,
): Promise<MigrationEdits> {
  const writes = decisions.filter(isWrite);
  const confirmed = isConfirmed(options.confirmChange, annotationsIn(resources));
  const open = holdsBack(options)
    ? [...pendingChanges(writes).values()].filter((change) => !confirmed(change))
    : [];
  if (open.length === 0 || (await isSafe(comparisonOf(engine), writes))) return { edits: editsOf(writes) };
  const kept = new Set(open.flatMap((change) => change.decisions));
  return { edits: editsOf(writes.filter((decision) => !kept.has(decision))), withheld: withheldText(open) };
}

async function isSafe(compare: Comparison, decisions: readonly Decision[]): Promise<boolean> {
  try {
    const { schemas, isComplete } = await compare(editsOf(decisions));
    return isComplete && schemas.every(({ breaking }) => breaking === 0);
  } catch (error) {
    const isAnswer =
      error instanceof EngineProblem && (error.kind === 'unsupported' || isAboutContent(error));
    if (!isAnswer) throw error;
    return false;
  }
}

const MOST_NAMED = 5;

function withheldText(changes: readonly PendingChange[]): string {
  const named = changes.slice(0, MOST_NAMED).map(({ owner, hash }) => `${owner} (${hash})`);
  const rest = changes.length - named.length;
  const more = rest > 0 ? ` and ${rest} more` : '';
  return (
    `the changes of these resources may break clients and do not count before they are confirmed with ` +
    `the annotation ${CONFIRM_CHANGE_ANNOTATION}: ${named.join(', ')}${more}`
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
