/** How many webhooks are called at the same time, and by whom: a limit for all deliveries, one for each trigger, and one for each
 *  webhook host. A webhook that hangs fills its own share and no more. The last quarter of the total is reserved for hosts
 *  without a delivery under way, so several hanging hosts do not keep the others waiting either.
 *  Not here: taking events from a database (worker.ts, event-log.ts, scheduled-log.ts). */

import { fillTemplate } from '../metadata/variables.ts';
import { InterruptedTurns } from '../webhook/interrupted-turns.ts';
import { type OutboundVariables, WebhookFailure } from '../webhook/outbound.ts';

type SlotLimits = {
  readonly total: number;
  readonly perTrigger: number;
  readonly perHost: number;
};

/** The trigger and the host that a delivery counts towards. */
export type DeliveryLane = { readonly trigger: string; readonly host: string };

export class DeliverySlots {
  readonly #limits: SlotLimits;
  readonly #triggers = new Map<string, number>();
  readonly #hosts = new Map<string, number>();
  #running = 0;
  readonly #turns = new InterruptedTurns();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#running;
  }

  /** The number of deliveries that may begin before the total is reached. */
  get free(): number {
    return this.#limits.total - this.#running;
  }

  /** The number of deliveries in progress by trigger. */
  get triggers(): ReadonlyMap<string, number> {
    return this.#triggers;
  }

  /** The number of triggers that have reached their limit. */
  get fullTriggers(): number {
    return [...this.#triggers.values()].filter((count) => count >= this.#limits.perTrigger).length;
  }

  /** Returns the number of deliveries of the lane that may begin now. */
  freeFor({ trigger, host }: DeliveryLane): number {
    const { perTrigger } = this.#limits;
    const share = Math.min(perTrigger - (this.#triggers.get(trigger) ?? 0), this.freeForHost(host));
    return Math.max(0, share);
  }

  /** Returns the number of deliveries to the host that may begin now. */
  freeForHost(host: string): number {
    const { total, perHost } = this.#limits;
    const busy = this.#hosts.get(host) ?? 0;
    const open = total - Math.floor(total / 4) - this.#running;
    const reserved = busy === 0 ? Math.min(1, this.free) : 0;
    return Math.max(0, Math.min(perHost - busy, Math.max(open, reserved)));
  }

  /** True when an interrupted event may be taken. */
  get mayTakeInterrupted(): boolean {
    return this.#turns.mayBegin(this.#running);
  }

  /** True while no other delivery may begin, because an interrupted event is delivered alone. */
  get isReserved(): boolean {
    return this.#turns.isReserved;
  }

  /** Takes a slot. Returns false and counts nothing if none is free. */
  begin(lane: DeliveryLane, isInterrupted = false): boolean {
    if (this.freeFor(lane) <= 0 || this.isReserved) return false;
    if (isInterrupted && !this.#turns.begin()) return false;
    this.#count(lane, 1);
    return true;
  }

  end(lane: DeliveryLane, isInterrupted = false): void {
    if (isInterrupted) this.#turns.end();
    this.#count(lane, -1);
  }

  #count({ trigger, host }: DeliveryLane, by: 1 | -1): void {
    this.#running += by;
    add(this.#triggers, trigger, by);
    add(this.#hosts, host, by);
  }
}

/** Returns the limits. 0 for a limit means its default: a quarter of the total for a trigger, half of it for a host. */
export function slotLimits(total: number, perTrigger: number, perHost: number): SlotLimits {
  return {
    total,
    perTrigger: Math.min(total, perTrigger || Math.ceil(total / 4)),
    perHost: Math.min(total, perHost || Math.ceil(total / 2)),
  };
}

/** Returns the host and port of a webhook's URL; the URL as the metadata has it if it is invalid. */
export function hostOf(url: string, variables: OutboundVariables): string {
  try {
    return URL.parse(fillTemplate(url, variables))?.host ?? url;
  } catch (error) {
    if (!(error instanceof WebhookFailure)) throw error;
    return url;
  }
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
