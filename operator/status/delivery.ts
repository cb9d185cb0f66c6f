/** Whether the webhook of a resource that declares one call was called: the condition `Delivered`, and when to check it again. A
 *  delivery that has ended is not checked again until the resource changes.
 *  Pure. Not here: asking the engine (engine/client.ts), the other conditions (conditions.ts). */
import { type CustomResource, type DeclaredCall, kindOf } from '../kinds.ts';
import type { Delivery, DeliveryRecord } from '../ports/delivery.ts';
import { conditionOf } from './conditions.ts';

/** The time between the scheduled time and the first check. */
const CALL_MS = 2000;
/** The interval of checks of a call that is late or has failed. */
const LATE_MS = 10_000;

/** Returns the call of the resource, unless its delivery has ended. */
export function awaitedCall(cr: CustomResource): DeclaredCall | undefined {
  const call = kindOf(cr.kind)?.delivery?.(cr.spec);
  if (!call) return undefined;
  const known = conditionOf(cr, 'Delivered');
  const isOver = known?.observedGeneration === cr.metadata.generation && known.reason !== 'Scheduled';
  return isOver ? undefined : call;
}

/** Returns the state of the delivery; `found` is what the engine has of it. A record that is gone after the delivery has ended was
 *  cleaned up. */
export function deliveryOf(
  cr: CustomResource,
  { time }: DeclaredCall,
  found: DeliveryRecord | undefined,
  now: Date,
): Delivery {
  const isDue = time.getTime() <= now.getTime();
  if (!found && isDue) return endedBefore(cr) ?? CANCELLED;
  const tries = found?.tries ?? 0;
  switch (found?.status) {
    case 'delivered':
      return { reason: 'Delivered', message: `the webhook was called and accepted attempt ${tries}` };
    case 'error':
      return {
        reason: 'DeliveryFailed',
        message: `the webhook failed ${tries} times and is not called again`,
      };
    case 'dead':
      return {
        reason: 'DeliveryMissed',
        message:
          'the webhook was not called within toleranceSeconds of scheduledAt and is not called any more',
      };
    default: {
      const failed = tries === 0 ? '' : `; it failed ${tries} times and is called again`;
      const after = isDue ? now.getTime() + LATE_MS : time.getTime() + CALL_MS;
      return {
        reason: 'Scheduled',
        message: `the webhook is called at ${time.toISOString()}${failed}`,
        checkAt: new Date(after),
      };
    }
  }
}

const CANCELLED: Delivery = {
  reason: 'DeliveryCancelled',
  message:
    'the event was deleted in the engine before it was delivered; change scheduledAt to schedule it again',
};

function endedBefore(cr: CustomResource): Delivery | undefined {
  const known = conditionOf(cr, 'Delivered');
  if (!known || known.reason === 'Scheduled') return undefined;
  return { reason: known.reason as Delivery['reason'], message: known.message };
}
