/** Leaves out the changes of resources that would break clients or let a role reach more rows, for Engines whose policy holds them back until a
 *  person confirms them. The engine compares the schemas of each role in a dry run; bisection finds the resources that cause a breaking
 *  change. What the engine cannot compare is held back as well. What a role reaches is found in the decisions. Confirmed changes and
 *  restorations are not compared; they are written with what is not held back.
 *  A held change is remembered over passes by its hash, so it costs one search and not one in each pass.
 *  In: the settle context, decisions, the confirmations. Out: what can be written, the held changes. Not here: what the engine accepts
 *  (settle.ts), which changes widen access (widening.ts), the hash of a change (decide/pending-change.ts). */
import { type AccessChange, isSameJson, parseKey, referencesOf } from '@pergola/engine/metadata';
import { isBreaking, lossText, rolesText } from '../decide/access.ts';
import { type Decision, isWrite, ownerOf } from '../decide/decide.ts';
import { CONFIRM_CHANGE_ANNOTATION, type PendingChange, pendingChanges } from '../decide/pending-change.ts';
import { objectsIn } from '../objects/normal-form.ts';
import {
  EngineProblem,
  type HoldBackEffect,
  type ResourceOutcome,
  type SchemaEffect,
  type SchemaEffects,
  unfit,
} from '../ports.ts';
import { bisect } from './bisect.ts';
import { containerKeyOf, isUnavailability, outcomeOfInconsistency } from './inconsistency.ts';
import { feasibility, type Settled, settle } from './settle.ts';
import { isAboutContent, type SettleContext } from './trials.ts';
import { cut, type Widenings, wideningsOf, wideningText } from './widening.ts';

/** A change that is held back. */
export type HeldChange = {
  readonly hash: string;
  readonly outcome: ResourceOutcome;
  /** True when the comparison of schemas objects to the change. */
  readonly isObjected: boolean;
  /** How often the search has found it, and when it may be searched again. */
  readonly times: number;
  readonly retryAtMs: number;
};

/** The held changes by the resource, as `Kind namespace/name`. */
export type HeldChanges = ReadonlyMap<string, HeldChange>;

export const NO_HELD_CHANGES: HeldChanges = new Map();

export type HoldBack = {
  readonly policies: ReadonlySet<HoldBackEffect>;
  /** Returns what the decisions change in the schemas of roles. Throws EngineProblem, `unsupported` for an engine that does not report it. */
  readonly effects: (decisions: readonly Decision[]) => Promise<SchemaEffects>;
  readonly isConfirmed: (change: PendingChange) => boolean;
  readonly before: HeldChanges;
  readonly nowMs: number;
  /** The dry runs that are left for this pass. */
  readonly budget: HoldBackBudget;
};

/** The most dry runs of a pass that compare schemas. They take longer than others; the next pass follows at once. */
const MOST_COMPARISONS = 32;

export class HoldBackBudget {
  #left: number;

  constructor(comparisons = MOST_COMPARISONS) {
    this.#left = comparisons;
  }

  get hasRest(): boolean {
    return this.#left > 0;
  }

  spend(): void {
    this.#left--;
  }
}

const LEAST_DELAY_MS = 30_000;
const MOST_DELAY_MS = 600_000;

export type SettledHolding = { readonly settled: Settled; readonly heldBack: HeldChanges };

/** Settles the decisions without the changes that the policy holds back. Throws EngineProblem. */
export async function settleHoldingBack(
  context: SettleContext,
  decisions: readonly Decision[],
  options: HoldBack,
): Promise<SettledHolding> {
  const changes = new Map(
    [...pendingChanges(decisions)].filter(([, change]) => !options.isConfirmed(change)),
  );
  const compared = new Set([...changes.values()].flatMap((change) => change.decisions));
  const exempt = decisions.filter((decision) => isWrite(decision) && !compared.has(decision));
  const left = new Map<string, ResourceOutcome>(exempt.map(({ key }) => [key, WAITS_FOR_OTHERS]));
  const heldBack = new Map<string, HeldChange>();
  const leaveOut = ({ decisions: own }: PendingChange, outcome: ResourceOutcome) => {
    for (const { key } of own) left.set(key, outcome);
  };
  const hold = (change: PendingChange, held: HeldChange) => {
    heldBack.set(change.owner, held);
    leaveOut(change, held.outcome);
  };
  for (const change of changes.values()) {
    const away = options.policies.has('Breaking') ? unavailableFor(change, context) : undefined;
    const known = knownFrom(options, change);
    if (away) leaveOut(change, away);
    else if (known?.isObjected) hold(change, known);
  }
  const wideningsIn = (applied: readonly Decision[], others: readonly Decision[]) =>
    options.policies.has('Widened')
      ? wideningsOf(objectsIn(context.live), changesIn(applied, changes), others)
      : NO_WIDENINGS;
  let isCut = false;
  for (;;) {
    const settled = await settle(without(context, left), decisions);
    const widenings = wideningsIn(settled.applied, exempt);
    const written = changesIn(settled.applied, changes);
    // What widens is held in any case, and the last search says whether it breaks clients as well.
    const unsearched = written.filter((change) => !widenings.has(change) || !knownFrom(options, change));
    const { held, untried } = await search({ context, decisions, settled, options }, unsearched);
    for (const change of new Set([...held.keys(), ...widenings.keys()])) {
      const why = { objection: held.get(change), widenings: widenings.get(change) };
      hold(change, heldChange(change, why, options));
    }
    for (const change of untried) leaveOut(change, WAITS_FOR_COMPARISON);
    isCut ||= untried.length > 0;
    if (held.size > 0 || untried.length > 0 || widenings.size > 0) continue;
    const whole = await withExempt(context, decisions, settled, exempt);
    // The writes that are not compared may not all be among it.
    const late = wideningsIn(
      whole.applied,
      whole.applied.filter((decision) => !compared.has(decision)),
    );
    for (const [change, one] of late) hold(change, heldChange(change, { widenings: one }, options));
    if (late.size === 0) return { settled: { ...whole, isCut: whole.isCut || isCut }, heldBack };
  }
}

const NO_WIDENINGS: ReturnType<typeof wideningsOf> = new Map();

/** Returns the changes that the decisions are part of. */
function changesIn(
  decisions: readonly Decision[],
  changes: ReadonlyMap<string, PendingChange>,
): readonly PendingChange[] {
  const owners = new Set(decisions.map(ownerOf));
  return [...owners].flatMap((owner) => changes.get(owner ?? '') ?? []);
}

/** Returns what an earlier search found for the change, until it may be searched again. */
function knownFrom({ before, nowMs, policies }: HoldBack, { owner, hash }: PendingChange) {
  const known = policies.has('Breaking') ? before.get(owner) : undefined;
  return known?.hash === hash && nowMs < known.retryAtMs ? known : undefined;
}

const WAITS_FOR_OTHERS: ResourceOutcome = {
  reason: 'Applying',
  message: 'it waits for its turn: other changes are compared with what clients use first',
};
const WAITS_FOR_COMPARISON: ResourceOutcome = {
  reason: 'Applying',
  message: 'it waits for its turn: other changes would break clients, and it is being found out which',
};

/** Returns the context in which these decisions are left out. */
function without(context: SettleContext, left: ReadonlyMap<string, ResourceOutcome>): SettleContext {
  return {
    ...context,
    backedOff: (decision, written) => left.get(decision.key) ?? context.backedOff?.(decision, written),
  };
}

/** Adds the decisions that are not compared. When a compared one does not fit together with them, it is written first, alone. */
async function withExempt(
  context: SettleContext,
  decisions: readonly Decision[],
  settled: Settled,
  exempt: readonly Decision[],
): Promise<Settled> {
  if (exempt.length === 0) return settled;
  const keys = new Set(exempt.map(({ key }) => key));
  const left = new Map([...settled.excluded].filter(([key]) => !keys.has(key)));
  const whole = await settle(without(context, left), decisions);
  const kept = new Set(whole.applied);
  if (!settled.applied.every((decision) => kept.has(decision))) return { ...settled, isCut: true };
  // What was refused without them may fit in the next write, and is compared before it.
  const isRefused = [...left.values()].some(({ reason }) => reason !== 'ChangeHeldBack');
  const isNews = whole.applied.length > settled.applied.length;
  return { ...whole, isCut: whole.isCut || (isRefused && isNews) };
}

type Attempted = {
  readonly context: SettleContext;
  readonly decisions: readonly Decision[];
  readonly settled: Settled;
  readonly options: HoldBack;
};

/** Why a set of changes is not written. `refused`: the engine does not accept it without other changes. */
type Objection =
  | { readonly kind: 'breaks'; readonly breaks: Breaks }
  | { readonly kind: 'unknown'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };

/** The breaking changes by identity. */
type Breaks = ReadonlyMap<string, Break>;
/** `who`: `role reader`, `every role`. */
type Break = { readonly who: string; readonly description: string };

type Found = {
  readonly held: ReadonlyMap<PendingChange, Objection>;
  readonly untried: readonly PendingChange[];
};

const NOTHING_FOUND: Found = { held: new Map(), untried: [] };

/** Returns the changes that cause what all of them together break. */
async function search(attempted: Attempted, changes: readonly PendingChange[]): Promise<Found> {
  const { budget, policies } = attempted.options;
  if (changes.length === 0 || !policies.has('Breaking')) return NOTHING_FOUND;
  if (!budget.hasRest) return { held: new Map(), untried: changes };
  const whole = await objectionTo(attempted, changes);
  if (!whole) return NOTHING_FOUND;
  if (whole.kind === 'refused') throw new EngineProblem('inconsistent', whole.why);
  if (whole.kind === 'unknown')
    return { held: new Map(changes.map((change) => [change, whole])), untried: [] };
  const trial = async (some: readonly PendingChange[]) => {
    const found = await objectionTo(attempted, some);
    if (found?.kind !== 'breaks') return found;
    // What part of the changes breaks and all of them do not is compared again once the causes are left out.
    const breaks = new Map([...found.breaks].filter(([id]) => whole.breaks.has(id)));
    return breaks.size === 0 ? undefined : { ...found, breaks };
  };
  const { refused, untried } = await bisect<PendingChange, Objection>(changes, whole, trial, {
    mayGoOn: () => budget.hasRest,
  });
  const causes = new Map([...refused].filter(([, { kind }]) => kind !== 'refused'));
  // What fits only together with a cause is not one itself, unless there is no other.
  return { held: causes.size > 0 || untried.length > 0 ? causes : refused, untried };
}

/** Returns what objects to writing these changes; undefined when nothing does. */
async function objectionTo(
  { context, decisions, settled, options }: Attempted,
  changes: readonly PendingChange[],
): Promise<Objection | undefined> {
  const keys = new Set(changes.flatMap((change) => change.decisions.map(({ key }) => key)));
  const part = settled.applied.filter(({ key }) => keys.has(key));
  options.budget.spend();
  try {
    const effects = await options.effects(feasibility(context, decisions)(part));
    const known = new Set([...settled.inconsistent, ...context.inconsistent].map(({ key }) => key));
    const found = unfit(effects.inconsistent ?? []).find(({ key }) => !known.has(key));
    return found ? { kind: 'refused', why: found.reason } : objectionIn(effects);
  } catch (error) {
    if (!(error instanceof EngineProblem)) throw error;
    if (error.kind === 'unsupported') return { kind: 'unknown', why: error.reason };
    // All of them together were accepted, so this is for the search of what the engine refuses.
    if (!isAboutContent(error) || part.length === settled.applied.length) throw error;
    return { kind: 'refused', why: error.reason };
  }
}

function objectionIn({ schemas, isComplete, requests = [] }: SchemaEffects): Objection | undefined {
  if (!isComplete)
    return { kind: 'unknown', why: 'the engine had no time to compare the schema of every role' };
  const breaks = new Map([
    ...schemas.flatMap(breaksOfSchema),
    ...requests.filter(isBreaking).map(breakOfRequests),
  ]);
  return breaks.size === 0 ? undefined : { kind: 'breaks', breaks };
}

function breaksOfSchema({ role, breaking, changes }: SchemaEffect): readonly (readonly [string, Break])[] {
  const who = `role ${role}`;
  const listed = changes.filter(({ severity }) => severity === 'breaking');
  const found = listed.map(
    ({ type, description }) => [JSON.stringify([role, type, description]), { who, description }] as const,
  );
  const rest = breaking - listed.length;
  const unlisted = { who, description: `${rest} more breaking ${rest === 1 ? 'change' : 'changes'}` };
  return rest > 0 ? [...found, [JSON.stringify([role]), unlisted] as const] : found;
}

/** A change for requests is the same one while it is about the same object: its parts may differ between sets of changes. */
function breakOfRequests(change: AccessChange): readonly [string, Break] {
  const { role, key, operation, on } = change;
  const who = role === null ? rolesText(change) : `role ${role}`;
  return [JSON.stringify([role, key, operation, on]), { who, description: lossText(change) }];
}

/** Why a change is held back: at least one of both. */
type HoldReason = {
  readonly objection?: Objection | undefined;
  readonly widenings?: Widenings | undefined;
};

function heldChange(change: PendingChange, why: HoldReason, options: HoldBack): HeldChange {
  const { hash } = change;
  const { times, retryAtMs } = knownFrom(options, change) ?? nextSearch(options, change);
  const message = `${reasonText(why)}; set the annotation ${CONFIRM_CHANGE_ANNOTATION}: ${hash} to apply it`;
  const isObjected = why.objection !== undefined;
  return { hash, outcome: { reason: 'ChangeHeldBack', message }, isObjected, times, retryAtMs };
}

function nextSearch({ before, policies, nowMs }: HoldBack, { owner, hash }: PendingChange) {
  // Nothing was searched.
  if (!policies.has('Breaking')) return { times: 0, retryAtMs: nowMs };
  const known = before.get(owner);
  const times = (known?.hash === hash ? known.times : 0) + 1;
  return { times, retryAtMs: nowMs + Math.min(MOST_DELAY_MS, LEAST_DELAY_MS * 2 ** (times - 1)) };
}

function reasonText({ objection, widenings }: HoldReason): string {
  const effects = [
    ...(widenings ? [wideningText(widenings)] : []),
    ...(objection?.kind === 'breaks' ? [breaksText(objection.breaks)] : []),
  ];
  const unknown =
    objection && objection.kind !== 'breaks'
      ? [`it is not known whether the change breaks clients, so it is held back: ${objection.why}`]
      : [];
  const known = effects.length > 0 ? [`the change is held back, it ${effects.join('; and it ')}`] : [];
  return [...known, ...unknown].join('; ');
}

function breaksText(breaks: Breaks): string {
  const [first, ...others] = [...breaks.values()];
  const { who, description } = first!;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  const roles = new Set(others.map((other) => other.who).filter((other) => other !== who)).size;
  const also = roles === 0 ? '' : ` and of ${roles} more ${roles === 1 ? 'role' : 'roles'}`;
  return `would break clients of ${who}${also} (${cut(description.replace(/\.$/, ''))}${more})`;
}

/** Returns the outcome of a change that concerns a source or remote schema that does not answer: the engine serves nothing of it now, so a
 *  comparison would find nothing. A new connection is not held back: it may be the remedy. */
function unavailableFor({ decisions }: PendingChange, context: SettleContext): ResourceOutcome | undefined {
  const away = new Map(
    context.inconsistent
      .filter(({ key }) => containerKeyOf(key) === key)
      .map((found) => [found.key, outcomeOfInconsistency(found, context.inconsistent, undefined)] as const)
      .filter(([, outcome]) => isUnavailability(outcome)),
  );
  if (away.size === 0) return undefined;
  for (const decision of decisions) {
    const container = isReconnection(decision) ? undefined : concerns(decision).find((key) => away.has(key));
    // Any table may give an inherited role its fields.
    const [any] = parseKey(decision.key)?.kind === 'inherited_role' ? away.keys() : [];
    const found = away.get(container ?? any ?? '');
    if (found) {
      const message = `${found.message}; until then it is not known whether the change breaks clients, so it is held back`;
      return { ...found, message };
    }
  }
  return undefined;
}

/** Returns the sources and remote schemas that a decision is about, or that its object refers to, before or after. */
function concerns({ key, live, claim }: Decision): readonly string[] {
  const objects = [live, claim?.object].filter((object) => object !== undefined);
  const keys = [key, ...objects.flatMap((object) => referencesOf(object))];
  return keys.flatMap((one) => containerKeyOf(one) ?? []);
}

/** True when only the connection of a source or remote schema changes. */
function isReconnection({ key, action, live, claim }: Decision): boolean {
  if (containerKeyOf(key) !== key || action === 'delete' || !live || !claim) return false;
  return isSameJson(withoutConnection(live.definition), withoutConnection(claim.object.definition));
}

function withoutConnection(definition: unknown): unknown {
  const { configuration: _, definition: remote, ...rest } = definition as Record<string, unknown>;
  const { customization } = (remote ?? {}) as { readonly customization?: unknown };
  return { ...rest, customization };
}
