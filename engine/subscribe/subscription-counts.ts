/** Counts the running subscriptions of a connection, a session and a role. Raises `subscriptionLimitExceeded` beyond the limits.
 *  A session is identified by its role and variables, or by the address of a client without variables. Administrators are limited
 *  per connection only. Each process counts its own subscriptions. */
import { fail } from '../errors/engine-error.ts';
import { ADMIN_ROLE, type Session } from '../resolve/session.ts';

export type SubscriptionLimits = {
  readonly mostPerConnection: number;
  readonly mostPerSession: number;
  readonly mostPerRole: number;
};

export type Subscriber = {
  readonly session: Session;
  /** The object that identifies the connection. */
  readonly connection: object;
  readonly address: string | undefined;
};

type Limit = { readonly key: object | string; readonly of: string; readonly most: number };

export class SubscriptionCounts {
  readonly #limits: SubscriptionLimits;
  /** Counts of subscriptions, by connection, and by text for sessions and roles. */
  readonly #counts = new Map<object | string, number>();

  constructor(limits: SubscriptionLimits) {
    this.#limits = limits;
  }

  /** Counts a subscription. The returned function ends it. */
  enter(subscriber: Subscriber): () => void {
    const limits = this.#limitsOf(subscriber);
    for (const { key, of, most } of limits) {
      if ((this.#counts.get(key) ?? 0) >= most) fail('subscriptionLimitExceeded', { most, of });
    }
    for (const { key } of limits) this.#add(key, 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      for (const { key } of limits) this.#add(key, -1);
    };
  }

  #limitsOf({ session: { role, variables }, connection, address }: Subscriber): readonly Limit[] {
    const { mostPerConnection, mostPerSession, mostPerRole } = this.#limits;
    const ofConnection = { key: connection, of: 'connection', most: mostPerConnection };
    if (role === ADMIN_ROLE) return [ofConnection];
    const isAnybody = Object.keys(variables).length <= 1;
    const session = JSON.stringify([role, variables, isAnybody ? (address ?? null) : null]);
    return [
      ofConnection,
      { key: `session ${session}`, of: 'session', most: mostPerSession },
      { key: `role ${role}`, of: 'role', most: mostPerRole },
    ];
  }

  #add(key: object | string, difference: number): void {
    const count = (this.#counts.get(key) ?? 0) + difference;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }
}
