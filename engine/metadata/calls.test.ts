/** Tests the requests that objects cause, as the marks of their schemas have them. */
import { expect, test } from 'vitest';
import { callsOf } from './calls.ts';

test('the address of a webhook is a template, or the name of what has it', () => {
  const definition = {
    name: 'x',
    definition: {},
    webhook: 'https://{{HOST}}/x',
    headers: [{ name: 'a', value: '{{KEY}}' }],
  };
  expect(callsOf('event_trigger', definition).urls).toEqual([
    { form: 'template', text: 'https://{{HOST}}/x', references: ['HOST'] },
  ]);
  expect(callsOf('cron_trigger', { webhook: { from_value: 'hook' } }).urls).toEqual([
    { form: 'value', text: 'hook', references: ['value:hook'] },
  ]);
});

test('an action calls its handler or what its transform says, and may send the headers of clients', () => {
  const calls = callsOf('action', {
    name: 'x',
    definition: {
      ...{ handler: 'http://a', output_type: 'X', forward_client_headers: true },
      request_transform: { url: '{{$base_url}}/x' },
    },
  });
  expect(calls).toMatchObject({ transformedUrls: ['{{$base_url}}/x'], sendsClientHeaders: true });
  expect(callsOf('action', { definition: { handler: 'http://a' } }).sendsClientHeaders).toBe(false);
});
