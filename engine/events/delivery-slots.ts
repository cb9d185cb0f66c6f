/** How many webhooks are called at the same time, and by whom: a limit for all deliveries, one for each trigger, and one for each
 *  webhook host. A webhook that hangs fills its own share and no more. The last quarter of the total is reserved for hosts
 *  without a delivery under way, so several hanging hosts do not keep the others waiting either.
 *  Not here: taking events from a database (worker.ts, event-log.ts, scheduled-log.ts). */

import { fillTemplate } from '../metadata/variables.ts';
import { type OutboundVariables, WebhookFailure } from '../webhook/outbound.ts';

export type SlotLimits = {
  readonly total: number;
  readonly perTrigger: number;
  readonly perHost: number;
};

/** The shares that a delivery counts towards. */
export type DeliveryLane = { readonly trigger: string; readonly host: string };

export class DeliverySlots {
  readonly #limits: SlotLimits;
  readonly #triggers = new Map<string, number>();
  readonly #hosts = new Map<string, number>();
  #running = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#running;
  }

  /** Deliveries that may begin before the total is reached. */
  get free(): number {
    return this.#limits.total - this.#running;
  }

  /** The triggers with deliveries under way, and how many each has. */
  get triggers(): ReadonlyMap<string, number> {
    return this.#triggers;
  }

  /** The triggers that have reached their limit. */
  get fullTriggers(): number {
    return [...this.#triggers.values()].filter((count) => count >= this.#limits.perTrigger).length;
  }

  /** How many deliveries of the lane may begin now. */
  freeFor({ trigger, host }: DeliveryLane): number {
    const { perTrigger } = this.#limits;
    const share = Math.min(perTrigger - (this.#triggers.get(trigger) ?? 0), this.freeForHost(host));
    return Math.max(0, share);
  }

  /** How many deliveries to the host may begin now. */
  freeForHost(host: string): number {
    const { total, perHost } = this.#limits;
    const busy = this.#hosts.get(host) ?? 0;
    const open = total - Math.floor(total / 4) - this.#running;
    const reserved = busy === 0 ? Math.min(1, this.free) : 0;
    return Math.max(0, Math.min(perHost - busy, Math.max(open, reserved)));
  }

  /** False when there is no room for it; then nothing is counted. */
  begin(lane: DeliveryLane): boolean {
    if (this.freeFor(lane) <= 0) return false;
    this.#count(lane, 1);
    return true;
  }

  end(lane: DeliveryLane): void {
    this.#count(lane, -1);
  }

  #count({ trigger, host }: DeliveryLane, by: 1 | -1): void {
    this.#running += by;
    add(this.#triggers, trigger, by);
    add(this.#hosts, host, by);
  }
}

/** `0` for a limit means its default: a quarter of the total for a trigger, a half for a host. */
export function slotLimits(total: number, perTrigger: number, perHost: number): SlotLimits {
  return {
    total,
    perTrigger: Math.min(total, perTrigger || Math.ceil(total / 4)),
    perHost: Math.min(total, perHost || Math.ceil(total / 2)),
  };
}

/** The host and port a webhook's URL leads to; the URL as the metadata has it where it leads nowhere. */
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
