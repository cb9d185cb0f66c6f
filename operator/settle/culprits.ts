/** Finds the decisions to leave out of a change the engine does not accept: those that are inconsistent themselves, those that break
 *  what others have, and those for which the engine refuses the change as a whole. Where several do not go together, the one of
 *  lowest priority is left out (priority.ts), so that a newcomer never displaces what was there.
 *  Not here: what follows from leaving them out (settle.ts), the words for a single inconsistent object (inconsistency.ts). */
import { dependentsOf, type Metadata, objectKey } from '@pergola/engine/metadata';
import { type Decision, isPut } from '../decide/decide.ts';
import { fieldIn } from '../kinds/field.ts';
import { describeKey } from '../objects/normal-form.ts';
import { type InconsistentObject, type Outcome, unfit } from '../ports.ts';
import { firstFailure, type Refusal, sift } from './bisect.ts';
import { isAbsence, judge, kept } from './inconsistency.ts';
import { cyclesIn } from './role-cycles.ts';
import { type Ground, type Inquiry, refusalOfCycle } from './trials.ts';

export type Blame = {
  readonly outcome: Outcome;
  /** Keys of the objects it does not go together with. */
  readonly rivals: readonly string[];
  /** `search`: found by trials, and worth remembering. `fault`: its own, found out by trials. Absent: the engine says it. */
  readonly found?: 'search' | 'fault';
};

export type Guilty = ReadonlyMap<string, Blame>;

export type Findings = {
  readonly guilty: Guilty;
  /** Decisions that there was no time to try. */
  readonly untried: readonly Decision[];
  /** False where the change may be made when nothing is guilty. */
  readonly isOpen: boolean;
};

/** A change under inquiry: decisions by priority, those that can be made out of some of them, the document they make. */
export type Change = {
  readonly active: readonly Decision[];
  readonly feasible: (decisions: readonly Decision[]) => readonly Decision[];
  readonly document: Metadata;
};

/** The decisions for which the engine refuses the whole, and those that could not be tried. */
export async function guiltyOfRefusal(inquiry: Inquiry, change: Change, known: Refusal): Promise<Findings> {
  const { ground } = inquiry;
  if (known.isCycle) return { guilty: guiltyOfCycles(inquiry, change), untried: [], isOpen: true };
  const refusalOf = async (decisions: readonly Decision[]) =>
    (await inquiry.judge(change.feasible(decisions))).refusal;
  const { accepted, refused, untried } = await sift(change.active, known, refusalOf, () => inquiry.mayGoOn);
  const guilty = new Map<string, Blame>();
  for (const [decision, refusal] of refused) {
    const rivals = refusal.edit ? [] : await rivalsOf(inquiry, change, accepted, decision);
    guilty.set(decision.key, withRivals(ground, decision, refusal, rivals));
  }
  return { guilty, untried, isOpen: true };
}

function guiltyOfCycles({ ground }: Inquiry, { active }: Change): Guilty {
  const cycles = cyclesIn(ground.live.inherited_roles ?? [], active);
  return new Map(
    [...cycles].map(([decision, names]) => {
      const rivals = names
        .map((role) => objectKey('inherited_role', role))
        .filter((key) => key !== decision.key);
      return [decision.key, withRivals(ground, decision, refusalOfCycle(names), [...new Set(rivals)])];
    }),
  );
}

function withRivals(
  { ownerOf }: Ground,
  decision: Decision,
  refusal: Refusal,
  rivals: readonly string[],
): Blame {
  const named = rivals.slice(0, MOST_NAMED).map((key) => `${describeKey(key)}${ownedBy(ownerOf?.(key))}`);
  return { ...blameFor(decision, refusal, named), rivals };
}

const MOST_NAMED = 5;

/** Returns the decisions this one is refused together with; none when it is refused alone or the search would take too long. */
async function rivalsOf(
  inquiry: Inquiry,
  { feasible }: Change,
  accepted: readonly Decision[],
  decision: Decision,
): Promise<readonly string[]> {
  const fails = async (length: number) => {
    const part = feasible([...accepted.slice(0, length), decision]);
    return part.includes(decision) && (await inquiry.judge(part)).refusal !== undefined;
  };
  if (!inquiry.mayGoOn || accepted.length === 0 || (await fails(0))) return [];
  const rival = accepted[(await firstFailure(1, accepted.length, fails)) - 1];
  return rival ? [rival.key] : [];
}

/** `rivals`: what it does not go together with, in words. */
export function blameFor(
  { key, action, claim }: Decision,
  { reason, edit }: Refusal,
  rivals: readonly string[],
): Blame {
  const field = edit?.path ? ` at ${edit.path}` : fieldIn(claim?.cr, claim?.object, []);
  const beside = rivals.length > 0 ? `; it does not go together with ${rivals.join(', ')}` : '';
  const outcome: Outcome = {
    reason: action === 'delete' ? 'PruneHeld' : 'RejectedByEngine',
    message: `${describeKey(key)}${field}: ${reason}${beside}`,
  };
  return { outcome, rivals: [], found: 'search' };
}

function ownedBy(owner: string | undefined): string {
  return owner === undefined ? '' : ` of ${owner}`;
}

/** Decisions to leave out, and why: puts that are inconsistent themselves, and whatever breaks what others have. */
export async function guiltyOfInconsistency(
  inquiry: Inquiry,
  change: Change,
  inconsistent: readonly InconsistentObject[],
): Promise<Findings> {
  const puts = new Map(change.active.filter((d) => isPut(d.action)).map((d) => [d.key, d]));
  const guilty = new Map<string, Blame>();
  const contested: { readonly put: Decision; readonly found: InconsistentObject; readonly blame: Blame }[] =
    [];
  for (const found of inconsistent) {
    const put = puts.get(found.key);
    const outcome = judge(found, inconsistent, put?.claim);
    if (!put || isAbsence(outcome)) continue;
    const blame = { outcome, rivals: [] };
    const isOwnFault = !isContest(found) || inquiry.ground.isKnownFault?.(put) === true;
    if (isOwnFault) guilty.set(found.key, blame);
    else contested.push({ put, found, blame });
  }
  if (guilty.size > 0) return { guilty, untried: [], isOpen: false };
  for (const { put, found, blame } of contested) {
    if (!inquiry.mayGoOn) return { guilty, untried: [], isOpen: true };
    const culprit = await breakerOf(inquiry, change, put, found);
    guilty.set(culprit.key, culprit === put ? { ...blame, found: 'fault' } : broken(inquiry, culprit, found));
    // Without the culprit the others may be well.
    if (culprit !== put) return { guilty, untried: [], isOpen: false };
  }
  if (guilty.size > 0) return { guilty, untried: [], isOpen: false };
  return { guilty: await breakersOfOthers(inquiry, change, puts, inconsistent), untried: [], isOpen: false };
}

/** Codes of inconsistencies that no other object brings about. */
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

/** True where the object may be inconsistent for the sake of another: they want the same name, path or type. */
function isContest({ code }: InconsistentObject): boolean {
  return code === undefined || !OWN_FAULTS.has(code);
}

/** The decision with which the put turns inconsistent, in the order of priority; the put itself where it is so without later ones. */
async function breakerOf(
  inquiry: Inquiry,
  { active, feasible }: Change,
  put: Decision,
  found: InconsistentObject,
): Promise<Decision> {
  const own = active.indexOf(put) + 1;
  const fails = async (length: number) => {
    const { inconsistent, refusal } = await inquiry.judge(feasible(active.slice(0, length)));
    return refusal !== undefined || unfit(inconsistent).some(({ key }) => key === found.key);
  };
  if (own === active.length || (await fails(own))) return put;
  return active[(await firstFailure(own + 1, active.length, fails)) - 1]!;
}

async function breakersOfOthers(
  inquiry: Inquiry,
  change: Change,
  puts: ReadonlyMap<string, Decision>,
  inconsistent: readonly InconsistentObject[],
): Promise<Guilty> {
  const before = new Set(inquiry.ground.inconsistent.map(({ key }) => key));
  for (const found of inconsistent) {
    if (puts.has(found.key) || before.has(found.key)) continue;
    const guilty = await breakersOf(inquiry, change, found);
    if (guilty.size > 0) return guilty;
  }
  return new Map();
}

/** Whatever the object depends on; where the document does not tell, the first decision with which it turns inconsistent. */
async function breakersOf(
  inquiry: Inquiry,
  { active, document }: Change,
  found: InconsistentObject,
): Promise<Guilty> {
  const { ground } = inquiry;
  const known = active.filter(({ action, key }) =>
    dependentsOf(action === 'delete' ? ground.live : document, key).includes(found.key),
  );
  // An object of this manager whose ground was deleted on purpose waits; the deletion does not.
  const isOurs = ground.isOwned(found.key);
  const mayBeGuilty = ({ action }: Decision) => !isOurs || action !== 'delete';
  if (known.length > 0) {
    return new Map(
      known.filter(mayBeGuilty).map((d) => [d.key, { ...broken(inquiry, d, found), rivals: [] }]),
    );
  }
  if (!active.some(mayBeGuilty)) return new Map();
  const fails = async (length: number) => {
    const { inconsistent, refusal } = await inquiry.judge(active.slice(0, length));
    return refusal !== undefined || unfit(inconsistent).some(({ key }) => key === found.key);
  };
  const culprit = active[(await firstFailure(1, active.length, fails)) - 1]!;
  return new Map(mayBeGuilty(culprit) ? [[culprit.key, broken(inquiry, culprit, found)]] : []);
}

function broken({ ground }: Inquiry, { key, action }: Decision, found: InconsistentObject): Blame {
  if (action === 'delete') return { outcome: kept(key, found.key), rivals: [] };
  const owner = ownedBy(ground.ownerOf?.(found.key));
  const outcome: Outcome = {
    reason: 'RejectedByEngine',
    message: `${describeKey(key)} would break ${describeKey(found.key)}${owner}: ${found.reason}`,
  };
  return { outcome, rivals: [found.key], found: 'search' };
}
