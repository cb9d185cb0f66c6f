/** Finds the changes to leave out of a draft in which objects do not fit: those whose own object does not, and those that break another
 *  one. When several conflict, the one of lowest priority is left out, so that a new object never displaces an existing one.
 *  What depends on an own object that is removed on purpose waits; the removal does not.
 *  Not here: what depends on a change that is left out (feasible.ts). */
import { requirementsOf } from '../metadata/dependencies.ts';
import { type Cause, type Causes, type Change, isRemoval, isWaiting, type Misfit } from './change.ts';
import type { Draft } from './draft.ts';
import { firstFailure } from './search.ts';

/** Returns the changes to leave out, by key; none when the draft may be made as it is. */
export async function culpritsIn<R>(draft: Draft<R>, misfits: readonly Misfit<R>[]): Promise<Causes<R>> {
  const puts = new Map(draft.changes.filter((change) => !isRemoval(change)).map((put) => [put.key, put]));
  const away = misfits.filter(({ isAway }) => isAway);
  const atFault = misfits.flatMap((misfit) => {
    const put = puts.get(misfit.key);
    return put && !isWaiting(put, away) ? [{ put, misfit }] : [];
  });
  const own = atFault.filter(({ misfit }) => misfit.isOwnFault);
  if (own.length > 0) return new Map(own.map(({ put, misfit }) => [put.key, faultOf(misfit)]));
  const contested = await culpritsOfContests(draft, atFault);
  return contested.size > 0 ? contested : culpritsOfOthers(draft, puts, misfits);
}

function faultOf<R>(misfit: Misfit<R>): Cause<R> {
  return { because: 'fault', misfit };
}

/** Decides for objects that may not fit because of another one with the same name, path or type. The draft ends with the first culprits that
 *  are others: without them the rest may fit. */
async function culpritsOfContests<R>(
  draft: Draft<R>,
  atFault: readonly { readonly put: Change; readonly misfit: Misfit<R> }[],
): Promise<Causes<R>> {
  const priorities = new Map(draft.changes.map(({ key }, i) => [key, i]));
  const culprits = new Map<string, Cause<R>>();
  for (const { put, misfit } of atFault) {
    const own = priorities.get(put.key)!;
    const isLater = (rival: string) => (priorities.get(rival) ?? -1) > own;
    const isLost = misfit.rivals.length > 0 && !misfit.rivals.every(isLater);
    const breakers = isLost ? [] : await breakersOf(draft, own, misfit);
    if (breakers.length > 0) return new Map(breakers.map((key) => [key, { because: 'breaks', misfit }]));
    culprits.set(put.key, faultOf(misfit));
  }
  return culprits;
}

/** Returns the keys of later changes with which the object of a change does not fit: of all that have its names, or of the first by priority.
 *  None when it does not fit without later ones. */
async function breakersOf<R>(
  draft: Draft<R>,
  own: number,
  { key, rivals }: Misfit<R>,
): Promise<readonly string[]> {
  const { changes } = draft;
  const fails = async (length: number) => (await draft.misfitsOf(changes.slice(0, length))).has(key);
  if (own + 1 === changes.length || !draft.mayGoOn || (await fails(own + 1))) return [];
  if (rivals.length > 0) return rivals;
  return [changes[(await firstFailure(own + 2, changes.length, fails)) - 1]!.key];
}

/** Returns the changes that break objects which no change puts: those that such an object needs, or else the first with which it does not fit. */
async function culpritsOfOthers<R>(
  draft: Draft<R>,
  puts: ReadonlyMap<string, Change>,
  misfits: readonly Misfit<R>[],
): Promise<Causes<R>> {
  const removals = new Map(draft.changes.filter(isRemoval).map((removal) => [removal.key, removal]));
  const culprits = new Map<string, Cause<R>>();
  const unexplained: Misfit<R>[] = [];
  for (const misfit of misfits) {
    const { key } = misfit;
    if (puts.has(key) || draft.isMisfitBefore(key)) continue;
    const removed = among(removals, requirementsOf(draft.objects, key));
    const put = among(puts, requirementsOf(draft.objectsAfter, key));
    const guilty = draft.isForeign(key) ? [...removed, ...put] : put;
    for (const change of guilty) culprits.set(change.key, { because: 'breaks', misfit });
    if (removed.length + put.length === 0) unexplained.push(misfit);
  }
  if (culprits.size > 0) return culprits;
  const byPuts = await keysBrokenBy(draft, puts, unexplained);
  for (const misfit of unexplained) {
    // Only removals break it, so it waits.
    if (!draft.isForeign(misfit.key) && !byPuts.has(misfit.key)) continue;
    if (!draft.mayGoOn) return untold(draft);
    const culprit = await firstBreaker(draft, misfit);
    if (culprit) return new Map([[culprit.key, { because: 'breaks', misfit }]]);
  }
  return culprits;
}

/** Returns the own objects that do not fit after the puts alone. */
async function keysBrokenBy<R>(
  draft: Draft<R>,
  puts: ReadonlyMap<string, Change>,
  unexplained: readonly Misfit<R>[],
): Promise<ReadonlySet<string>> {
  if (puts.size === 0 || !unexplained.some(({ key }) => !draft.isForeign(key))) return new Set();
  return draft.misfitsOf([...puts.values()]);
}

/** Returns the first change with which an object does not fit that refers to none of them; undefined if that is a removal on purpose. */
async function firstBreaker<R>(draft: Draft<R>, { key }: Misfit<R>): Promise<Change | undefined> {
  const { changes } = draft;
  const mayBeGuilty = (change: Change) => draft.isForeign(key) || !isRemoval(change);
  if (!changes.some(mayBeGuilty)) return undefined;
  const fails = async (length: number) => (await draft.misfitsOf(changes.slice(0, length))).has(key);
  const culprit = changes[(await firstFailure(1, changes.length, fails)) - 1]!;
  return mayBeGuilty(culprit) ? culprit : undefined;
}

/** Leaves out every change of a draft that breaks something, because there is no time to find out which does. */
function untold<R>({ changes }: Draft<R>): Causes<R> {
  return new Map(changes.map(({ key }) => [key, { because: 'unknown' }]));
}

function among(changes: ReadonlyMap<string, Change>, keys: ReadonlySet<string>): readonly Change[] {
  return [...keys].flatMap((key) => changes.get(key) ?? []);
}
