/** The plan of a pass: the decisions that the engine accepts, as one write, with its entries in the ledger.
 *  In: a reading, the decisions, how the engine is asked. Out: PassPlan. Throws EngineProblem.
 *  Not here: the decisions (decisions.ts), the search for what fits (settle/), the write (attempt.ts), a plan as text (preview.ts). */
import { entryChanges, ownerOf } from '../decide/decide.ts';
import { reservationChanges } from '../grants/reservation.ts';
import type { EntryChange } from '../objects/ledger.ts';
import { objectsIn } from '../objects/normal-form.ts';
import type { EnginePort, EngineReading } from '../ports/engine.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import type { SchemaEffects } from '../ports/schema-effects.ts';
import { type HeldChanges, NO_HELD_CHANGES } from '../settle/hold-back.ts';
import { editsOf } from '../settle/order.ts';
import { backedOff, NO_BACKOFF, type RefusalBackoff } from '../settle/refusal-backoff.ts';
import { type SettleContext, settle } from '../settle/settle.ts';
import type { PassPlan, Report } from '../status/report.ts';
import { type DecidedIn, decideOnAll } from './decisions.ts';
import { holdBackOf } from './hold-back.ts';
import { plannedMigrations } from './migrations.ts';
import { isRemovable, plannedValues } from './values.ts';

export const NOTHING_BEFORE = { backoff: NO_BACKOFF, heldBack: NO_HELD_CHANGES, admitsFirst: false };

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
  // They are sent with the write, so the engine does not have them yet.
  const unsentValues = changes.filter(({ action }) => action !== 'delete').map(({ name }) => name);
  const made = await planOn(reading, decided, options, { engine, unsentValues, backoff, heldBack, nowMs });
  const values = changes.filter(
    ({ action, name }) => action !== 'delete' || isRemovable(name, made, snapshot),
  );
  return { ...made, values, ...(migrations ? { migrations } : {}) };
}

const NO_EFFECTS: SchemaEffects = { schemas: [], isComplete: true };

/** Returns the roles whose schema the plan would change. A plan that changes nothing needs no comparison. */
export async function schemaEffectsOf(engine: EnginePort, { settled }: PassPlan): Promise<SchemaEffects> {
  if (settled.applied.length === 0) return NO_EFFECTS;
  return engine.schemaEffects(editsOf(settled.applied));
}

/** The inputs of a plan besides the decisions. */
type PlanOptions = {
  readonly engine: Pick<EnginePort, 'admit'>;
  /** True when the write fails if anything does not fit. */
  readonly mustFit?: boolean;
  readonly unsentValues?: readonly string[];
  readonly backoff: RefusalBackoff;
  readonly heldBack: HeldChanges;
  /** The most decisions of one write. */
  readonly most?: number | undefined;
  readonly nowMs: number;
};

export async function planOn(
  reading: EngineReading,
  { scope, decided: { desired, decisions, pruneHold, counted } }: DecidedIn,
  options: ReconcileOptions,
  { engine, mustFit = false, unsentValues = [], backoff, heldBack, most, nowMs }: PlanOptions,
): Promise<PassPlan> {
  const { manager } = options;
  const live = objectsIn(reading.metadata);
  const context: SettleContext = {
    live: reading.metadata,
    inconsistent: reading.inconsistent,
    isOwned: (key) => desired.claims.has(key) || reading.ledger.get(key)?.manager === manager,
    ownerOf: (key) => ownerOf({ claim: desired.claims.get(key), entry: reading.ledger.get(key) }),
    claimedIn: (key) => desired.claims.get(key)?.cr.metadata.namespace,
    admit: (request) => engine.admit(request),
    refusedBefore: (decision, written) => backedOff(backoff, decision, { live, written, nowMs }),
    holdBack: holdBackOf(options, scope.snapshot.resources, heldBack, nowMs),
    ...{ mustFit, unsentValues, most },
  };
  const settled = await settle(context, decisions);
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
    entries,
    reservations,
    owned,
    ...(pruneHold ? { pruneHold } : {}),
  };
}

function gained({ before, after }: EntryChange, manager: string): number {
  return Number(after !== undefined) - Number(before?.manager === manager);
}
