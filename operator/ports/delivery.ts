/** The delivery of a call that a resource declares.
 *  Not here: the call itself (kinds.ts). */
import type { Reason } from '../kinds.ts';

/** The record of a declared call in the engine. */
export type DeliveryRecord = {
  readonly status: 'scheduled' | 'locked' | 'delivered' | 'error' | 'dead';
  /** The number of attempts. */
  readonly tries: number;
};

/** The state of the delivery of a declared call. */
export type Delivery = {
  readonly reason: Extract<
    Reason,
    'Scheduled' | 'Delivered' | 'DeliveryFailed' | 'DeliveryMissed' | 'DeliveryCancelled'
  >;
  readonly message: string;
  /** The time after which the state may have changed. Absent once the delivery has ended. */
  readonly checkAt?: Date;
};
