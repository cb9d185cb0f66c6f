/** One connection as a state machine: which message is allowed when, and what follows. Pure: phase and event in, next
 *  phase and effects out; connection.ts carries the effects out.
 *  REACTIONS has a row for each event; VIOLATIONS a row for each mistake of a client: the newer protocol closes the
 *  socket with a code, the older one mostly sends an error and goes on.
 *  Not here: the text of messages (messages.ts). Reference: docs/reference/behaviour/subscriptions.md. */
import { type ClientMessage, connectionError, PONG, type Protocol } from './messages.ts';

/** `new` is before `connection_init`; during `authenticating`, messages wait. */
export type Phase = 'new' | 'authenticating' | 'ready' | 'closed';

export type ConnectionEvent =
  | ClientMessage
  | { readonly kind: 'authenticated' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'init timeout' };

export type ConnectionEffect =
  | { readonly kind: 'send'; readonly text: string }
  | { readonly kind: 'authenticate'; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'start'; readonly id: string; readonly request: unknown }
  /** The operation cannot start. */
  | { readonly kind: 'fail'; readonly id: string; readonly reason: string }
  | { readonly kind: 'stop'; readonly id: string }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string };

type ConnectionState = {
  readonly protocol: Protocol;
  readonly phase: Phase;
  readonly isRunning: (id: string) => boolean;
};

type Reaction = { readonly phase: Phase; readonly effects: readonly ConnectionEffect[] };

export function react(state: ConnectionState, event: ConnectionEvent): Reaction {
  if (state.phase === 'closed') return stay(state);
  return (REACTIONS[event.kind] as (state: ConnectionState, event: ConnectionEvent) => Reaction)(
    state,
    event,
  );
}

type Of<K extends ConnectionEvent['kind']> = Extract<ConnectionEvent, { readonly kind: K }>;

const REACTIONS: {
  readonly [K in ConnectionEvent['kind']]: (state: ConnectionState, event: Of<K>) => Reaction;
} = {
  init: (state, { headers }) =>
    state.phase === 'new'
      ? { phase: 'authenticating', effects: [{ kind: 'authenticate', headers }] }
      : violation(state, 'initialised twice', {}),
  authenticated: ({ protocol: { server } }) => ({
    phase: 'ready',
    effects: [send(server.ack), send(server.alive)],
  }),
  refused: (state, { reason }) => violation(state, 'refused', { reason }),
  'init timeout': (state) =>
    state.phase === 'new' ? violation(state, 'not initialised in time', {}) : stay(state),
  start: (state, { id, request }) => {
    if (state.phase !== 'ready') return violation(state, 'not initialised', { id });
    if (state.isRunning(id)) return violation(state, 'id in use', { id });
    return { phase: state.phase, effects: [{ kind: 'start', id, request }] };
  },
  stop: ({ phase }, { id }) => ({ phase, effects: [{ kind: 'stop', id }] }),
  ping: ({ phase }) => ({ phase, effects: [send(PONG)] }),
  pong: stay,
  terminate: () => closing(1000, 'terminated by the client'),
  malformed: (state, { reason }) => violation(state, 'malformed', { reason }),
};

type Details = { readonly id?: string; readonly reason?: string };

type Violation = {
  readonly code: number;
  readonly reason: (details: Details) => string;
  /** The reaction of the older protocol, in place of closing at once. */
  readonly older: 'close' | 'send' | 'send and close' | 'fail';
  /** The reason in the older protocol, if it is another one. */
  readonly olderReason?: (details: Details) => string;
};

const VIOLATIONS = {
  malformed: { code: 4400, reason: (d) => d.reason!, older: 'send' },
  'not initialised': {
    code: 4401,
    reason: () => 'start received before the connection is initialised',
    older: 'fail',
  },
  refused: {
    code: 4400,
    reason: (d) => `Connection initialization failed: ${d.reason}`,
    older: 'send and close',
    olderReason: (d) => d.reason!,
  },
  'not initialised in time': {
    code: 4408,
    reason: () => 'Connection initialisation timeout',
    older: 'close',
  },
  'id in use': {
    code: 4409,
    reason: (d) => `Subscriber for ${d.id} already exists`,
    older: 'fail',
    olderReason: (d) => `an operation already exists with this id: ${d.id}`,
  },
  'initialised twice': { code: 4429, reason: () => 'Too many initialisation requests', older: 'send' },
} as const satisfies Record<string, Violation>;

function violation(state: ConnectionState, kind: keyof typeof VIOLATIONS, details: Details): Reaction {
  const { code, reason, older, olderReason = reason }: Violation = VIOLATIONS[kind];
  if (state.protocol.name === 'graphql-transport-ws') return closing(code, reason(details));
  const text = olderReason(details);
  switch (older) {
    case 'close':
      return closing(code, text);
    case 'send and close':
      return { phase: 'closed', effects: [send(connectionError(text)), ...closing(code, text).effects] };
    case 'send':
      return { phase: state.phase, effects: [send(connectionError(text))] };
    case 'fail':
      return { phase: state.phase, effects: [{ kind: 'fail', id: details.id!, reason: text }] };
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
