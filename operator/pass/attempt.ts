/** One attempt of a pass and its repetitions: observe, decide, settle, and one compare-and-swap write.
 *  In: the ports, the options, what the previous pass left. Out: the resources that were seen, and the report so far.
 *  Not here: each step; what follows the write (reconcile.ts). */
import { type Decision, isWrite } from '../decide/decide.ts';
import type { PassInputs, PassState } from '../decide/incremental-scope.ts';
import { translateInSlices } from '../decide/translation.ts';
import { crName } from '../kinds.ts';
import { ledgerPatch } from '../objects/ledger.ts';
import { manifestParts, prepareManifests } from '../objects/manifests.ts';
import { isLeaf, objectsIn } from '../objects/normal-form.ts';
import { changedNotes, type NotesPatch } from '../objects/notes.ts';
import { type UnservedPatch, unservedChanges } from '../objects/unserved.ts';
import type { EngineReading } from '../ports/engine.ts';
import { EngineProblem, isAboutContent } from '../ports/engine-problem.ts';
import { inconsistentIn } from '../ports/inconsistent-object.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { Ports } from '../ports/ports.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import { NO_HELD_CHANGES } from '../settle/hold-back.ts';
import { editsOf } from '../settle/order.ts';
import { NO_BACKOFF, noteBreaking, noteRefusal, withoutApplied } from '../settle/refusal-backoff.ts';
import { isOutage } from '../status/conditions.ts';
import { outcomeOf, type PassPlan, type Report } from '../status/report.ts';
import { verdictsOf } from '../status/verdicts.ts';
import {
  type DecidedIn,
  decideEdits,
  decideIncrementally,
  decideOnAll,
  withLostResources,
} from './decisions.ts';
import { takeOverEarlierNames } from './earlier-names.ts';
import { changedManifests } from './manifests.ts';
import { afterMigrations, isConnected, withMigrations } from './migrations.ts';
import { writeNotes } from './notes.ts';
import { NOTHING_BEFORE, planOn } from './plan.ts';
import { removeUnusedValues, sendValues } from './values.ts';

type Verdicts = ReturnType<typeof verdictsOf>;

const MOST_TRIES = 8;
/** Attempts of one pass to write in parts what the engine does not take at once. */
const MOST_PARTS = 64;
const LEAST_PAUSE_MS = 50;
const MOST_PAUSE_MS = 500;

/** The result of an attempt. `verdicts` are those of the resources in scope. */
export type Attempt = Omit<
  Report,
  'statuses' | 'isWaiting' | 'isCut' | 'isOfEdits' | 'resources' | 'unpublished' | 'passState'
>;

/** The results of an attempt that the next one uses. */
type LeftToNext = Pick<Attempt, 'backoff' | 'heldBack' | 'admitsFirst'>;

/** Results of the previous pass that an attempt may use, and what this one is for. */
export type PreviousAttempt = {
  readonly [Result in keyof LeftToNext]?: LeftToNext[Result] | undefined;
} & {
  /** True when other changes still linger: edits then have a pass of their own, which does not wait for them. */
  readonly isForEdits?: boolean | undefined;
  readonly passState?: PassState | undefined;
};

/** Plans and writes, and starts again from the current state when another client wrote in between. When the engine has no problem, a
 *  change is written without asking whether it fits, which is half of the cost of a small change; only after a refusal the engine is
 *  asked what fits. A change for which it refuses the write all the same is left out, and what is too large for one request is written
 *  in parts. A plan that breaks objects of resources out of scope is made again over all. Between the steps, which take long with thousands of resources, the rest of the process runs: probes and the lease. */
export async function attempt(
  { engine, source, clock }: Ports,
  options: ReconcileOptions,
  { isForEdits = false, passState, ...before }: PreviousAttempt,
): Promise<{ readonly snapshot: CrSnapshot; readonly report: Attempt }> {
  const parts = new Parts();
  const earlier = leftBefore(before);
  let { backoff, heldBack } = earlier;
  let [wasWritten, isAdmitted, doubt]: [boolean, boolean, Doubt] = [false, false, 'none'];
  let known = passState;
  for (let tries = 1; ; ) {
    let snapshot = await source.snapshot();
    let decided: DecidedIn | undefined;
    let made: PassPlan | undefined;
    try {
      wasWritten ||= await takeOverEarlierNames(engine, options);
      const observed = await afterMigrations(engine, snapshot, options, passState);
      const { reading, migrated } = observed;
      snapshot = migrated.snapshot;
      const observation = { snapshot, reading, options };
      // After a refusal edits have waited long enough.
      const comesFirst = isForEdits || doubt !== 'none';
      const first = await decideFirst(wasWritten ? undefined : known, observation, comesFirst, clock);
      decided = await withLostResources(first, observation);
      isAdmitted = needsAdmission(decided, options, doubt, earlier.admitsFirst);
      const mustFit = !isAdmitted && inconsistentIn(reading.inconsistent).length === 0;
      await sendValues(engine, decided.decided.desired.values);
      await clock.sleep(0);
      const nowMs = clock.now().getTime();
      const { most } = parts;
      made = await planOn(reading, decided, options, { engine, mustFit, backoff, heldBack, nowMs, most });
      if (!isEnough(made)) {
        known = undefined;
        continue;
      }
      backoff = noteBreaking(backoff, made.decisions, made.settled, nowMs);
      heldBack = made.settled.heldBack;
      await clock.sleep(0);
      const expected = verdictsOf(made, made.settled.inconsistent);
      await clock.sleep(0);
      const report = await apply({ engine, clock }, snapshot, made, mustFit, expected);
      wasWritten ||= report.wasWritten;
      if (report.wasWritten && isConnected(migrated, made)) continue;
      if (!made.settled.isCut || !report.wasWritten || !parts.mayGoOn) {
        await removeUnusedValues(engine, made, snapshot, options);
        const verdicts = withMigrations(report.verdicts, migrated);
        const left = leftAfter(made, { backoff, heldBack }, earlier, doubt);
        return { snapshot, report: { ...report, verdicts, wasWritten, ...left } };
      }
      parts.grow();
    } catch (error) {
      if (!(error instanceof EngineProblem)) throw error;
      if (isAboutContent(error) && !isAdmitted) {
        doubt = decided?.scope.isOfEdits ? 'all' : 'others';
        continue;
      }
      const sent = made ? made.settled.applied : sentInQuestion(decided, error);
      if (sent.length > 0 && (isAboutContent(error) || error.kind === 'tooLarge')) {
        const refused = sent.length === 1 ? sent[0] : sent.find(({ key }) => key === error.edit?.key);
        if (refused) backoff = noteRefusal(backoff, refused, error, clock.now().getTime());
        parts.shrink(refused ? undefined : sent.length);
        if (parts.mayGoOn) continue;
      }
      if (error.kind !== 'conflict' || tries++ === MOST_TRIES) {
        return { snapshot, report: { ...failed(snapshot, error), ...earlier, backoff, heldBack } };
      }
      await clock.sleep(LEAST_PAUSE_MS + clock.random() * (MOST_PAUSE_MS - LEAST_PAUSE_MS));
    }
  }
}

/** Returns what the next pass may use. A pass over edits alone leaves what else was refused or held back as it was. */
function leftAfter(
  { scope, settled }: PassPlan,
  { backoff, heldBack }: Pick<Attempt, 'backoff' | 'heldBack'>,
  before: LeftToNext,
  doubt: Doubt,
): LeftToNext {
  if (scope.isOfEdits) return { ...before, admitsFirst: before.admitsFirst || doubt !== 'none' };
  const admitsFirst = !settled.fits || (before.admitsFirst && scope.isCut);
  return { backoff: withoutApplied(backoff, settled.excluded), heldBack, admitsFirst };
}

function leftBefore(before: Omit<PreviousAttempt, 'isForEdits' | 'passState'>): LeftToNext {
  const { backoff = NO_BACKOFF, heldBack = NO_HELD_CHANGES, admitsFirst = false } = before;
  return { backoff, heldBack, admitsFirst };
}

/** The changes that the engine has refused in this pass: none, those of a scope that are not edits alone, or edits as well. */
type Doubt = 'none' | 'others' | 'all';

/** Returns the decisions of the smallest scope that is sufficient. Edits alone come before the translation of new resources. */
async function decideFirst(
  known: PassState | undefined,
  observation: PassInputs,
  isForEdits: boolean,
  clock: Ports['clock'],
): Promise<DecidedIn> {
  const edits = known && decideEdits(known, observation, isForEdits);
  if (edits) return edits;
  const { snapshot, reading, options } = observation;
  await translateInSlices(snapshot, objectsIn(reading.metadata), options, () => clock.sleep(0));
  return (known && decideIncrementally(known, observation, isForEdits)) ?? decideOnAll(observation);
}

/** True when the engine is asked which changes fit before they are written: after a refusal, after a pass that left something out as long
 *  as more resources wait, and for deletions of many tables, since some are often named by what stays. A refused write costs as much as the
 *  question, and an edit would wait for both. */
function needsAdmission(
  { scope, decided }: DecidedIn,
  { policies }: ReconcileOptions,
  doubt: Doubt,
  admitsFirst: boolean,
): boolean {
  if (doubt === 'all' || (doubt === 'others' && !scope.isOfEdits)) return true;
  if (admitsFirst && scope.hasCreatedOrDeleted) return true;
  const deleted = decided.decisions.filter(({ action, key }) => action === 'delete' && !isLeaf(key));
  return deleted.length > policies.pruneGuard.maxObjects;
}

/** False when the plan of an incremental scope breaks objects of resources out of scope, or edits that come first do not fit without the rest. */
function isEnough({ scope, settled }: PassPlan): boolean {
  const isWhole = !scope.isOfEdits || settled.excluded.size === 0;
  return isWhole && (scope.skipped.size === 0 || settled.inconsistent.length === 0);
}

/** The edits of a question that was too large, when there is no plan. */
function sentInQuestion(decided: DecidedIn | undefined, { kind }: EngineProblem): readonly Decision[] {
  return kind === 'tooLarge' && decided ? decided.decided.decisions.filter(isWrite) : [];
}

/** The most changes of a write: halved after each refusal, doubled after each success. */
class Parts {
  most: number | undefined;
  #left = MOST_PARTS;

  get mayGoOn(): boolean {
    return this.#left > 0;
  }

  /** Counts a refusal. `sent`: the number of changes that were refused together, where the engine names none of them. */
  shrink(sent: number | undefined): void {
    this.#left--;
    if (sent !== undefined) this.most = sent >> 1;
  }

  grow(): void {
    this.#left--;
    if (this.most !== undefined) this.most *= 2;
  }
}

async function apply(
  { engine, clock }: Pick<Ports, 'engine' | 'clock'>,
  all: CrSnapshot,
  made: PassPlan,
  mustFit: boolean,
  expected: Verdicts,
): Promise<Attempt> {
  const { reading, settled, entries, reservations } = made;
  const { manager } = made.scope.ledger;
  await prepareManifests(made.scope.snapshot.resources, () => clock.sleep(0));
  const [notes, ...more] = notesIn(all, made, expected);
  const patch = ledgerPatch(entries, reservations, manager);
  if (settled.applied.length === 0 && !patch) {
    const { metadata: document, resourceVersion: version } = reading;
    const resourceVersion = await writeNotes(engine, { document, version, manager }, notes, ...more);
    return done(made, expected, { ...reading, resourceVersion }, false);
  }
  const { document } = settled;
  const written = await engine.write({
    edits: editsOf(settled.applied),
    document,
    ledger: { ...(patch ?? { manager, objects: {} }), ...changedNotes(notes) },
    expectedVersion: reading.resourceVersion,
    mustFit,
  });
  const { resourceVersion: version } = written;
  const resourceVersion = await writeNotes(engine, { document, version, manager }, ...more);
  return done(made, expected, { ...written, resourceVersion }, true);
}

/** Returns what changes in the notes if the plan is applied, in parts of which each fits one write. `all`: the resources of every scope. */
function notesIn(
  all: CrSnapshot,
  made: PassPlan,
  verdicts: Verdicts,
): readonly [NotesPatch, ...NotesPatch[]] {
  const [first, ...others] = manifestParts(changedManifests(all, made, verdicts));
  const unserved = unservedIn(made, verdicts);
  return [{ unserved, manifests: first }, ...others.map((manifests) => ({ manifests }))];
}

/** Returns what changes in the stored reasons for which resources are not served, if the plan is applied. */
function unservedIn({ scope, reading }: PassPlan, verdicts: Verdicts): UnservedPatch {
  const { snapshot, ledger } = scope;
  const outcomes = snapshot.resources.map(
    (cr) => [crName(cr), verdicts.get(cr.metadata.uid)!.outcome] as const,
  );
  // What is out of scope is served, so an entry without an outcome is over in an incremental pass, too.
  const isWhole = snapshot.isComplete && snapshot.lost === undefined;
  const about = { manager: ledger.manager, at: snapshot.at, isWhole, isReported: isOutage };
  return unservedChanges(new Map(outcomes), reading.unserved ?? new Map(), about);
}

/** `expected` are the verdicts if the engine reports what the plan expects: with thousands of resources they are worth keeping. */
function done(
  made: PassPlan,
  expected: Verdicts,
  {
    resourceVersion,
    inconsistent,
    distributions,
  }: Pick<EngineReading, 'resourceVersion' | 'inconsistent' | 'distributions'>,
  wasWritten: boolean,
): Attempt {
  const foreseen = made.settled.inconsistent;
  const isAsExpected = inconsistent === foreseen || inconsistent.length + foreseen.length === 0;
  const verdicts = isAsExpected ? expected : verdictsOf(made, inconsistent);
  return {
    ...NOTHING_BEFORE,
    plan: made,
    verdicts,
    resourceVersion,
    inconsistent,
    distributions,
    wasWritten,
  };
}

/** Returns the report of a pass without an answer of the engine. It has one outcome for all resources. */
function failed(snapshot: CrSnapshot, problem: EngineProblem): Attempt {
  const outcome = outcomeOf(problem);
  const verdict = { outcome, wasWritten: false, failing: [] };
  const verdicts = new Map(snapshot.resources.map((cr) => [cr.metadata.uid, verdict]));
  return { ...NOTHING_BEFORE, verdicts, inconsistent: [], wasWritten: false, problem };
}
