/** Translates resources to the metadata objects they claim and finds the owner of each key.
 *  In: the resources, the ledger, the options of the engine. Out: claims by key, keys to keep as they are, and an outcome for each resource
 *  that cannot have its objects. A resource with an invalid spec keeps its objects: the last valid version is served on.
 *  The owner of a key is the one in the ledger, else the oldest resource, else the one with the smallest uid.
 *  Pure. Not here: what exists in the engine (decide.ts). */
import { checkConnections } from '@pergola/engine/connections';
import {
  canonicalPrefix,
  EngineError,
  keyOfDefinition,
  type MetadataObject,
  printPath,
  type Source,
  withPath,
} from '@pergola/engine/metadata';
import { RELEASE_ANNOTATION } from '../grants/consent.ts';
import { type ReservedKey, reservationOf } from '../grants/reservation.ts';
import { type Revocation, revocationOf } from '../grants/revocation.ts';
import { IdentityCache } from '../identity-cache.ts';
import { DROPPED_FIELDS } from '../kinds/dropped-fields.ts';
import { fieldIn } from '../kinds/field.ts';
import { type KindRow, SpecProblem, type TranslateContext, type ValueSource } from '../kinds/kind.ts';
import { missingKeyText } from '../kinds/missing-key.ts';
import { exceededLimit, problemsOf } from '../kinds/validate.ts';
import { type CustomResource, crName, kindAndNamespaceOf, kindOf } from '../kinds.ts';
import { isOwnedBy, type Ledger, type LedgerEntry } from '../objects/ledger.ts';
import { hashOf, isKept, normalised, printKey, stableJson } from '../objects/normal-form.ts';
import { valueName } from '../objects/value-name.ts';
import type { Consent, CrSnapshot, Policies, ReconcileOptions, ResourceOutcome } from '../ports.ts';
import { pauseOf } from './pause.ts';

export const ADOPT_ANNOTATION = 'pergola.dev/adopt';
/** The most characters of a value that an engine stores. */
const MOST_VALUE_CHARACTERS = 65_536;
/** The most characters of one object. A larger one is a mistake in the resource, and every read of the engine would contain it. */
const MOST_FRAGMENT_CHARACTERS = 262_144;

export type Claim = {
  /** The object in normal form. */
  readonly object: MetadataObject;
  readonly hash: string;
  readonly cr: CustomResource;
  readonly policies: Pick<Policies, 'drift' | 'adoption'> & { readonly deletion: 'Delete' | 'Retain' };
  /** The values of Secrets that the resource refers to, by the name under which the engine stores them. */
  readonly values: ReadonlyMap<string, string>;
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
  for (const cr of snapshot.resources) {
    const translated = translate(cr, snapshot, options);
    if ('reason' in translated) outcomes.set(cr.metadata.uid, translated);
    else claims.push(...translated.claims);
  }
  const silent = keptKeys(snapshot, ledger, outcomes, options.manager);
  const revoked = revocations(snapshot, ledger, live, silent, options);
  const kept = new Set([...silent].filter((key) => !revoked.get(key)?.isOver));
  const winners = new Map<string, Claim>();
  const reserved = new Map<string, Date>();
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
        : conflict(key, loser.cr, winner, entry, options.manager);
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
    values: new Map(
      [...new Set([...winners.values()].map((claim) => claim.values))].flatMap((each) => [...each]),
    ),
  };
}

function translate(
  cr: CustomResource,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
): { readonly claims: readonly Claim[] } | ResourceOutcome {
  const row = kindOf(cr.kind);
  if (!row) return { reason: 'InvalidSpec', message: `there is no kind ${cr.kind}` };
  const { namespace } = cr.metadata;
  const refusal = snapshot.consent?.refusalOf(namespace);
  if (refusal !== undefined) return { reason: 'RefNotPermitted', message: refusal };
  const values = new Map<string, string>();
  const translation = translationOf(cr, row, snapshot, options, values);
  if ('reason' in translation && translation.isMalformed) return translation;
  const dropped = cr.metadata.annotations?.[DROPPED_FIELDS];
  if (dropped !== undefined) return { reason: 'InvalidSpec', message: `${dropped}; ${DROPPED}` };
  const objects = 'reason' in translation ? [] : translation.map(({ object }) => object);
  const governed = 'reason' in translation || !row.governs ? objects : row.governs(cr.spec);
  const objection = snapshot.consent?.objectionTo(namespace, cr.kind, governed);
  if (objection !== undefined) return { reason: 'NotPermitted', message: objection };
  const pause = pauseOf(cr, snapshot.at);
  if (pause) return pause;
  if ('reason' in translation) return translation;
  const held = snapshot.held?.(cr);
  if (held) return held;
  const policies = policiesOf(cr, row, options.policies, snapshot.consent);
  return {
    claims: translation.map((one) => ({
      ...one,
      cr,
      values: values.size > 0 ? values : NO_VALUES,
      policies: withSourceKept(one.object, cr, policies, options),
    })),
  };
}

const DROPPED =
  'the API server dropped what it does not know, so that the resource says less than was applied';

/** Shared by claims without values, to save memory. */
const NO_VALUES: ReadonlyMap<string, string> = new Map();

/** The objects of a spec, or why there are none. `isMalformed` outcomes are reported even for a paused resource. */
type Translation =
  | readonly Pick<Claim, 'object' | 'hash'>[]
  | (ResourceOutcome & { readonly isMalformed?: boolean });

/** The translations of specs that refer to no Secret and no ConfigMap, for engines with a prefix of session variables. */
const translations = new IdentityCache<
  CustomResource['spec'],
  { readonly prefix: string | undefined; readonly translation: Translation }
>();

/** True when the spec was translated before and refers to no Secret, ConfigMap or artifact: it translates to the same again. */
export function isSelfContained({ spec }: CustomResource): boolean {
  return translations.peek(spec) !== undefined && !('configMapRef' in spec) && !('ociArtifact' in spec);
}

/** Returns the keys of the objects a resource translates to, whether or not it may own them. */
export function keysClaimedBy(
  cr: CustomResource,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
): readonly string[] {
  const row = kindOf(cr.kind);
  const translation = row ? translationOf(cr, row, snapshot, options) : [];
  return 'reason' in translation ? [] : translation.map(({ object }) => object.key);
}

function translationOf(
  cr: CustomResource,
  row: KindRow,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
  values: Map<string, string> = new Map(),
): Translation {
  const { headerPrefix: prefix } = options;
  const known = translations.peek(cr.spec);
  if (known && known.prefix === prefix) return known.translation;
  const { valueFrom } = contextOf(cr, snapshot, options, values);
  let isIndependent = true;
  const context: TranslateContext = {
    valueFrom: (source, path) => {
      isIndependent = false;
      return valueFrom(source, path);
    },
  };
  const translation = translateSpec(cr, row, context, prefix);
  if (isIndependent) translations.set(cr.spec, { prefix, translation });
  return translation;
}

function translateSpec(
  cr: CustomResource,
  row: KindRow,
  context: TranslateContext,
  prefix: string | undefined,
): Translation {
  const excess = exceededLimit(cr.spec);
  if (excess) return { reason: 'InvalidSpec', message: `spec ${excess}`, isMalformed: true };
  try {
    const problems = problemsOf(row, cr.spec);
    if (problems.length > 0)
      return { reason: 'InvalidSpec', message: problems.join('; '), isMalformed: true };
    const translated = row.translate(cr.spec, context);
    const checked = translated.map((object) => checkedObject(withPrefix(object, prefix), cr));
    const objects = distinct(checked).filter(isKept);
    const tooLarge = oversizeOf(objects);
    if (tooLarge) return { reason: 'InvalidSpec', message: tooLarge };
    return objects.map((object) => ({ object, hash: hashOf(object) }));
  } catch (error) {
    return problemOf(error);
  }
}

/** The most characters of all objects of a resource together. Every write that changes them contains them. */
const MOST_RESOURCE_CHARACTERS = 8_388_608;

function oversizeOf(objects: readonly MetadataObject[]): string | undefined {
  let total = 0;
  for (const { key, definition } of objects) {
    const { length } = stableJson(definition);
    if (length > MOST_FRAGMENT_CHARACTERS) return `${printKey(key)} is larger than 256 KiB`;
    total += length;
  }
  return total > MOST_RESOURCE_CHARACTERS
    ? 'the objects of the resource are larger than 8 MiB together; divide it into several resources'
    : undefined;
}

/** Returns the object with its session variables spelled as the engine's document has them. */
function withPrefix(object: MetadataObject, prefix = 'x-engine-'): MetadataObject {
  return {
    ...object,
    definition: canonicalPrefix(object.definition, prefix) as MetadataObject['definition'],
  };
}

/** Returns the object in normal form. Throws SpecProblem for an object that the engine would not store: it would reject the whole write,
 *  with the changes of all other resources. */
function checkedObject(object: MetadataObject, cr: CustomResource): MetadataObject {
  try {
    const normal = normalised(object);
    const actual = keyOfDefinition(object.key, normal.definition);
    if (actual !== object.key) {
      throw new SpecProblem(
        'InvalidSpec',
        `${printKey(object.key)}: the definition is that of ${printKey(actual)} (key ${actual}), not of key ${object.key}`,
      );
    }
    if (normal.kind === 'source') {
      withPath('configuration', () => checkConnections((normal.definition as Source).configuration));
    }
    return normal;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const field = fieldIn(cr, object, error.path);
    throw new SpecProblem('InvalidSpec', `${printKey(object.key)}${field}: ${error.messageIn('newer')}`);
  }
}

/** Removes duplicates: documents of one bundle may define the same object. Throws SpecProblem when the definitions differ. */
function distinct(objects: readonly MetadataObject[]): readonly MetadataObject[] {
  const byKey = new Map<string, MetadataObject>();
  for (const object of objects) {
    const other = byKey.get(object.key);
    if (other && hashOf(other) !== hashOf(object)) {
      const message = `${printKey(object.key)} is there twice, and different; remove one of them`;
      throw new SpecProblem('InvalidSpec', message);
    }
    byKey.set(object.key, object);
  }
  return [...byKey.values()];
}

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
  const mayRetain = !consent || cr.metadata.namespace === consent.home;
  return {
    drift: own.driftPolicy ?? general.drift,
    adoption: adopts ? 'Always' : (own.adoptionPolicy ?? general.adoption),
    deletion: mayRetain || own.deletionPolicy === 'Delete' ? (own.deletionPolicy ?? usual) : usual,
  };
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

/** `values` receives the values of Secrets, which the metadata refers to by name. */
function contextOf(
  cr: CustomResource,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
  values: Map<string, string>,
): TranslateContext {
  return {
    valueFrom: (source: ValueSource, path: string) => {
      if (source.env !== undefined) return { from_env: source.env };
      if (source.file !== undefined) return { from_file: source.file };
      if (source.configMapKeyRef) return configMapValue(cr, source.configMapKeyRef, path, snapshot);
      const { name = '', key = '' } = source.secretKeyRef ?? {};
      const { namespace } = cr.metadata;
      const value = snapshot.references.secret(namespace, name, key);
      const what = `key ${key} of Secret ${namespace}/${name}`;
      if (value === undefined) {
        const { secretKeys: keysOf } = snapshot.references;
        const missing = missingKeyText({ kind: 'Secret', namespace, name, key, keysOf });
        throw new SpecProblem('SecretNotFound', `${path}.secretKeyRef: ${missing}`);
      }
      if (value === '' || value.length > MOST_VALUE_CHARACTERS) {
        const problem = value === '' ? 'is empty' : `has more than ${MOST_VALUE_CHARACTERS} characters`;
        throw new SpecProblem('InvalidSpec', `${path}.secretKeyRef: ${what} ${problem}`);
      }
      const stored = valueName({ namespace, name, key, manager: options.manager });
      values.set(stored, value);
      return { from_value: stored };
    },
  };
}

function configMapValue(
  { metadata: { namespace } }: CustomResource,
  { name, key }: { readonly name: string; readonly key: string },
  path: string,
  { references }: CrSnapshot,
): string {
  const value = references.configMap(namespace, name, key);
  if (value !== undefined) return value;
  const { configMapKeys: keysOf } = references;
  const missing = missingKeyText({ kind: 'ConfigMap', namespace, name, key, keysOf });
  throw new SpecProblem('DependencyNotReady', `${path}.configMapKeyRef: ${missing}`);
}

/** Returns the outcome for an error in one resource, so that no such error ends the pass over all resources. */
function problemOf(error: unknown): ResourceOutcome {
  if (error instanceof SpecProblem) return { reason: error.reason, message: error.message };
  if (error instanceof EngineError) {
    return { reason: 'InvalidSpec', message: `${error.messageIn('newer')} at ${printPath(error.path)}` };
  }
  return { reason: 'InvalidSpec', message: `the spec cannot be read: ${error}` };
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
  const mayBeUnseen = (entry: LedgerEntry) =>
    !snapshot.isComplete ||
    snapshot.unbound?.has(entry.cr) === true ||
    snapshot.seesNamespace?.(kindAndNamespaceOf(entry.cr).namespace) === false;
  const isHeld = (entry: LedgerEntry) =>
    ownedBySilent(entry) || (mayBeUnseen(entry) && entry.manager === manager && !ownedBySeen(entry));
  return new Set([...ledger.objects].filter(([, entry]) => isHeld(entry)).map(([key]) => key));
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

function winnerOf(
  rivals: readonly Claim[],
  entry: LedgerEntry | undefined,
  isHeld: boolean,
  manager: string,
): Claim | undefined {
  if (isHeld || (entry && entry.manager !== manager)) return undefined;
  const owner = entry && rivals.find(({ cr }) => isOwnedBy(entry, cr, manager));
  return owner ?? rivals.toSorted(byAge)[0];
}

function byAge(a: Claim, b: Claim): number {
  const [one, other] = [a.cr.metadata, b.cr.metadata];
  const [x, y] =
    one.creationTimestamp === other.creationTimestamp
      ? [one.uid, other.uid]
      : [one.creationTimestamp, other.creationTimestamp];
  return x < y ? -1 : 1;
}

function conflict(
  key: string,
  loser: CustomResource,
  winner: Claim | undefined,
  entry: LedgerEntry | undefined,
  manager: string,
): ResourceOutcome {
  if (!winner && entry && entry.manager !== manager && entry.uid === loser.metadata.uid) {
    return {
      reason: 'AnotherOperator',
      message:
        `${printKey(key)} is written for this resource by another operator, which calls itself ${entry.manager}, ` +
        `and this operator calls itself ${manager}; let only one of them watch this namespace`,
    };
  }
  const owner = winner ? crName(winner.cr) : (entry?.cr ?? 'another resource');
  const elsewhere = !winner && entry && entry.manager !== manager ? `, of manager ${entry.manager}` : '';
  return {
    reason: 'Conflict',
    message: `${printKey(key)} belongs to ${owner}${elsewhere}; remove it here or there (key ${key})`,
  };
}

function reservation(key: string, { namespace, until }: ReservedKey): ResourceOutcome {
  return {
    reason: 'Conflict',
    message:
      `${printKey(key)} is reserved for namespace ${namespace}, which had it last, until ${until.toISOString()}; ` +
      `an administrator can release it with ${RELEASE_ANNOTATION}: ${namespace} on the Engine`,
  };
}
