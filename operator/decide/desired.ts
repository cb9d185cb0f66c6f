/** The objects that resources claim, and the owner of each key.
 *  In: the resources, the ledger, the options of the engine. Out: claims by key, keys to keep as they are, and an outcome for each resource
 *  that cannot have its objects. A resource with an invalid spec keeps its objects: the last valid version is served on.
 *  Pure. Not here: the objects of a spec (translation.ts), which of several claims gets a key (conflict.ts), what exists in the engine (decide.ts). */
import type { MetadataObject } from '@pergola/engine/metadata';
import { RELEASE_ANNOTATION } from '../grants/consent.ts';
import { type ReservedKey, reservationOf } from '../grants/reservation.ts';
import { type Revocation, revocationOf } from '../grants/revocation.ts';
import { DROPPED_FIELDS } from '../kinds/dropped-fields.ts';
import type { KindRow } from '../kinds/kind.ts';
import { type CustomResource, crName, kindAndNamespaceOf, kindOf } from '../kinds.ts';
import type { Ledger, LedgerEntry } from '../objects/ledger.ts';
import { printKey } from '../objects/normal-form.ts';
import type { Consent } from '../ports/consent.ts';
import type { Policies, ReconcileOptions } from '../ports/options.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';
import { type Contest, lostOutcome, winnerOf } from './conflict.ts';
import { pauseOf } from './pause.ts';
import { type TranslatedObject, translationOf } from './translation.ts';

export const ADOPT_ANNOTATION = 'pergola.dev/adopt';

/** An object that a resource declares and may own. */
export type Claim = TranslatedObject & {
  readonly cr: CustomResource;
  readonly policies: Pick<Policies, 'drift' | 'adoption'> & { readonly deletion: 'Delete' | 'Retain' };
  /** The values of Secrets that the resource refers to, by the name under which the engine stores them. */
  readonly values: ReadonlyMap<string, string>;
  /** True for a resource in the namespace of the Engine. Messages of others do not list names of objects that they may not know. */
  readonly isAtHome: boolean;
};

export type Desired = {
  readonly claims: ReadonlyMap<string, Claim>;
  /** The keys in the ledger that stay as they are. */
  readonly kept: ReadonlySet<string>;
  /** The revocations of objects whose owner may no longer own them, by key. The objects are kept until the grace period ends. */
  readonly revoked: ReadonlyMap<string, Revocation>;
  /** The end of each reservation for another namespace that a resource waits for, by key. */
  readonly reserved: ReadonlyMap<string, Date>;
  /** The outcome of each resource that has a problem, or a problem with one of its claims, by uid. */
  readonly outcomes: ReadonlyMap<string, ResourceOutcome>;
  /** The names of all resources in the snapshot. Objects of other owners may be deleted. */
  readonly present: ReadonlySet<string>;
  /** The grant that each resource needs although it has its objects, by uid. */
  readonly missingGrants?: ReadonlyMap<string, string>;
  /** The values that the engine must have before it is sent the claimed objects, by name. */
  readonly values: ReadonlyMap<string, string>;
};

export function desire(
  snapshot: CrSnapshot,
  ledger: Ledger,
  live: ReadonlyMap<string, MetadataObject>,
  options: ReconcileOptions,
): Desired {
  const outcomes = new Map<string, ResourceOutcome>();
  const claims: Claim[] = [];
  const missingGrants = new Map<string, string>();
  for (const cr of snapshot.resources) {
    const translated = translate(cr, snapshot, options, { ledger, live, missingGrants });
    if ('reason' in translated) outcomes.set(cr.metadata.uid, translated);
    else claims.push(...translated.claims);
  }
  const silent = keptKeys(snapshot, ledger, outcomes, options.manager);
  const revoked = revocations(snapshot, ledger, live, silent, options);
  const kept = new Set([...silent].filter((key) => !revoked.get(key)?.isOver));
  const winners = new Map<string, Claim>();
  const reserved = new Map<string, Date>();
  const claimsOf = groupedByOwner(claims);
  for (const [key, rivals] of Map.groupBy(claims, (claim) => claim.object.key)) {
    const entry = ledger.objects.get(key);
    const isOver = revoked.get(key)?.isOver;
    const reservedKey = isOver ? undefined : reservationOf(key, { snapshot, ledger, options });
    const eligible = reservedKey ? eligibleRivals(rivals, reservedKey, snapshot) : rivals;
    const winner = winnerOf(eligible, entry, kept.has(key), options.manager);
    if (winner) winners.set(key, winner);
    const isReserved = reservedKey && !winner && !kept.has(key);
    if (isReserved) reserved.set(key, reservedKey.until);
    for (const loser of rivals.filter((rival) => rival !== winner)) {
      const why = isReserved
        ? reservation(key, reservedKey)
        : lostOutcome(loser, { winner, entry, manager: options.manager, claimsOf });
      outcomes.set(loser.cr.metadata.uid, why);
    }
  }
  return {
    claims: winners,
    kept,
    revoked,
    reserved,
    outcomes,
    present: new Set(snapshot.resources.map(crName)),
    missingGrants,
    values: new Map(
      [...new Set([...winners.values()].map((claim) => claim.values))].flatMap((each) => [...each]),
    ),
  };
}

/** Returns a function that returns the claims of a resource. They are grouped at its first call: most passes have no conflict. */
function groupedByOwner(claims: readonly Claim[]): Contest['claimsOf'] {
  let grouped: ReadonlyMap<CustomResource, readonly Claim[]> | undefined;
  return (owner) => {
    grouped ??= Map.groupBy(claims, ({ cr }) => cr);
    return grouped.get(owner) ?? [];
  };
}

/** The state that resources are translated with. `missingGrants` receives the grants of resources that have their objects without one. */
type Known = {
  readonly ledger: Ledger;
  readonly live: ReadonlyMap<string, MetadataObject>;
  readonly missingGrants: Map<string, string>;
};

/** Returns why the Engine of a folder would not let a cluster's operator apply the resource. */
function reportedObjection(
  { reportedConsent }: CrSnapshot,
  { kind, metadata: { namespace } }: CustomResource,
  objects: readonly MetadataObject[],
): string | undefined {
  return reportedConsent?.refusalOf(namespace) ?? reportedConsent?.objectionTo(namespace, kind, objects);
}

function translate(
  cr: CustomResource,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
  { ledger, live, missingGrants }: Known,
): { readonly claims: readonly Claim[] } | ResourceOutcome {
  const row = kindOf(cr.kind);
  if (!row) return { reason: 'InvalidSpec', message: `there is no kind ${cr.kind}` };
  const { namespace } = cr.metadata;
  const refusal = snapshot.consent?.refusalOf(namespace);
  if (refusal !== undefined) return { reason: 'RefNotPermitted', message: refusal };
  const values = new Map<string, string>();
  const translation = translationOf(cr, row, snapshot, options, { values, live });
  if ('reason' in translation && translation.isMalformed) return translation;
  const dropped = cr.metadata.annotations?.[DROPPED_FIELDS];
  if (dropped !== undefined) return { reason: 'InvalidSpec', message: `${dropped}; ${DROPPED}` };
  const objects = 'reason' in translation ? [] : translation.map(({ object }) => object);
  const governed = 'reason' in translation || !row.governs ? objects : row.governs(cr.spec);
  const objection = snapshot.consent?.objectionTo(namespace, cr.kind, governed);
  if (objection !== undefined) {
    const held = heldBy(cr, row, { ledger, live }, options);
    const isNew = snapshot.consent?.objectionTo(namespace, cr.kind, governed, held) !== undefined;
    if (isNew) return { reason: 'NotPermitted', message: objection };
    missingGrants.set(cr.metadata.uid, objection);
  }
  const reported = reportedObjection(snapshot, cr, governed);
  if (reported !== undefined) missingGrants.set(cr.metadata.uid, reported);
  const pause = pauseOf(cr, snapshot.at);
  if (pause) return pause;
  if ('reason' in translation) return translation;
  const held = snapshot.held?.(cr);
  if (held) return held;
  const policies = policiesOf(cr, row, options.policies, snapshot.consent);
  const isAtHome = isHome(cr, snapshot.consent);
  return {
    claims: translation.map((one) => ({
      ...one,
      cr,
      values: values.size > 0 ? values : NO_VALUES,
      policies: withSourceKept(one.object, cr, policies, options),
      isAtHome,
    })),
  };
}

/** Returns the objects that the engine has of the resource. One that governs objects of others has them once it was applied. */
function heldBy(
  cr: CustomResource,
  row: KindRow,
  { ledger, live }: Pick<Known, 'ledger' | 'live'>,
  { manager }: ReconcileOptions,
): (key: string) => MetadataObject | undefined {
  const wasApplied = cr.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  const governed = wasApplied ? (row.governs?.(cr.spec) ?? []) : [];
  return (key) => {
    const entry = ledger.objects.get(key);
    if (entry?.manager === manager && entry.cr === crName(cr)) return live.get(key);
    return governed.find((object) => object.key === key);
  };
}

const DROPPED =
  'the API server dropped what it does not know, so that the resource says less than was applied';

/** Shared by claims without values, to save memory. */
const NO_VALUES: ReadonlyMap<string, string> = new Map();

/** Returns the policies of a resource. A resource outside the namespace of the Engine cannot retain its objects: they would have no
 *  owner and outlive the grants of the namespace. */
function policiesOf(
  cr: CustomResource,
  row: KindRow,
  general: Policies,
  consent: Consent | undefined,
): Claim['policies'] {
  const own = cr.spec as { driftPolicy?: Policies['drift']; adoptionPolicy?: Policies['adoption'] } & {
    deletionPolicy?: 'Delete' | 'Retain';
  };
  const adopts = cr.metadata.annotations?.[ADOPT_ANNOTATION] === 'true';
  const usual = general.deletion ?? row.deletionPolicy;
  const mayRetain = isHome(cr, consent);
  return {
    drift: own.driftPolicy ?? general.drift,
    adoption: adopts ? 'Always' : (own.adoptionPolicy ?? general.adoption),
    deletion: mayRetain || own.deletionPolicy === 'Delete' ? (own.deletionPolicy ?? usual) : usual,
  };
}

/** True when the resource is in the namespace of the Engine, or in a folder. */
function isHome({ metadata }: CustomResource, consent: Consent | undefined): boolean {
  return !consent || metadata.namespace === consent.home;
}

/** Retains a source of a bundle by default, as a Source resource does: the objects of every team are in it. */
function withSourceKept(
  { kind }: MetadataObject,
  { spec }: CustomResource,
  policies: Claim['policies'],
  options: ReconcileOptions,
): Claim['policies'] {
  const isSaid = 'deletionPolicy' in spec || options.policies.deletion !== undefined;
  return kind !== 'source' || isSaid ? policies : { ...policies, deletion: 'Retain' };
}

/** Returns the keys owned by resources that have a problem, and by resources that may exist but cannot be seen. */
function keptKeys(
  snapshot: CrSnapshot,
  ledger: Ledger,
  outcomes: ReadonlyMap<string, ResourceOutcome>,
  manager: string,
): ReadonlySet<string> {
  const silent = snapshot.resources.filter((cr) => outcomes.has(cr.metadata.uid));
  const [ownedBySilent, ownedBySeen] = [ownership(silent, manager), ownership(snapshot.resources, manager)];
  const { lost } = snapshot;
  const isLost = ({ cr }: LedgerEntry) => lost !== undefined && lost !== 'unknown' && lost.has(cr);
  const mayBeUnseen = (entry: LedgerEntry) =>
    (!snapshot.isComplete && !entry.isPruneHeld && !isLost(entry)) || isElsewhere(entry, snapshot);
  const isHeld = (entry: LedgerEntry) =>
    ownedBySilent(entry) || (mayBeUnseen(entry) && entry.manager === manager && !ownedBySeen(entry));
  return new Set([...ledger.objects].filter(([, entry]) => isHeld(entry)).map(([key]) => key));
}

/** True when the owner may exist, although it is not among the resources of the Engine. */
export function isElsewhere(
  { cr }: Pick<LedgerEntry, 'cr'>,
  { unbound, seesNamespace }: CrSnapshot,
): boolean {
  return unbound?.has(cr) === true || seesNamespace?.(kindAndNamespaceOf(cr).namespace) === false;
}

/** Returns the revocations of unclaimed objects: those of resources with a problem, and those that a deleted resource retains. */
function revocations(
  snapshot: CrSnapshot,
  ledger: Ledger,
  live: ReadonlyMap<string, MetadataObject>,
  kept: ReadonlySet<string>,
  { manager, policies }: ReconcileOptions,
): ReadonlyMap<string, Revocation> {
  const found = new Map<string, Revocation>();
  if (!snapshot.consent) return found;
  const present = new Set(snapshot.resources.map(crName));
  for (const [key, entry] of ledger.objects) {
    const wouldRemain = kept.has(key) || (entry.deletionPolicy === 'Retain' && !present.has(entry.cr));
    if (entry.manager !== manager || !wouldRemain) continue;
    const revocation = revocationOf(entry, live.get(key), snapshot, policies.revocationGraceMinutes);
    if (revocation) found.set(key, revocation);
  }
  return found;
}

/** Returns a predicate that is true for entries owned by any of the resources. It is fast for thousands of entries and resources. */
function ownership(crs: readonly CustomResource[], manager: string): (entry: LedgerEntry) => boolean {
  const uids = new Set(crs.map(({ metadata }) => metadata.uid));
  const names = new Set(crs.map(crName));
  return (entry) => entry.manager === manager && (uids.has(entry.uid) || names.has(entry.cr));
}

/** Returns the claims that may have a reserved key. Those of the reserving namespace come first even after the reservation. */
function eligibleRivals(
  rivals: readonly Claim[],
  { namespace, isOver }: ReservedKey,
  { consent }: CrSnapshot,
): readonly Claim[] {
  const own = rivals.filter(({ cr }) => cr.metadata.namespace === namespace);
  if (own.length > 0) return own;
  return isOver ? rivals : rivals.filter(({ cr }) => cr.metadata.namespace === consent?.home);
}

function reservation(key: string, { namespace, until }: ReservedKey): ResourceOutcome {
  return {
    reason: 'Conflict',
    message:
      `${printKey(key)} is reserved for namespace ${namespace}, which had it last, until ${until.toISOString()}; ` +
      `an administrator can release it with ${RELEASE_ANNOTATION}: ${namespace} on the Engine`,
  };
}
