/** The plan of a pass: the decisions that the engine accepts, as one write, with its entries in the ledger.
 *  In: a reading, the decisions, how the engine is asked. Out: PassPlan. Throws EngineProblem.
 *  Not here: the decisions (decisions.ts), the search for what fits (settle/), the write (attempt.ts), a plan as text (preview.ts). */
import { entryChanges, ownerOf } from '../decide/decide.ts';
import { reservationChanges } from '../grants/reservation.ts';
import type { EntryChange } from '../objects/ledger.ts';
import { objectsIn } from '../objects/normal-form.ts';
import type {
  CrSnapshot,
  EnginePort,
  EngineReading,
  InconsistentObject,
  ReconcileOptions,
  SchemaEffects,
} from '../ports.ts';
import { HoldBackBudget, NO_HELD_CHANGES, settleHoldingBack } from '../settle/hold-back.ts';
import { editsOf } from '../settle/order.ts';
import { backedOff, failsOnItsOwn, NO_BACKOFF, type RefusalBackoff } from '../settle/refusal-backoff.ts';
import { settle } from '../settle/settle.ts';
import type { SettleContext } from '../settle/trials.ts';
import type { PassPlan, Report } from '../status/report.ts';
import { type DecidedIn, decideOnAll } from './decisions.ts';
import {
  type Comparison,
  comparisonOf,
  type HoldBackState,
  holdBackOf,
  holdsBack,
  withoutUnsentValues,
} from './hold-back.ts';
import { plannedMigrations } from './migrations.ts';
import { isRemovable, plannedValues, withoutUnsent } from './values.ts';

/** The most dry runs of a plan that find which changes the Engine holds back. A plan has no next pass. */
const MOST_COMPARISONS_OF_PLAN = 256;

export const NOTHING_BEFORE = { backoff: NO_BACKOFF, heldBack: NO_HELD_CHANGES };

/** Computes the plan of a full pass. Writes nothing. Throws EngineProblem. */
export async function plan(
  engine: EnginePort,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
  { backoff, heldBack }: Pick<Report, 'backoff' | 'heldBack'> = NOTHING_BEFORE,
): Promise<PassPlan> {
  const reading = await engine.read();
  const decided = decideOnAll({ snapshot, reading, options });
  const nowMs = snapshot.at.getTime();
  const migrations = await plannedMigrations(engine, snapshot, reading, decided);
  const changes = await plannedValues(engine, decided.decided.desired.values, options);
  // The values are sent with the write, so the engine does not have them yet.
  const sent = (found: readonly InconsistentObject[]) => withoutUnsent(found, changes);
  const made = await planOn(reading, decided, options, {
    dryRun: async (edits) => sent(await engine.dryRun(edits)),
    compare: withoutUnsentValues(comparisonOf(engine), sent),
    holdBack: { before: heldBack, budget: new HoldBackBudget(MOST_COMPARISONS_OF_PLAN) },
    backoff,
    nowMs,
  });
  const values = changes.filter(
    ({ action, name }) => action !== 'delete' || isRemovable(name, made, snapshot),
  );
  return { ...made, values, ...(migrations ? { migrations } : {}) };
}

const NO_EFFECTS: SchemaEffects = { schemas: [], isComplete: true };

/** Returns the roles whose schema the plan would change. A plan that changes nothing needs no comparison. */
export async function schemaEffectsOf(engine: EnginePort, { settled }: PassPlan): Promise<SchemaEffects> {
  if (settled.applied.length === 0) return NO_EFFECTS;
  return (await engine.schemaEffects?.(editsOf(settled.applied))) ?? NO_EFFECTS;
}

/** The inputs of a plan besides the decisions. */
type PlanOptions = {
  readonly dryRun: EnginePort['dryRun'];
  readonly compare: Comparison;
  readonly holdBack: HoldBackState;
  readonly backoff: RefusalBackoff;
  /** The most decisions of one write. */
  readonly most?: number | undefined;
  readonly nowMs: number;
};

export async function planOn(
  reading: EngineReading,
  { scope, decided: { desired, decisions, pruneHold, counted } }: DecidedIn,
  options: ReconcileOptions,
  { dryRun, compare, holdBack, backoff, most, nowMs }: PlanOptions,
): Promise<PassPlan> {
  const { manager } = options;
  const live = objectsIn(reading.metadata);
  const context: SettleContext = {
    live: reading.metadata,
    inconsistent: reading.inconsistent,
    isOwned: (key) => desired.claims.has(key) || reading.ledger.get(key)?.manager === manager,
    ownerOf: (key) => ownerOf({ claim: desired.claims.get(key), entry: reading.ledger.get(key) }),
    claimedIn: (key) => desired.claims.get(key)?.cr.metadata.namespace,
    dryRun: (active) => dryRun(editsOf(active)),
    backedOff: (decision, written) => backedOff(backoff, decision, { live, written, nowMs }),
    failsOnItsOwn: (decision) => failsOnItsOwn(backoff, decision),
    ...(most === undefined ? {} : { most }),
  };
  const { resources } = scope.snapshot;
  const { settled, heldBack } = holdsBack(options)
    ? await settleHoldingBack(context, decisions, holdBackOf(compare, resources, options, holdBack, nowMs))
    : { settled: await settle(context, decisions), heldBack: NO_HELD_CHANGES };
  const entries = entryChanges(decisions, settled.excluded, objectsIn(settled.document), manager);
  const owned = scope.owned + entries.reduce((sum, change) => sum + gained(change, manager), 0);
  const isClaimed = (key: string, namespace: string) =>
    desired.claims.get(key)?.cr.metadata.namespace === namespace;
  const reservations = reservationChanges(entries, { ...scope, options }, isClaimed, counted);
  return {
    scope,
    reading,
    desired,
    decisions,
    settled,
    heldBack,
    entries,
    reservations,
    owned,
    ...(pruneHold ? { pruneHold } : {}),
  };
}

function gained({ before, after }: EntryChange, manager: string): number {
  return Number(after !== undefined) - Number(before?.manager === manager);
}
