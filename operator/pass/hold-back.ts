/** The policy `holdBack` in a pass: for which effects changes wait, what confirms one, and the changes that a migration may rely on.
 *  In: the engine, the resources, the options. Out: what is held back, and edits for migrations.
 *  Not here: which changes wait (settle/hold-back.ts), the order of a pass (reconcile.ts). */
import { wideningsOf } from '@pergola/engine/admit';
import { listText } from '@pergola/engine/list-text';
import { type Edit, isBreaking } from '@pergola/engine/metadata';
import { type Decision, isWrite } from '../decide/decide.ts';
import {
  CONFIRM_CHANGE_ANNOTATION,
  isConfirmed,
  type PendingChange,
  pendingChanges,
} from '../decide/pending-change.ts';
import { type CustomResource, crName } from '../kinds.ts';
import { objectsIn } from '../objects/normal-form.ts';
import type { HoldBackEffect } from '../ports/admission.ts';
import type { EnginePort, EngineReading } from '../ports/engine.ts';
import { EngineProblem, isAboutContent } from '../ports/engine-problem.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { HeldChanges, HoldBackOptions } from '../settle/hold-back.ts';
import { editOf, editsOf } from '../settle/order.ts';

function holdsBack({ policies }: ReconcileOptions): boolean {
  return policies.holdBack !== undefined && policies.holdBack.length > 0;
}

/** Returns the effects for which changes are held back. A value that this version does not know, which the Engine or its file reports, stands
 *  for all of them. */
function effectsIn({ policies: { holdBack = [] } }: ReconcileOptions): ReadonlySet<HoldBackEffect> {
  return new Set(holdBack.every((effect) => EFFECTS.includes(effect)) ? holdBack : EFFECTS);
}

const EFFECTS: readonly HoldBackEffect[] = ['Breaking', 'Widened'];

/** Returns what is held back in a pass; undefined without a policy. */
export function holdBackOf(
  options: ReconcileOptions,
  resources: readonly CustomResource[],
  before: HeldChanges,
  nowMs: number,
): HoldBackOptions | undefined {
  if (!holdsBack(options)) return undefined;
  const confirmed = isConfirmed(options.confirmChange, annotationsIn(resources));
  return { effects: effectsIn(options), isConfirmed: confirmed, before, nowMs };
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
  const groups = open.map((change) => ({ change, changes: change.decisions.map(editOf) }));
  const found = policies.has('Widened')
    ? wideningsOf(objectsIn(metadata), groups, others.map(editOf))
    : new Map<(typeof groups)[number], unknown>();
  const widening = new Set([...found.keys()].map(({ change }) => change));
  const isHeld = policies.has('Breaking') && widening.size < open.length;
  const held = isHeld && !(await isSafe(engine, writes)) ? open : [...widening];
  if (held.length === 0) return { edits: editsOf(writes) };
  const kept = new Set(held.flatMap((change) => change.decisions));
  return { edits: editsOf(writes.filter((decision) => !kept.has(decision))), withheld: withheldText(held) };
}

async function isSafe(engine: EnginePort, decisions: readonly Decision[]): Promise<boolean> {
  try {
    const { schemas, isComplete, requests = [] } = await engine.schemaEffects(editsOf(decisions));
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
