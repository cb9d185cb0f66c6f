/** Writes Events of resources, as `kubectl describe` shows them: one for each transition of a written status, `regarding` the resource,
 *  `related` to its Engine. Repetitions within minutes are counted in a series. The rate per resource is limited, and that of normal Events
 *  also over all resources.
 *  Events are informative: they are written beside the passes, never waited for, and lost when the write fails.
 *  Source: Kubernetes API reference, Event events.k8s.io/v1. Not here: the transitions (status/transitions.ts). */
import { API_GROUP, type CrStatus, type CustomResource, GROUP_VERSION, purposeOf } from '../kinds.ts';
import { type Transition, transitionsOf } from '../status/transitions.ts';
import type { Timers } from './timers.ts';
import { ApiProblem, hasStatus, type Transport } from './transport.ts';

export type EventsOptions = {
  readonly transport: Transport;
  readonly timers: Timers;
  readonly now: () => Date;
  /** The replica that reports the Event. */
  readonly identity: string;
  /** Returns the key of the Engine of a resource. The name in it is empty when the resource has none. */
  readonly engineOf: (cr: CustomResource) => string;
  readonly onResult: (result: EventResult) => void;
  readonly onProblem: (error: Error) => void;
};

/** The result of an Event. `counted` means added to the series of an earlier one. */
export type EventResult = 'written' | 'counted' | 'dropped' | 'failed';

type Series = { readonly path: string; readonly since: number; count: number };

/** The remaining Events of a resource and its recent series, or the remaining normal Events of all resources. */
type EventBudget = { tokens: number; at: number; series?: Map<string, Series> };

type PendingEvent = {
  readonly cr: CustomResource;
  readonly transition: Transition;
  readonly budget: EventBudget;
};

/** The most Events of one resource at once. Another one is allowed each minute. */
const MOST_AT_ONCE = 10;
const ONE_MORE_MS = 60_000;
/** The most normal Events of all resources at once. Another one is allowed each second. Without the limit, the first sync of thousands of
 *  resources would write one for each fifth of them, at half the cost of a status, and nobody would read them. */
const MOST_NORMAL_AT_ONCE = 100;
const ONE_MORE_NORMAL_MS = 1000;
/** The duration of a series. A later occurrence is a new Event. */
const SERIES_MS = 360_000;
/** The most waiting Events. Users would not read more, and passes need the API server. */
const MOST_WAITING = 1000;
const IN_FLIGHT = 2;
const MOST_BUDGETS = 2000;
/** The timeout of a write, and the longest delay of `stop`. */
const TIMEOUT_MS = 5000;
/** The limits of the API server for notes, and for names before the unique suffix. */
const MOST_NOTE_BYTES = 1024;
const MOST_NAME_CHARACTERS = 200;

export class Events {
  readonly #options: EventsOptions;
  readonly #budgets = new Map<string, EventBudget>();
  readonly #waiting: PendingEvent[] = [];
  #normal: EventBudget | undefined;
  readonly #lanes = new Set<Promise<void>>();
  #made = 0;
  #isStopped = false;

  constructor(options: EventsOptions) {
    this.#options = options;
  }

  /** Records the transitions from the status of the resource to `status`, which was written. `corrected` is the drift that was undone. */
  record(cr: CustomResource, status: CrStatus, corrected?: string): void {
    if (this.#isStopped) return;
    const options = { kind: cr.kind, corrected };
    for (const transition of transitionsOf(cr.status, status, options)) {
      const budget = this.#waiting.length < MOST_WAITING ? this.#budgetOf(cr.metadata.uid) : undefined;
      const shared = transition.type === 'Normal' ? this.#normalBudget() : undefined;
      if (!budget || budget.tokens < 1 || (shared && shared.tokens < 1)) {
        this.#options.onResult('dropped');
        continue;
      }
      budget.tokens -= 1;
      if (shared) shared.tokens -= 1;
      this.#waiting.push({ cr, transition, budget });
      this.#pump();
    }
  }

  /** Resolves once all waiting Events are written. */
  async settled(): Promise<void> {
    while (this.#lanes.size > 0) await Promise.all(this.#lanes);
  }

  /** Drops waiting Events. Resolves once running writes have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.settled();
  }

  #pump(): void {
    if (this.#lanes.size >= IN_FLIGHT) return;
    const lane = this.#drain().finally(() => this.#lanes.delete(lane));
    this.#lanes.add(lane);
  }

  async #drain(): Promise<void> {
    const { onResult, onProblem } = this.#options;
    for (let next = this.#waiting.shift(); next && !this.#isStopped; next = this.#waiting.shift()) {
      try {
        onResult(await this.#write(next));
      } catch (error) {
        onResult('failed');
        if (!isMoot(error)) onProblem(error as Error);
      }
    }
  }

  async #write(pending: PendingEvent): Promise<EventResult> {
    const { transition, budget } = pending;
    const key = `${transition.type} ${transition.reason} ${transition.note}`;
    const existing = budget.series?.get(key);
    const now = this.#options.timers.nowMs();
    if (existing && now - existing.since < SERIES_MS && (await this.#count(existing))) return 'counted';
    const path = await this.#create(pending);
    budget.series ??= new Map();
    budget.series.set(key, { path, since: now, count: 1 });
    return 'written';
  }

  /** Adds one to the series. False when the Event no longer exists: the API server keeps Events for an hour or less. */
  async #count(series: Series): Promise<boolean> {
    const { transport, now } = this.#options;
    series.count += 1;
    const body = { series: { count: series.count, lastObservedTime: microTime(now()) } };
    const contentType = 'application/merge-patch+json';
    try {
      await transport.send({ method: 'PATCH', path: series.path, body, contentType, timeoutMs: TIMEOUT_MS });
      return true;
    } catch (error) {
      if (hasStatus(error, 404)) return false;
      throw error;
    }
  }

  async #create({ cr, transition }: PendingEvent): Promise<string> {
    const { transport, now, identity } = this.#options;
    const { namespace } = cr.metadata;
    const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
    const time = now();
    this.#made += 1;
    const name = `${stemOf(cr.metadata.name)}.${time.getTime().toString(16)}${this.#made.toString(16)}`;
    const body = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name, namespace },
      eventTime: microTime(time),
      reportingController: `${API_GROUP}/operator`,
      reportingInstance: identity.slice(0, 128),
      action: 'Reconcile',
      type: transition.type,
      reason: transition.reason,
      note: shortened(transition.note),
      regarding: regardingOf(cr),
      ...(purposeOf(cr) === 'engine' ? {} : relatedTo(this.#options.engineOf(cr))),
    };
    await transport.send({ method: 'POST', path, body, timeoutMs: TIMEOUT_MS });
    return `${path}/${name}`;
  }

  #budgetOf(uid: string): EventBudget {
    const now = this.#options.timers.nowMs();
    const existing = this.#budgets.get(uid);
    if (existing) {
      // Moves the resource to the end, in order of the last Event.
      this.#budgets.delete(uid);
      this.#budgets.set(uid, existing);
      return refilled(existing, { now, most: MOST_AT_ONCE, oneMoreMs: ONE_MORE_MS });
    }
    if (this.#budgets.size >= MOST_BUDGETS) this.#forgetUnused(now);
    const budget: EventBudget = { tokens: MOST_AT_ONCE, at: now };
    this.#budgets.set(uid, budget);
    return budget;
  }

  #normalBudget(): EventBudget {
    const now = this.#options.timers.nowMs();
    this.#normal ??= { tokens: MOST_NORMAL_AT_ONCE, at: now };
    return refilled(this.#normal, { now, most: MOST_NORMAL_AT_ONCE, oneMoreMs: ONE_MORE_NORMAL_MS });
  }

  /** Removes budgets that are full again. */
  #forgetUnused(now: number): void {
    for (const [uid, { at }] of this.#budgets) {
      if (now - at <= MOST_AT_ONCE * ONE_MORE_MS) return;
      this.#budgets.delete(uid);
    }
  }
}

/** Adds the Events that are allowed since the last one, and returns the budget. */
function refilled(
  budget: EventBudget,
  { now, most, oneMoreMs }: { readonly now: number; readonly most: number; readonly oneMoreMs: number },
): EventBudget {
  budget.tokens = Math.min(most, budget.tokens + (now - budget.at) / oneMoreMs);
  budget.at = now;
  return budget;
}

function regardingOf({ apiVersion, kind, metadata: { name, namespace, uid } }: CustomResource): object {
  return { apiVersion, kind, namespace, name, uid };
}

function relatedTo(engine: string): { readonly related?: object } {
  const [namespace, name] = engine.split('/');
  return name === '' ? {} : { related: { apiVersion: GROUP_VERSION, kind: 'Engine', namespace, name } };
}

/** The part of a resource's name that its Events' names begin with. */
function stemOf(name: string): string {
  return name.slice(0, MOST_NAME_CHARACTERS).replace(/[^a-z0-9]+$/, '');
}

function shortened(note: string): string {
  const bytes = new TextEncoder().encode(note);
  if (bytes.length <= MOST_NOTE_BYTES) return note;
  // A character that was cut in two is dropped.
  const text = new TextDecoder().decode(bytes.subarray(0, MOST_NOTE_BYTES - 6)).replace(/\uFFFD+$/, '');
  return `${text}…`;
}

/** Returns the time with exactly six digits after the second, as the API server requires. */
function microTime(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}

/** True when the failure needs no report: the namespace is being deleted, or the Event was sent twice and exists (409). */
function isMoot(error: unknown): boolean {
  if (!(error instanceof ApiProblem)) return false;
  return error.status === 404 || error.status === 409 || error.causes.includes('NamespaceTerminating');
}
