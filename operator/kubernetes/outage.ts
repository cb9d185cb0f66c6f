/** Limits status writes while an engine does not answer or rejects the admin secret, and while many resources wait for a database or a
 *  remote schema. The Engine, the Source or the RemoteSchema reports it at once; the other resources follow after a grace period, at a
 *  limited rate: a service that restarts is no event of thousands of resources.
 *  In: changed statuses. Out: those to write now. Not here: writing (status-sink.ts), Events (status/transitions.ts). */
import type { CrStatus, CustomResource } from '../kinds.ts';
import type { StatusChange } from '../ports.ts';
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
  readonly #options: OutageOptions;
  /** The time of the first attempt to write that a resource is affected, by uid. */
  #since: ReadonlyMap<string, number> = new Map();
  /** The time until which the allowed writes have been used. */
  #spentUntil = 0;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** Returns the changed statuses to write now. Statuses that are not about an outage are all written. */
  due(changes: readonly StatusChange[], nowMs: number): DueChanges {
    const { graceMs } = this.#options;
    const outages = changes.filter(isAboutOutage);
    if (this.#since.size === 0) this.#spentUntil = nowMs + graceMs;
    this.#since = new Map(outages.map(({ cr }) => [cr.metadata.uid, this.#sinceOf(cr, nowMs)]));
    if (outages.length === 0) return { due: changes, held: 0 };
    const atOnce = new Set([...few(outages.filter(isFresh)), ...few(outages.filter(isOfService))]);
    const late = outages.filter((change) => !atOnce.has(change) && isNews(change));
    const ripe = late.filter(({ cr }) => this.#since.get(cr.metadata.uid)! + graceMs <= nowMs);
    const written = this.#withinBudget(ripe, nowMs);
    const isDue = (change: StatusChange) =>
      !isAboutOutage(change) || atOnce.has(change) || written.has(change);
    return { due: changes.filter(isDue), held: late.length - written.size };
  }

  /** Returns the time since which the resource is held back; none when its status already says so. */
  #sinceOf({ metadata, status }: CustomResource, nowMs: number): number {
    const isReported = status?.conditions !== undefined && isOutage(readyReasonOf(status));
    return isReported ? Number.NEGATIVE_INFINITY : (this.#since.get(metadata.uid) ?? nowMs);
  }

  #withinBudget(changes: readonly StatusChange[], nowMs: number): ReadonlySet<StatusChange> {
    const { writesPerSecond } = this.#options;
    this.#spentUntil = Math.max(this.#spentUntil, nowMs - MOST_SAVED_MS);
    const room = Math.max(0, Math.floor(((nowMs - this.#spentUntil) / 1000) * writesPerSecond));
    const written = new Set(changes.slice(0, room));
    if (written.size > 0) this.#spentUntil += (written.size / writesPerSecond) * 1000;
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
