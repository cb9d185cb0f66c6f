/** Chooses the edits of a patch that fit (admit/), with what this engine knows: its catalogs, its resolution of a document, and the schemas
 *  of roles.
 *  In: a unit of work, the arguments of `patch_metadata`. Out: the document with the edits that fit, and the members of the answer about
 *  the others. Not here: reading the edits (change/patch.ts), the answer as a whole (patch-metadata.ts). */
import { rivalsOf } from '../admit/admit.ts';
import { type BreaksSummary, comparisonOf, summaryOf } from '../admit/breaking.ts';
import type { Cause, Change, Misfit } from '../admit/change.ts';
import { feasible } from '../admit/feasible.ts';
import {
  admitHoldingBack,
  type Comparison,
  type Group,
  type Held,
  type HoldBackRules,
} from '../admit/hold-back.ts';
import { refusalOfCycle } from '../admit/role-cycles.ts';
import { comparedDocuments, printAccess } from '../change/effects.ts';
import { readEdits } from '../change/patch.ts';
import { EngineError, type PathStep } from '../errors/engine-error.ts';
import { inSlices, nextTurn } from '../limits/slices.ts';
import { editsBetween } from '../metadata/diff.ts';
import { type Edit, editObjects } from '../metadata/edit.ts';
import { normalMetadata } from '../metadata/normal-form.ts';
import { containerKeyOf, objectsOf } from '../metadata/objects.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Inconsistency } from '../resolve/model/inconsistency.ts';
import type { Upstreams } from '../resolve/remote-schema.ts';
import type { Resolution } from '../resolve/resolve.ts';
import { isSameConnection, isSameEndpoint } from '../state/gateway.ts';
import { isUnanswered, type PrintedInconsistency, printInconsistencies } from '../state/inconsistencies.ts';
import type { Catalogs } from '../state/snapshot.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';
import type { AdminRequest } from './request.ts';

type PatchArgs = ArgsOf<'patch_metadata'>;

/** An edit that is left out. */
type PrintedLeft = {
  readonly key: string;
  readonly because: Cause<unknown>['because'] | 'refused';
  /** The object that does not fit: that of the edit, or the one that it breaks. */
  readonly object?: PrintedInconsistency | undefined;
  /** The key that the edit needs and that does not exist. */
  readonly missing?: string;
  /** The message for an edit that is refused by itself, and the path in its definition. */
  readonly reason?: string;
  readonly path?: readonly PathStep[];
  /** The keys of the objects that it does not go together with. */
  readonly rivals?: readonly string[];
};

type PrintedBreaks = Omit<BreaksSummary, 'first'> & { readonly first: unknown };

/** Why a group is held back. */
type PrintedHeld = {
  /** The number of the group in the request. */
  readonly group: number;
  readonly breaks?: PrintedBreaks;
  /** Why it is not known what the group breaks. */
  readonly unknown?: string;
  readonly widens?: { readonly first: unknown; readonly others: number };
};

export type PatchAdmission = {
  readonly document: Metadata;
  /** The keys of the removals that fit. */
  readonly removed: readonly string[];
  /** True for what only lacks a value that will be set. */
  readonly fits: (found: Inconsistency) => boolean;
  readonly left_out: readonly PrintedLeft[];
  readonly held_back?: readonly PrintedHeld[];
  /** The numbers of the groups that were not compared for lack of time. */
  readonly not_compared?: readonly number[];
};

export async function admitPatch(
  work: UnitOfWork,
  args: PatchArgs,
  request: AdminRequest,
): Promise<PatchAdmission> {
  const { protect, listed, needs = {}, unsent_values: unsent = [], hold_back: holdBack } = args.admit!;
  const { changes, refused } = readChanges(args, needs);
  const foreign = new Set(listed);
  const changed = new Set(changes.map(({ key }) => key));
  const isForeign = (key: string) => (protect === 'listed' ? foreign.has(key) : !changed.has(key));
  const trial = new TrialDocuments(work, request, unsent);
  const groups: readonly Group[] = (holdBack?.groups ?? []).map(({ keys, is_compared: isCompared }) => ({
    keys,
    isCompared,
  }));
  const effects = new Set(holdBack?.effects);
  const options: HoldBackRules = {
    groups,
    holdsWidened: effects.has('widened'),
    compare: effects.has('breaking') ? (one, other) => trial.compare(one, other) : undefined,
    mayGoOn: timeFor(MOST_COMPARING_MS),
  };
  const baseline = {
    document: trial.start,
    isMisfitBefore: (key: string) => trial.isMisfitBefore(key),
    isForeign,
    judge: (document: Metadata) => trial.judge(document),
  };
  const { document, admitted, left, held, untried } = await admitHoldingBack(baseline, changes, options);
  const reports = [...left].map(([key, cause]) => printLeft(key, cause));
  const heldBack = [...held].map(([group, why]) => printHeld(groups.indexOf(group), why));
  return {
    document,
    removed: admitted.filter(({ definition }) => definition === undefined).map(({ key }) => key),
    fits: (found) => trial.isUnsent(found),
    left_out: [...refused, ...reports],
    ...(heldBack.length > 0 ? { held_back: heldBack } : {}),
    ...(untried.size > 0 ? { not_compared: [...untried].map((group) => groups.indexOf(group)) } : {}),
  };
}

type ReadChanges = {
  readonly changes: readonly Change[];
  readonly refused: readonly PrintedLeft[];
};

/** Reads the edits, each by itself: one that cannot be read is left out. */
function readChanges(args: PatchArgs, needs: Readonly<Record<string, readonly string[]>>): ReadChanges {
  const { put = [], remove = [] } = args;
  const keys = [...remove, ...put.map(({ key }) => key)];
  const changes: Change[] = [];
  const refused: PrintedLeft[] = [];
  for (const [i, read] of readEdits(args).entries()) {
    const key = keys[i]!;
    try {
      changes.push({ ...read(), needs: Object.hasOwn(needs, key) ? needs[key] : undefined });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      // `put[3].definition.filter` is `filter` in the definition.
      const path = error.path[2] === 'definition' ? error.path.slice(3) : [];
      refused.push({ key, because: 'refused', reason: error.messageIn('newer'), path });
    }
  }
  return { changes, refused };
}

/** The time in which schemas are compared. Other changes of the document wait meanwhile. */
const MOST_COMPARING_MS = 15_000;

function timeFor(ms: number): () => boolean {
  const until = performance.now() + ms;
  return () => performance.now() < until;
}

/** The documents that an admission tries, resolved by the engine. */
class TrialDocuments {
  readonly #work: UnitOfWork;
  readonly #request: AdminRequest;
  /** The reference texts of the values that the engine does not have yet. */
  readonly #unsent: ReadonlySet<string>;
  readonly #start: Metadata;
  readonly #resolved = new WeakMap<Metadata, Promise<Resolution>>();
  /** The targets as the sources and remote schemas described them for the first document, which has every change; undefined before. */
  #read: Pick<UnitOfWork, 'metadata' | 'catalogs' | 'upstreams'> | undefined;
  readonly #misfitsBefore = new Set<string>();

  constructor(work: UnitOfWork, request: AdminRequest, unsent: readonly string[]) {
    this.#work = work;
    this.#request = request;
    this.#unsent = new Set(unsent.map((name) => `value:${name}`));
    this.#start = work.document;
  }

  /** The document before the changes. */
  get start(): Metadata {
    return this.#start;
  }

  /** True for objects of the document before the changes that do not fit, also under what has been read since. */
  isMisfitBefore(key: string): boolean {
    return this.#misfitsBefore.has(key);
  }

  /** Reads the sources and remote schemas of the document with every change, once for all. */
  async #readTargets(document: Metadata): Promise<void> {
    const work = this.#work;
    const before = (await work.resolution()).inconsistencies;
    work.edit(this.#request.path, document);
    const added = new Set(await work.addedInconsistencies());
    const { metadata, catalogs, upstreams } = work;
    this.#read = { metadata, catalogs, upstreams };
    const resolution = await work.resolution();
    this.#resolved.set(document, Promise.resolve(resolution));
    const known = resolution.inconsistencies.filter((found) => !added.has(found));
    for (const { key, entity } of [...before, ...known]) if (!entity) this.#misfitsBefore.add(key);
  }

  async judge(document: Metadata): Promise<readonly Misfit<Inconsistency>[]> {
    if (!this.#read) await this.#readTargets(document);
    // What is chosen between two judgements takes as long as a walk over the objects.
    await nextTurn();
    const { inconsistencies } = await this.#resolution(document);
    return inconsistencies
      .filter((found) => !found.entity && !this.isUnsent(found))
      .map((found) => ({
        key: found.key,
        report: found,
        isAway: isUnanswered(found),
        isServed: found.isServed === true,
        isOwnFault: OWN_FAULTS.has(found.cause?.codeIn('specification') ?? ''),
        rivals: found.rivals ?? [],
      }));
  }

  async compare(before: Metadata, after: Metadata): Promise<Comparison> {
    const sent = await this.#withoutUnsent(before, after);
    const [old, next] = await Promise.all([this.#served(before), this.#served(sent)]);
    return comparisonOf(await comparedDocuments(old, next));
  }

  async #served(document: Metadata) {
    return { metadata: normalMetadata(document), model: (await this.#resolution(document)).model };
  }

  /** Returns the document without the changes of objects that only lack a value, and of what is in them. */
  async #withoutUnsent(before: Metadata, after: Metadata): Promise<Metadata> {
    const { inconsistencies } = await this.#resolution(after);
    const lacking = new Set(inconsistencies.filter((found) => this.isUnsent(found)).map(({ key }) => key));
    if (lacking.size === 0) return after;
    const edits = (await inSlices(editsBetween(before, after))) ?? [];
    const isSent = ({ key }: Edit) => !lacking.has(key) && !lacking.has(containerKeyOf(key) ?? '');
    return editObjects(before, feasible(objectsOf(before), edits.filter(isSent), new Map()));
  }

  /** True for an object that only lacks a value which will be set. */
  isUnsent({ cause }: Inconsistency): boolean {
    const lacks = cause?.hints.lacks;
    return lacks !== undefined && this.#unsent.has(lacks);
  }

  #resolution(document: Metadata): Promise<Resolution> {
    const known = this.#resolved.get(document);
    if (known) return known;
    const resolution = this.#work.gateway.resolve(
      document,
      this.#catalogsOf(document),
      this.#upstreamsOf(document),
    );
    this.#resolved.set(document, resolution);
    return resolution;
  }

  /** Returns the catalogs of the sources as the document connects them: with all changes, or as before. */
  #catalogsOf(document: Metadata): Catalogs {
    const { metadata, catalogs } = this.#read!;
    const changed = new Map(metadata.sources.map((source) => [source.name, source]));
    return mapped(normalMetadata(document).sources, (source) =>
      (isSameConnection(changed.get(source.name), source) ? catalogs : this.#work.base.catalogs).get(
        source.name,
      ),
    );
  }

  #upstreamsOf(document: Metadata): Upstreams {
    const { metadata, upstreams } = this.#read!;
    const changed = new Map(metadata.remote_schemas?.map((remote) => [remote.name, remote]));
    return mapped(normalMetadata(document).remote_schemas ?? [], ({ name, definition }) =>
      (isSameEndpoint(changed.get(name), definition) ? upstreams : this.#work.base.upstreams).get(name),
    );
  }
}

function mapped<T extends { readonly name: string }, V>(
  items: readonly T[],
  find: (item: T) => V | undefined,
): ReadonlyMap<string, V> {
  return new Map(
    items.flatMap((item) => {
      const value = find(item);
      return value === undefined ? [] : [[item.name, value] as const];
    }),
  );
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

function printLeft(key: string, cause: Cause<Inconsistency>): PrintedLeft {
  const rivals = rivalsOf(key, cause);
  return {
    key,
    because: cause.because,
    ...('misfit' in cause ? { object: printInconsistencies([cause.misfit.report], true)[0] } : {}),
    ...('missing' in cause ? { missing: cause.missing } : {}),
    ...('roles' in cause ? { reason: refusalOfCycle(cause.roles).messageIn('newer') } : {}),
    ...(rivals.length > 0 ? { rivals } : {}),
  };
}

function printHeld(group: number, { objection, widenings }: Held): PrintedHeld {
  return {
    group,
    ...(objection && 'unknown' in objection ? { unknown: objection.unknown } : {}),
    ...(objection && 'breaks' in objection
      ? { breaks: printBreaks(summaryOf(objection.breaks.values())) }
      : {}),
    ...(widenings ? { widens: { first: printAccess(widenings[0]!), others: widenings.length - 1 } } : {}),
  };
}

function printBreaks({ first, ...counts }: BreaksSummary): PrintedBreaks {
  return { first: 'access' in first ? { access: printAccess(first.access) } : first, ...counts };
}
