/** Limits status writes while an engine does not answer or rejects the admin secret, and while many resources wait for a database or a
 *  remote schema. The Engine, the Source or the RemoteSchema reports it at once; the other resources follow after a grace period, at a
 *  limited rate: a service that restarts is no event of thousands of resources. After an outage, the resources that reported it become
 *  Ready again at the same rate.
 *  In: changed statuses. Out: those to write now. Not here: writing (status-queue.ts), Events (status/transitions.ts). */
import type { CrStatus, CustomResource } from '../kinds.ts';
import type { StatusChange } from '../ports/statuses.ts';
import { isOutage, isOutageOfOther, readyReasonOf } from '../status/conditions.ts';

export type OutageOptions = {
  readonly graceMs: number;
  readonly writesPerSecond: number;
};

/** The changes to write now, and the number of those that must be written later. */
export type DueChanges = { readonly due: readonly StatusChange[]; readonly held: number };

/** The most statuses about an outage that are written at once: of resources without a verdict, and of those that wait for a database or
 *  a remote schema. */
const MOST_AT_ONCE = 100;
/** The longest time for which unused writes accumulate. */
const MOST_SAVED_MS = 30_000;

export class Outage {
  readonly #graceMs: number;
  readonly #reports: WriteBudget;
  readonly #recoveries: WriteBudget;
  /** The time of the first attempt to write that a resource is affected, by uid. */
  #since: ReadonlyMap<string, number> = new Map();

  constructor({ graceMs, writesPerSecond }: OutageOptions) {
    this.#graceMs = graceMs;
    this.#reports = new WriteBudget(writesPerSecond);
    // Without reports there is no outage to recover from, except one that an operator with another rate reported.
    this.#recoveries = new WriteBudget(writesPerSecond === 0 ? Number.POSITIVE_INFINITY : writesPerSecond);
  }

  /** Returns the changed statuses to write now. Statuses that are neither about an outage nor about its end are all written. */
  due(changes: readonly StatusChange[], nowMs: number): DueChanges {
    const reports = this.#dueReports(changes.filter(isAboutOutage), nowMs);
    const recoveries = this.#dueRecoveries(changes.filter(isRecovery), nowMs);
    const written = new Set([...reports.due, ...recoveries.due]);
    const isLimited = (change: StatusChange) => isAboutOutage(change) || isRecovery(change);
    const due = changes.filter((change) => !isLimited(change) || written.has(change));
    return { due, held: reports.held + recoveries.held };
  }

  #dueReports(outages: readonly StatusChange[], nowMs: number): DueChanges {
    if (this.#since.size === 0) this.#reports.startAt(nowMs + this.#graceMs);
    this.#since = new Map(outages.map(({ cr }) => [cr.metadata.uid, this.#sinceOf(cr, nowMs)]));
    const atOnce = new Set([...few(outages.filter(isFresh)), ...few(outages.filter(isOfService))]);
    const late = outages.filter((change) => !atOnce.has(change) && isNews(change));
    const ripe = late.filter(({ cr }) => this.#since.get(cr.metadata.uid)! + this.#graceMs <= nowMs);
    const written = this.#reports.take(ripe, nowMs);
    return { due: [...atOnce, ...written], held: late.length - written.length };
  }

  #dueRecoveries(recoveries: readonly StatusChange[], nowMs: number): DueChanges {
    const written = this.#recoveries.take(recoveries, nowMs);
    return { due: written, held: recoveries.length - written.length };
  }

  /** Returns the time since which the resource is held back; none when its status already says so. */
  #sinceOf({ metadata, status }: CustomResource, nowMs: number): number {
    const isReported = status?.conditions !== undefined && isOutage(readyReasonOf(status));
    return isReported ? Number.NEGATIVE_INFINITY : (this.#since.get(metadata.uid) ?? nowMs);
  }
}

/** The writes that a rate allows. Unused ones accumulate for a while. */
class WriteBudget {
  readonly #perSecond: number;
  /** The time until which the allowed writes have been used. */
  #spentUntil = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Allows no write before the time. */
  startAt(ms: number): void {
    this.#spentUntil = ms;
  }

  /** Returns the changes that may be written now. */
  take(changes: readonly StatusChange[], nowMs: number): readonly StatusChange[] {
    this.#spentUntil = Math.max(this.#spentUntil, nowMs - MOST_SAVED_MS);
    const room = Math.max(0, Math.floor(((nowMs - this.#spentUntil) / 1000) * this.#perSecond));
    const written = changes.slice(0, room);
    if (written.length > 0) this.#spentUntil += (written.length / this.#perSecond) * 1000;
    return written;
  }
}

/** Returns the changes if they are few. */
function few(changes: readonly StatusChange[]): readonly StatusChange[] {
  return changes.length <= MOST_AT_ONCE ? changes : [];
}

/** True when the status says that something else than the resource does not answer. */
function isAboutOutage({ cr, status }: StatusChange): boolean {
  return isOutageOfOther(cr.kind, readyReasonOf(status));
}

/** True when the resource, which has not been edited, is Ready again after it reported an outage. */
function isRecovery(change: StatusChange): boolean {
  const { cr, status } = change;
  const wasOut = cr.status?.conditions !== undefined && isOutageOfOther(cr.kind, readyReasonOf(cr.status));
  return wasOut && !isFresh(change) && readyReasonOf(status) === 'Applied';
}

/** True when the resource waits for a database or a remote schema, while the engine answers. */
function isOfService({ status }: StatusChange): boolean {
  const reason = readyReasonOf(status);
  return reason === 'SourceUnavailable' || reason === 'RemoteUnavailable';
}

/** True when no earlier status is about the current generation. */
function isFresh({ cr }: StatusChange): boolean {
  return cr.status?.observedGeneration !== cr.metadata.generation;
}

/** True when more than messages differ: the message of a network error varies. */
function isNews({ cr, status }: StatusChange): boolean {
  const shape = ({ conditions }: Pick<CrStatus, 'conditions'>) =>
    conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`).join();
  return cr.status?.conditions === undefined || shape(cr.status) !== shape(status);
}
