/** Which decisions the engine can take: asks it what would be inconsistent, leaves out what is and what hangs on it, and asks
 *  again. One broken resource keeps nobody else waiting, and a change that would break what is not ours is not made.
 *  In: the live document, decisions, a dry run. Out: the document to write, and why the rest is left out.
 *  What waits for a database or remote schema that does not answer is written all the same: it is right, only not yet.
 *  Not here: writing (reconcile.ts). */
import {
  dependentsOf,
  type Metadata,
  type MetadataObject,
  OBJECTS,
  type ObjectKind,
  objectKey,
  parseKey,
  referencesOf,
} from '@pergola/engine/metadata';
import { compose, inOrder } from './compose.ts';
import type { Claim } from './desired.ts';
import { fieldIn } from './field.ts';
import { describeKey, isLeaf, objectsIn } from './fragment.ts';
import type { Reason } from './kinds.ts';
import type { InconsistentObject, Outcome } from './ports.ts';
import { type Decision, isPut, isWrite } from './three-way.ts';

/** More rounds than there are layers of objects on objects. */
const MOST_ROUNDS = 8;

export type Settled = {
  readonly document: Metadata;
  /** The decisions the document contains. */
  readonly applied: readonly Decision[];
  /** By key: decisions left out. */
  readonly excluded: ReadonlyMap<string, Outcome>;
  /** What is inconsistent in the document. */
  readonly inconsistent: readonly InconsistentObject[];
};

export type Ground = {
  readonly live: Metadata;
  readonly inconsistent: readonly InconsistentObject[];
  /** Of ours, whether it changes or not: only what is not ours must not break. */
  readonly isOwned: (key: string) => boolean;
  /** What would be inconsistent with these decisions made. */
  readonly dryRun: (decisions: readonly Decision[]) => Promise<readonly InconsistentObject[]>;
};

export async function settle(ground: Ground, decisions: readonly Decision[]): Promise<Settled> {
  const excluded = new Map<string, Outcome>();
  let active = inOrder(decisions.filter(isWrite));
  for (let round = 0; round < MOST_ROUNDS; round++) {
    active = withoutStranded(ground, active, excluded);
    if (active.length === 0) break;
    const document = compose(ground.live, active);
    const inconsistent = await ground.dryRun(active);
    const guilty = await guiltyOf(ground, active, document, inconsistent);
    if (guilty.size === 0) return { document, applied: active, excluded, inconsistent };
    for (const [key, outcome] of guilty) excluded.set(key, outcome);
    active = active.filter(({ key }) => !excluded.has(key));
  }
  for (const { key } of active) excluded.set(key, UNSETTLED);
  return { document: ground.live, applied: [], excluded, inconsistent: ground.inconsistent };
}

const UNSETTLED: Outcome = {
  reason: 'RejectedByEngine',
  message: 'the engine finds something new wrong with every version of the change; nothing was written',
};

/** What is wrong with an object that is ours, by its place, what it refers to, and the engine's code. */
export function judge(
  found: InconsistentObject,
  all: readonly InconsistentObject[],
  claim: Claim | undefined,
): Outcome {
  const field = fieldIn(claim?.cr, claim?.object, found.path ?? []);
  const message = `${describeKey(found.key)}${field}: ${found.reason.replace(/^Inconsistent object: /, '')}`;
  const absent = absenceBehind(found, all, claim?.object);
  if (absent) return { reason: absent, message };
  return { reason: found.code === 'not-exists' ? 'DependencyNotReady' : 'RejectedByEngine', message };
}

/** A database or remote schema that does not answer: then nothing in it, and nothing that leads there, can be judged. */
function absenceBehind(
  { key }: InconsistentObject,
  all: readonly InconsistentObject[],
  object: MetadataObject | undefined,
): Reason | undefined {
  const keys = [key, ...(object ? referencesOf(object, NO_OBJECTS) : [])];
  const homes = new Set(keys.map(homeKeyOf));
  const away = all.find((other) => homes.has(other.key) && isAway(other));
  return away && (away.key.startsWith('source/') ? 'SourceUnavailable' : 'RemoteUnavailable');
}

/** Of a source or a remote schema the engine says several things; what its own configuration does not allow, no waiting mends. */
function isAway({ key, reason, code }: InconsistentObject): boolean {
  return key.startsWith('source/')
    ? code !== 'invalid-configuration'
    : reason.includes('HTTP exception occurred');
}

export function isAbsence({ reason }: Outcome): boolean {
  return reason === 'SourceUnavailable' || reason === 'RemoteUnavailable';
}

const NO_OBJECTS: ReadonlyMap<string, MetadataObject> = new Map();

/** The source or remote schema an object is in, or is. */
export function homeKeyOf(key: string): string | undefined {
  const identity = parseKey(key);
  if (!identity) return undefined;
  const root = rootOf(identity.kind);
  if (root !== 'source' && root !== 'remote_schema') return undefined;
  return objectKey(root, identity.segments[0] ?? '');
}

function rootOf(kind: ObjectKind): ObjectKind {
  const { parent } = OBJECTS[kind];
  return parent === null ? kind : rootOf(parent as ObjectKind);
}

/** Puts without a parent wait for it; deletions that would take along what is not ours are not made. */
function withoutStranded(
  ground: Ground,
  active: readonly Decision[],
  excluded: Map<string, Outcome>,
): readonly Decision[] {
  const objects = objectsIn(ground.live);
  const deletable = withoutHostages(active, objects, ground.isOwned, excluded);
  const survives = survivors(
    objects,
    deletable.filter(({ action }) => action === 'delete'),
  );
  const put = new Set<string>();
  return deletable.filter((decision) => {
    if (decision.action === 'delete') return true;
    const missing = needsOf(decision.claim!.object).find((need) => !put.has(need) && !survives(need));
    if (missing === undefined) {
      put.add(decision.key);
      return true;
    }
    excluded.set(decision.key, waitsFor(decision.key, missing, excluded.get(missing)));
    return false;
  });
}

/** The engine takes an entry of the allow list that is about no collection; a person who wrote one is waiting for it. */
function needsOf(object: MetadataObject): readonly string[] {
  if (object.kind === 'allowlist') return referencesOf(object, NO_OBJECTS);
  return object.parent === null ? [] : [object.parent];
}

export function waitsFor(key: string, parent: string, why?: Outcome): Outcome {
  const because = why ? ` (${why.message})` : ', which the engine does not have';
  return {
    reason: 'DependencyNotReady',
    message: `${describeKey(key)} waits for ${describeKey(parent)}${because}`,
  };
}

/** Is there an object of this key once the deletions are made, with what is nested in them. */
function survivors(
  objects: ReadonlyMap<string, MetadataObject>,
  deletions: readonly Decision[],
): (key: string) => boolean {
  const gone = new Set(deletions.map(({ key }) => key));
  if (gone.size === 0) return (key) => objects.has(key);
  return (key) => objects.has(key) && !gone.has(key) && !ancestorsOf(key, objects).some((k) => gone.has(k));
}

function withoutHostages(
  active: readonly Decision[],
  objects: ReadonlyMap<string, MetadataObject>,
  isOwned: Ground['isOwned'],
  excluded: Map<string, Outcome>,
): readonly Decision[] {
  const takers = active.filter(({ action, key }) => action === 'delete' && !isLeaf(key));
  if (takers.length === 0) return active;
  const hostages = hostagesOf(new Set(takers.map(({ key }) => key)), objects, isOwned);
  return active.filter(({ key, action }) => {
    const hostage = action === 'delete' ? hostages.get(key) : undefined;
    if (hostage === undefined) return true;
    excluded.set(key, kept(key, hostage));
    return false;
  });
}

/** By the key of a deletion: the first object that is not ours and would go with it. */
function hostagesOf(
  deleted: ReadonlySet<string>,
  objects: ReadonlyMap<string, MetadataObject>,
  isOwned: Ground['isOwned'],
): ReadonlyMap<string, string> {
  const hostages = new Map<string, string>();
  for (const { key } of objects.values()) {
    if (isOwned(key)) continue;
    for (const above of ancestorsOf(key, objects)) {
      if (deleted.has(above) && !hostages.has(above)) hostages.set(above, key);
    }
  }
  return hostages;
}

function ancestorsOf(key: string, objects: ReadonlyMap<string, MetadataObject>): readonly string[] {
  const parent = objects.get(key)?.parent ?? null;
  return parent === null ? [] : [parent, ...ancestorsOf(parent, objects)];
}

function kept(key: string, dependent: string): Outcome {
  return {
    reason: 'PruneHeld',
    message:
      `${describeKey(key)} is kept: ${describeKey(dependent)} depends on it and belongs to no resource; ` +
      `drop that first`,
  };
}

/** Decisions to leave out, and why: puts that are inconsistent themselves, and whatever breaks what is not ours. */
async function guiltyOf(
  ground: Ground,
  active: readonly Decision[],
  document: Metadata,
  inconsistent: readonly InconsistentObject[],
): Promise<ReadonlyMap<string, Outcome>> {
  const guilty = new Map<string, Outcome>();
  const puts = new Map(active.filter((d) => isPut(d.action)).map((d) => [d.key, d]));
  const before = new Set(ground.inconsistent.map(({ key }) => key));
  for (const found of inconsistent) {
    const put = puts.get(found.key);
    const outcome = judge(found, inconsistent, put?.claim);
    if (put && !isAbsence(outcome)) guilty.set(found.key, outcome);
  }
  if (guilty.size > 0) return guilty;
  for (const found of inconsistent) {
    if (puts.has(found.key) || before.has(found.key)) continue;
    const culprits = await culpritsOf(ground, active, document, found);
    for (const culprit of culprits) guilty.set(culprit.key, blame(culprit, found));
    if (guilty.size > 0) break;
  }
  return guilty;
}

/** Whatever the object depends on; where the document does not tell, the first decision with which it turns inconsistent. */
async function culpritsOf(
  ground: Ground,
  active: readonly Decision[],
  document: Metadata,
  found: InconsistentObject,
): Promise<readonly Decision[]> {
  const known = active.filter(({ action, key }) =>
    dependentsOf(action === 'delete' ? ground.live : document, key).includes(found.key),
  );
  // Ours, and what it stood on was deleted on purpose: it waits, the deletion does not.
  const isOurs = ground.isOwned(found.key);
  const mayBeGuilty = ({ action }: Decision) => !isOurs || action !== 'delete';
  if (known.length > 0) return known.filter(mayBeGuilty);
  return active.some(mayBeGuilty) ? [await bisect(ground, active, found)].filter(mayBeGuilty) : [];
}

async function bisect(
  ground: Ground,
  active: readonly Decision[],
  found: InconsistentObject,
): Promise<Decision> {
  let [low, high] = [0, active.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const inconsistent = await ground.dryRun(active.slice(0, middle + 1));
    if (inconsistent.some(({ key }) => key === found.key)) high = middle;
    else low = middle + 1;
  }
  return active[low]!;
}

function blame({ key, action }: Decision, found: InconsistentObject): Outcome {
  if (action === 'delete') return kept(key, found.key);
  return {
    reason: 'RejectedByEngine',
    message: `${describeKey(key)} would break ${describeKey(found.key)}: ${found.reason}`,
  };
}
