/** Events of resources, as `kubectl describe` shows them: one for each transition of a status that was written, `regarding` the resource,
 *  `related` to its Engine. The same one again within minutes is counted in its series; who has many is told of some.
 *  They are for people: written beside the passes, never waited for, and one that cannot be written is lost.
 *  Source: Kubernetes API reference, Event events.k8s.io/v1. Not here: what is a transition (status/transitions.ts). */
import { API_GROUP, type CrStatus, type CustomResource, GROUP_VERSION } from '../kinds.ts';
import { type Transition, transitionsOf } from '../status/transitions.ts';
import { engineKeyOf } from './cluster.ts';
import type { Timers } from './timers.ts';
import { ApiProblem, type Transport } from './transport.ts';

export type EventsOptions = {
  readonly transport: Transport;
  readonly timers: Timers;
  readonly now: () => Date;
  /** Which replica tells it. */
  readonly identity: string;
  readonly onResult: (result: EventResult) => void;
  readonly onProblem: (error: Error) => void;
};

/** `counted`: in the series of one that was written before. */
export type EventResult = 'written' | 'counted' | 'dropped' | 'failed';

type Series = { readonly path: string; readonly since: number; count: number };

/** What a resource may still say, and what it said of late. */
type EventBudget = { tokens: number; at: number; readonly series: Map<string, Series> };

type PendingEvent = {
  readonly cr: CustomResource;
  readonly transition: Transition;
  readonly budget: EventBudget;
};

/** Of one resource: so many at once, and one more each minute. */
const MOST_AT_ONCE = 10;
const ONE_MORE_MS = 60_000;
/** What comes later is a new Event. */
const SERIES_MS = 360_000;
/** Waiting: beyond it people would not read them, and passes need the API server more. */
const MOST_WAITING = { Normal: 500, Warning: 1000 } as const;
const IN_FLIGHT = 2;
const MOST_BUDGETS = 2000;
/** So long at most whoever stops waits for it. */
const TIMEOUT_MS = 5000;
/** Of a note, by the API server; a name has room for what makes it unique. */
const MOST_NOTE_BYTES = 1024;
const MOST_NAME_CHARACTERS = 200;

export class Events {
  readonly #options: EventsOptions;
  readonly #budgets = new Map<string, EventBudget>();
  readonly #waiting: PendingEvent[] = [];
  readonly #lanes = new Set<Promise<void>>();
  #made = 0;
  #isStopped = false;

  constructor(options: EventsOptions) {
    this.#options = options;
  }

  /** `status` was written in place of the one the resource has. */
  record(cr: CustomResource, status: CrStatus): void {
    if (this.#isStopped) return;
    for (const transition of transitionsOf(cr.status, status, { includesOutages: cr.kind === 'Engine' })) {
      const budget = this.#budgetOf(cr.metadata.uid);
      if (budget.tokens < 1 || this.#waiting.length >= MOST_WAITING[transition.type]) {
        this.#options.onResult('dropped');
        continue;
      }
      budget.tokens -= 1;
      this.#waiting.push({ cr, transition, budget });
      this.#pump();
    }
  }

  /** Resolves once all that waits is written. */
  async settled(): Promise<void> {
    while (this.#lanes.size > 0) await Promise.all(this.#lanes);
  }

  /** What waits is lost; resolves once what is under way has ended. */
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
    const known = budget.series.get(key);
    const now = this.#options.timers.nowMs();
    if (known && now - known.since < SERIES_MS && (await this.#count(known))) return 'counted';
    const path = await this.#create(pending);
    budget.series.set(key, { path, since: now, count: 1 });
    return 'written';
  }

  /** False: the API server keeps Events for an hour, or less. */
  async #count(series: Series): Promise<boolean> {
    const { transport, now } = this.#options;
    series.count += 1;
    const body = { series: { count: series.count, lastObservedTime: microTime(now()) } };
    const contentType = 'application/merge-patch+json';
    try {
      await transport.send({ method: 'PATCH', path: series.path, body, contentType, timeoutMs: TIMEOUT_MS });
      return true;
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 404) return false;
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
      ...(cr.kind === 'Engine' ? {} : { related: engineOf(cr) }),
    };
    await transport.send({ method: 'POST', path, body, timeoutMs: TIMEOUT_MS });
    return `${path}/${name}`;
  }

  #budgetOf(uid: string): EventBudget {
    const now = this.#options.timers.nowMs();
    const known = this.#budgets.get(uid);
    if (known) {
      // Who has spoken last is last.
      this.#budgets.delete(uid);
      this.#budgets.set(uid, known);
      known.tokens = Math.min(MOST_AT_ONCE, known.tokens + (now - known.at) / ONE_MORE_MS);
      known.at = now;
      return known;
    }
    if (this.#budgets.size >= MOST_BUDGETS) this.#forgetUnused(now);
    const budget = { tokens: MOST_AT_ONCE, at: now, series: new Map() };
    this.#budgets.set(uid, budget);
    return budget;
  }

  /** Who has been silent for so long may say everything again. */
  #forgetUnused(now: number): void {
    for (const [uid, { at }] of this.#budgets) {
      if (now - at <= MOST_AT_ONCE * ONE_MORE_MS) return;
      this.#budgets.delete(uid);
    }
  }
}

function regardingOf({ apiVersion, kind, metadata: { name, namespace, uid } }: CustomResource): object {
  return { apiVersion, kind, namespace, name, uid };
}

function engineOf(cr: CustomResource): object {
  const [namespace, name] = engineKeyOf(cr).split('/');
  return { apiVersion: GROUP_VERSION, kind: 'Engine', namespace, name };
}

/** The part of a resource's name that its Events' names begin with. */
function stemOf(name: string): string {
  return name.slice(0, MOST_NAME_CHARACTERS).replace(/[^a-z0-9]+$/, '');
}

function shortened(note: string): string {
  const bytes = new TextEncoder().encode(note);
  if (bytes.length <= MOST_NOTE_BYTES) return note;
  // A character that was cut in two is left out.
  const text = new TextDecoder().decode(bytes.subarray(0, MOST_NOTE_BYTES - 6)).replace(/\uFFFD+$/, '');
  return `${text}…`;
}

/** As the API server reads it: exactly six digits after the second. */
function microTime(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}

/** With its namespace; or, 409, it was sent twice and is there. */
function isMoot(error: unknown): boolean {
  if (!(error instanceof ApiProblem)) return false;
  return error.status === 404 || error.status === 409 || error.message.includes('being terminated');
}
