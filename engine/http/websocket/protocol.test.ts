/** Tests the state machine: what follows each message, in both sub-protocols. */
import { expect, test } from 'vitest';
import { PROTOCOLS, readMessage } from './messages.ts';
import { type ConnectionEvent, type Phase, react } from './protocol.ts';

const [NEWER, OLDER] = PROTOCOLS as [(typeof PROTOCOLS)[0], (typeof PROTOCOLS)[0]];

function after(
  protocol: typeof NEWER,
  phase: Phase,
  event: ConnectionEvent,
  running: readonly string[] = [],
) {
  return react({ protocol, phase, isRunning: (id) => running.includes(id) }, event);
}

const INIT: ConnectionEvent = { kind: 'init', headers: { a: 'b' } };
const START: ConnectionEvent = { kind: 'start', id: '1', request: {} };

test.each(PROTOCOLS)('$name: init authenticates, and operations start only after it', (protocol) => {
  expect(after(protocol, 'new', INIT)).toEqual({
    phase: 'authenticating',
    effects: [{ kind: 'authenticate', headers: { a: 'b' } }],
  });
  const { phase, effects } = after(protocol, 'authenticating', { kind: 'authenticated' });
  expect([phase, effects[0]]).toEqual(['ready', { kind: 'send', text: '{"type":"connection_ack"}' }]);
  expect(after(protocol, 'ready', START).effects).toEqual([START]);
});

const CLOSES: readonly [Phase, ConnectionEvent, number][] = [
  ['ready', { kind: 'malformed', reason: 'no' }, 4400],
  ['new', START, 4401],
  ['authenticating', { kind: 'refused', reason: 'no' }, 4400],
  ['new', { kind: 'init timeout' }, 4408],
  ['ready', START, 4409],
  ['ready', INIT, 4429],
  ['authenticating', INIT, 4429],
];

test.each(CLOSES)('graphql-transport-ws: when %s, %o closes with %i', (phase, event, code) => {
  const reaction = after(NEWER, phase, event, ['1']);
  expect(reaction).toEqual({
    phase: 'closed',
    effects: [{ kind: 'close', code, reason: expect.any(String) }],
  });
});

test.each([
  ['new', START],
  ['ready', START],
] as const)('graphql-ws: when %s, %o fails only the operation', (phase, event) => {
  expect(after(OLDER, phase, event, ['1'])).toEqual({
    phase,
    effects: [{ kind: 'fail', id: '1', reason: expect.any(String) }],
  });
});

test('graphql-ws: an invalid message is answered with an error, and the connection stays open', () => {
  const message = readMessage(OLDER, '{"type":"test"}', JSON.parse);
  const { phase, effects } = after(OLDER, 'ready', message);
  const text =
    '{"type":"connection_error","payload":"parsing ClientMessage failed: Error in $: unexpected type for ClientMessage: test"}';
  expect([phase, effects]).toEqual(['ready', [{ kind: 'send', text }]]);
});

test.each(PROTOCOLS)('$name: a closed connection does nothing more', (protocol) => {
  expect(after(protocol, 'closed', INIT).effects).toEqual([]);
});

test.each(PROTOCOLS)('$name: after init in time, the init timeout does nothing', (protocol) => {
  expect(after(protocol, 'authenticating', { kind: 'init timeout' }).effects).toEqual([]);
});

test.each([
  'no json',
  '[]',
  '{}',
  '{"type":"subscribe"}',
  '{"type":"complete","id":7}',
  '{"type":"start","id":"1"}',
  '{"type":"constructor"}',
  '{"type":"connection_init","payload":{"headers":[]}}',
])('graphql-transport-ws: %s is malformed', (text) => {
  expect(readMessage(NEWER, text, JSON.parse).kind).toBe('malformed');
});

test('headers of init become lower-case texts', () => {
  const text =
    '{"type":"connection_init","payload":{"headers":{"X-Engine-User-Id":7,"Nothing":null,"Odd":{}}}}';
  expect(readMessage(NEWER, text, JSON.parse)).toEqual({
    kind: 'init',
    headers: { 'x-engine-user-id': '7' },
  });
});
