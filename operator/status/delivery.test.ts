/** Tests what the condition `Delivered` says of a call that has not ended. */
import { expect, test } from 'vitest';
import { resource } from '../testing/resources.ts';
import { deliveryOf } from './delivery.ts';

const TIME = new Date('2025-06-01T12:00:00Z');
const cr = resource('ScheduledEvent', 'one', {});
const call = { name: 'one', time: TIME };

test('a call that failed says that it is tried again', () => {
  const later = new Date('2025-06-01T12:05:00Z');
  expect(deliveryOf(cr, call, { status: 'scheduled', tries: 2 }, later)).toMatchObject({
    reason: 'Scheduled',
    message: 'the webhook is called at 2025-06-01T12:00:00.000Z; it failed 2 times and is called again',
  });
  expect(deliveryOf(cr, call, { status: 'scheduled', tries: 0 }, TIME)).toMatchObject({
    message: 'the webhook is called at 2025-06-01T12:00:00.000Z',
  });
});
