/** How many subscriptions run: of a connection, of a session, of a role. Raises `subscriptionLimitExceeded` beyond the limits.
 *  A session is its role and variables; clients without variables are told apart by their address. The administrator's are limited
 *  by connection only. Counts are this process's own. */
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

type Place = { readonly key: object | string; readonly of: string; readonly most: number };

export class SubscriptionCounts {
  readonly #limits: SubscriptionLimits;
  /** Counts of subscriptions, by connection, and by text for sessions and roles. */
  readonly #counts = new Map<object | string, number>();

  constructor(limits: SubscriptionLimits) {
    this.#limits = limits;
  }

  /** Counts one more. The returned function ends it. */
  enter(subscriber: Subscriber): () => void {
    const places = this.#placesOf(subscriber);
    for (const { key, of, most } of places) {
      if ((this.#counts.get(key) ?? 0) >= most) fail('subscriptionLimitExceeded', { most, of });
    }
    for (const { key } of places) this.#add(key, 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      for (const { key } of places) this.#add(key, -1);
    };
  }

  #placesOf({ session: { role, variables }, connection, address }: Subscriber): readonly Place[] {
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
