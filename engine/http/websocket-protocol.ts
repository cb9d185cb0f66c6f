/** When which message may come, and what follows: one connection as a state machine. Pure: phase and event in, the next
 *  phase and effects out; who carries them out is websocket-connection.ts.
 *  REACTIONS has a row an event; VIOLATIONS a row for everything a client may do wrong: the newer protocol closes the
 *  socket with a code, the older one mostly says so and goes on.
 *  Not here: how messages are written (websocket-messages.ts). Reference: docs/reference/behaviour/subscriptions.md. */
import { type ClientMessage, connectionError, PONG, type Protocol } from './websocket-messages.ts';

/** `new`: nobody knows yet who it is. `asking`: authentication is on its way. */
export type Phase = 'new' | 'asking' | 'ready' | 'closed';

export type ConnectionEvent =
  | ClientMessage
  | { readonly kind: 'authenticated' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'too late' };

export type ConnectionEffect =
  | { readonly kind: 'send'; readonly text: string }
  | { readonly kind: 'authenticate'; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'start'; readonly id: string; readonly request: unknown }
  /** The operation cannot begin. */
  | { readonly kind: 'fail'; readonly id: string; readonly reason: string }
  | { readonly kind: 'stop'; readonly id: string }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string };

export type ConnectionState = {
  readonly protocol: Protocol;
  readonly phase: Phase;
  readonly isRunning: (id: string) => boolean;
};

export type Reaction = { readonly phase: Phase; readonly effects: readonly ConnectionEffect[] };

export function react(situation: ConnectionState, event: ConnectionEvent): Reaction {
  if (situation.phase === 'closed') return stay(situation);
  return (REACTIONS[event.kind] as (situation: ConnectionState, event: ConnectionEvent) => Reaction)(
    situation,
    event,
  );
}

type Of<K extends ConnectionEvent['kind']> = Extract<ConnectionEvent, { readonly kind: K }>;

const REACTIONS: {
  readonly [K in ConnectionEvent['kind']]: (situation: ConnectionState, event: Of<K>) => Reaction;
} = {
  init: (situation, { headers }) =>
    situation.phase === 'new'
      ? { phase: 'asking', effects: [{ kind: 'authenticate', headers }] }
      : violation(situation, 'initialised twice', {}),
  authenticated: ({ protocol: { server } }) => ({
    phase: 'ready',
    effects: [send(server.ack), send(server.alive)],
  }),
  refused: (situation, { reason }) => violation(situation, 'refused', { reason }),
  'too late': (situation) =>
    situation.phase === 'new' ? violation(situation, 'not initialised in time', {}) : stay(situation),
  start: (situation, { id, request }) => {
    if (situation.phase !== 'ready') return violation(situation, 'not initialised', { id });
    if (situation.isRunning(id)) return violation(situation, 'id in use', { id });
    return { phase: situation.phase, effects: [{ kind: 'start', id, request }] };
  },
  stop: ({ phase }, { id }) => ({ phase, effects: [{ kind: 'stop', id }] }),
  ping: ({ phase }) => ({ phase, effects: [send(PONG)] }),
  pong: stay,
  terminate: () => closing(1000, 'terminated by the client'),
  malformed: (situation, { reason }) => violation(situation, 'malformed', { reason }),
};

type Details = { readonly id?: string; readonly reason?: string };

type Violation = {
  readonly code: number;
  readonly reason: (details: Details) => string;
  /** What the older protocol does instead of closing at once. */
  readonly older: 'close' | 'say' | 'say and close' | 'fail';
};

const VIOLATIONS = {
  malformed: { code: 4400, reason: (d) => d.reason!, older: 'say' },
  'not initialised': {
    code: 4401,
    reason: () => 'start received before the connection is initialised',
    older: 'fail',
  },
  refused: { code: 4403, reason: (d) => d.reason!, older: 'say and close' },
  'not initialised in time': {
    code: 4408,
    reason: () => 'Connection initialisation timeout',
    older: 'close',
  },
  'id in use': { code: 4409, reason: (d) => `Subscriber for ${d.id} already exists`, older: 'fail' },
  'initialised twice': { code: 4429, reason: () => 'Too many initialisation requests', older: 'say' },
} as const satisfies Record<string, Violation>;

function violation(situation: ConnectionState, kind: keyof typeof VIOLATIONS, details: Details): Reaction {
  const { code, reason, older }: Violation = VIOLATIONS[kind];
  const text = reason(details);
  if (situation.protocol.name === 'graphql-transport-ws') return closing(code, text);
  switch (older) {
    case 'close':
      return closing(code, text);
    case 'say and close':
      return { phase: 'closed', effects: [send(connectionError(text)), ...closing(code, text).effects] };
    case 'say':
      return { phase: situation.phase, effects: [send(connectionError(text))] };
    case 'fail':
      return { phase: situation.phase, effects: [{ kind: 'fail', id: details.id!, reason: text }] };
    default:
      return older satisfies never;
  }
}

function stay({ phase }: ConnectionState): Reaction {
  return { phase, effects: [] };
}

function send(text: string): ConnectionEffect {
  return { kind: 'send', text };
}

function closing(code: number, reason: string): Reaction {
  return { phase: 'closed', effects: [{ kind: 'close', code, reason }] };
}
