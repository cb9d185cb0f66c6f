/** Finds the decisions to leave out of a change that the engine does not accept: inconsistent objects, decisions that break foreign objects,
 *  and decisions for which the engine refuses the whole change. When several conflict, the one of lowest priority is left out (order.ts),
 *  so a new resource never displaces an existing one.
 *  Not here: the dependents of what is left out (settle.ts), the message for an inconsistent object (inconsistency.ts). */
import { type Metadata, objectKey, requirementsOf } from '@pergola/engine/metadata';
import { type Decision, isPut } from '../decide/decide.ts';
import { fieldIn } from '../kinds/field.ts';
import { objectsIn, printKey } from '../objects/normal-form.ts';
import { type InconsistentObject, type ResourceOutcome, unfit } from '../ports.ts';
import { bisect, firstFailure, type Refusal } from './bisect.ts';
import { isUnavailability, keptForDependent, outcomeOfInconsistency } from './inconsistency.ts';
import { cyclesIn } from './role-cycles.ts';
import { refusalOfCycle, type SettleContext, type Trials } from './trials.ts';

export type Blame = {
  readonly outcome: ResourceOutcome;
  /** The keys of the objects it conflicts with. */
  readonly rivals: readonly string[];
  /** `search`: found by trials, and kept for the next passes. `fault`: fails by itself, found by trials. Absent: reported by the engine. */
  readonly found?: 'search' | 'fault';
};

export type Culprits = ReadonlyMap<string, Blame>;

export type Findings = {
  readonly culprits: Culprits;
  /** The decisions that were not tried for lack of time. */
  readonly untried: readonly Decision[];
  /** False when the change may be applied if no culprit is found. */
  readonly isOpen: boolean;
};

/** A draft of a change: decisions by priority, the applicable part of any of them, and the resulting document. */
export type Draft = {
  readonly active: readonly Decision[];
  readonly feasible: (decisions: readonly Decision[]) => readonly Decision[];
  readonly document: Metadata;
};

/** Returns the decisions for which the engine rejects the whole change, and those that could not be tried. */
export async function culpritsOfRefusal(trials: Trials, change: Draft, known: Refusal): Promise<Findings> {
  const { context } = trials;
  if (known.isCycle) return { culprits: culpritsOfCycles(trials, change), untried: [], isOpen: true };
  const refusalOf = async (decisions: readonly Decision[]) =>
    (await trials.run(change.feasible(decisions))).refusal;
  const { accepted, refused, untried } = await bisect(change.active, known, refusalOf, {
    mayGoOn: () => trials.hasBudget,
    namedBy: (part, { edit }) => part.find(({ key }) => key === edit?.key),
  });
  const culprits = new Map<string, Blame>();
  for (const [decision, refusal] of refused) {
    const rivals = refusal.edit ? [] : await rivalsOf(trials, change, accepted, decision);
    culprits.set(decision.key, withRivals(context, decision, refusal, rivals));
  }
  return { culprits, untried, isOpen: true };
}

function culpritsOfCycles({ context }: Trials, { active }: Draft): Culprits {
  const cycles = cyclesIn(context.live.inherited_roles ?? [], active);
  return new Map(
    [...cycles].map(([decision, names]) => {
      const rivals = names
        .map((role) => objectKey('inherited_role', role))
        .filter((key) => key !== decision.key);
      return [decision.key, withRivals(context, decision, refusalOfCycle(names), [...new Set(rivals)])];
    }),
  );
}

function withRivals(
  { ownerOf }: SettleContext,
  decision: Decision,
  refusal: Refusal,
  rivals: readonly string[],
): Blame {
  const named = rivals.slice(0, MOST_NAMED).map((key) => `${printKey(key)}${ownedBy(ownerOf?.(key))}`);
  return { ...blameFor(decision, refusal, named), rivals };
}

const MOST_NAMED = 5;

/** Returns the decisions that conflict with this one; none when it is refused alone or the search would take too long. */
async function rivalsOf(
  trials: Trials,
  { feasible }: Draft,
  accepted: readonly Decision[],
  decision: Decision,
): Promise<readonly string[]> {
  const fails = async (length: number) => {
    const part = feasible([...accepted.slice(0, length), decision]);
    return part.includes(decision) && (await trials.run(part)).refusal !== undefined;
  };
  if (!trials.hasBudget || accepted.length === 0 || (await fails(0))) return [];
  const rival = accepted[(await firstFailure(1, accepted.length, fails)) - 1];
  return rival ? [rival.key] : [];
}

/** Returns the blame for a decision. `rivals` are the objects it conflicts with, as text. */
export function blameFor(
  { key, action, claim }: Decision,
  { reason, edit }: Refusal,
  rivals: readonly string[],
): Blame {
  const field = edit?.path ? ` at ${edit.path}` : fieldIn(claim?.cr, claim?.object, []);
  const beside = rivals.length > 0 ? `; it does not go together with ${rivals.join(', ')}` : '';
  const outcome: ResourceOutcome = {
    reason: action === 'delete' ? 'PruneHeld' : 'RejectedByEngine',
    message: `${printKey(key)}${field}: ${reason}${beside}`,
  };
  return { outcome, rivals: [], found: 'search' };
}

function ownedBy(owner: string | undefined): string {
  return owner === undefined ? '' : ` of ${owner}`;
}

/** Returns the decisions to leave out: puts that are inconsistent themselves, and decisions that break objects of other owners. */
export async function culpritsOfInconsistency(
  trials: Trials,
  change: Draft,
  inconsistent: readonly InconsistentObject[],
): Promise<Findings> {
  const puts = new Map(change.active.filter((d) => isPut(d.action)).map((d) => [d.key, d]));
  const culprits = new Map<string, Blame>();
  const contested: { readonly put: Decision; readonly found: InconsistentObject; readonly blame: Blame }[] =
    [];
  for (const found of inconsistent) {
    const put = puts.get(found.key);
    const outcome = outcomeOfInconsistency(found, inconsistent, put?.claim);
    if (!put || isUnavailability(outcome)) continue;
    const blame = { outcome, rivals: [] };
    const isOwnFault = !isContest(found) || trials.context.failsOnItsOwn?.(put) === true;
    if (isOwnFault) culprits.set(found.key, blame);
    else contested.push({ put, found, blame });
  }
  if (culprits.size > 0) return { culprits, untried: [], isOpen: false };
  for (const { put, found, blame } of contested) {
    if (!trials.hasBudget) return { culprits, untried: [], isOpen: true };
    const culprit = await breakerOf(trials, change, put, found);
    culprits.set(
      culprit.key,
      culprit === put ? { ...blame, found: 'fault' } : broken(trials, culprit, found),
    );
    // Without the culprit the others may be consistent.
    if (culprit !== put) return { culprits, untried: [], isOpen: false };
  }
  if (culprits.size > 0) return { culprits, untried: [], isOpen: false };
  return breakersOfOthers(trials, change, puts, inconsistent);
}

/** The codes of inconsistencies that no other object causes. */
const OWN_FAULTS: ReadonlySet<string> = new Set([
  'not-exists',
  'not-found',
  'permission-error',
  'parse-failed',
  'validation-failed',
  'constraint-error',
  'unexpected-payload',
  'postgres-error',
]);

/** True when the object may be inconsistent because of another one with the same name, path or type. */
function isContest({ code }: InconsistentObject): boolean {
  return code === undefined || !OWN_FAULTS.has(code);
}

/** Returns the first decision, by priority, with which the put becomes inconsistent; the put itself when it is so without later ones. */
async function breakerOf(
  trials: Trials,
  { active, feasible }: Draft,
  put: Decision,
  found: InconsistentObject,
): Promise<Decision> {
  const own = active.indexOf(put) + 1;
  const fails = async (length: number) => {
    const { inconsistent, refusal } = await trials.run(feasible(active.slice(0, length)));
    return refusal !== undefined || unfit(inconsistent).some(({ key }) => key === found.key);
  };
  if (own === active.length || (await fails(own))) return put;
  return active[(await firstFailure(own + 1, active.length, fails)) - 1]!;
}

async function breakersOfOthers(
  trials: Trials,
  { active, document, feasible }: Draft,
  puts: ReadonlyMap<string, Decision>,
  inconsistent: readonly InconsistentObject[],
): Promise<Findings> {
  const { context } = trials;
  const [live, after] = [objectsIn(context.live), objectsIn(document)];
  const before = new Set(context.inconsistent.map(({ key }) => key));
  const deletions = new Map(active.filter(({ action }) => action === 'delete').map((d) => [d.key, d]));
  const culprits = new Map<string, Blame>();
  const unexplained: InconsistentObject[] = [];
  for (const found of inconsistent) {
    if (puts.has(found.key) || before.has(found.key)) continue;
    const deleted = among(deletions, requirementsOf(live, found.key));
    const put = among(puts, requirementsOf(after, found.key));
    // An object of this manager whose dependency is deleted on purpose waits; the deletion does not.
    const guilty = context.isOwned(found.key) ? put : [...deleted, ...put];
    for (const d of guilty) culprits.set(d.key, { ...broken(trials, d, found), rivals: [] });
    if (deleted.length + put.length === 0) unexplained.push(found);
  }
  const byPuts = unexplained.some(({ key }) => context.isOwned(key))
    ? await brokenBy(trials, feasible([...puts.values()]))
    : undefined;
  for (const found of unexplained) {
    if (culprits.size > 0) break;
    // It waits, as above: only deletions break it.
    if (byPuts && context.isOwned(found.key) && !byPuts.has(found.key)) continue;
    if (!trials.hasBudget) return { culprits, untried: [], isOpen: true };
    const culprit = await firstBreaker(trials, active, found);
    if (culprit) culprits.set(culprit.key, broken(trials, culprit, found));
  }
  return { culprits, untried: [], isOpen: false };
}

/** Returns the keys of the objects that the decisions alone make inconsistent; undefined when the engine refuses them. */
async function brokenBy(
  trials: Trials,
  decisions: readonly Decision[],
): Promise<ReadonlySet<string> | undefined> {
  if (decisions.length === 0) return new Set();
  const { inconsistent, refusal } = await trials.run(decisions);
  return refusal ? undefined : new Set(unfit(inconsistent).map(({ key }) => key));
}

function among(decisions: ReadonlyMap<string, Decision>, keys: ReadonlySet<string>): readonly Decision[] {
  return [...keys].flatMap((key) => decisions.get(key) ?? []);
}

/** Returns the first decision with which the object, which refers to none of them, becomes inconsistent; undefined if it is a deletion on
 *  purpose. */
async function firstBreaker(
  trials: Trials,
  active: readonly Decision[],
  found: InconsistentObject,
): Promise<Decision | undefined> {
  const isOurs = trials.context.isOwned(found.key);
  const mayBeGuilty = ({ action }: Decision) => !isOurs || action !== 'delete';
  if (!active.some(mayBeGuilty)) return undefined;
  const fails = async (length: number) => {
    const { inconsistent, refusal } = await trials.run(active.slice(0, length));
    return refusal !== undefined || unfit(inconsistent).some(({ key }) => key === found.key);
  };
  const culprit = active[(await firstFailure(1, active.length, fails)) - 1]!;
  return mayBeGuilty(culprit) ? culprit : undefined;
}

function broken({ context }: Trials, { key, action }: Decision, found: InconsistentObject): Blame {
  if (action === 'delete') return { outcome: keptForDependent(key, found.key), rivals: [] };
  const owner = ownedBy(context.ownerOf?.(found.key));
  const outcome: ResourceOutcome = {
    reason: 'RejectedByEngine',
    message: `${printKey(key)} would break ${printKey(found.key)}${owner}: ${found.reason}`,
  };
  return { outcome, rivals: [found.key], found: 'search' };
}
