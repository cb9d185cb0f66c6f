/** Tests which keep-alive messages a client gets, and which clients are disconnected: first with a socket that records what is
 *  written and the clock of the test, then with clients of a real engine. */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createDatabase } from '../../../testing/database.ts';
import { startTestEngine } from '../../../testing/engine.ts';
import { TimerWheel } from '../../limits/timer-wheel.ts';
import { Keepalive, WEBSOCKET_TICK_MS } from './keepalive.ts';
import { protocolOf } from './messages.ts';

const INTERVAL_MS = 5000;
const PROTOCOLS = ['graphql-transport-ws', 'graphql-ws'] as const;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** The frames by what they contain. */
const NAMES: Readonly<Record<string, string>> = {
  '\x81\x31{"type":"ping","payload":{"message":"keepalive"}}': 'ping message',
  '\x81\x31{"type":"ping","payload":{"message":"keepalive"}}\x89\0': 'ping message, ping',
  '\x81\x0d{"type":"ka"}': 'ka',
  '\x81\x0d{"type":"ka"}\x89\0': 'ka, ping',
  '\x89\0': 'ping',
};

function connect(name: (typeof PROTOCOLS)[number], wheel = new TimerWheel(WEBSOCKET_TICK_MS)) {
  const written: { readonly what: string; readonly at: number }[] = [];
  const state = { isPaused: false, isReady: true, bytesRead: 100, isTerminated: false };
  const write = (frame: Buffer) => {
    const text = frame.toString('latin1');
    written.push({ what: NAMES[text] ?? text, at: performance.now() });
  };
  const socket = {
    OPEN: 1,
    get readyState() {
      return state.isTerminated ? 3 : 1;
    },
    get isPaused() {
      return state.isPaused;
    },
    terminate: () => {
      state.isTerminated = true;
    },
  } as unknown as WebSocket;
  const duplex = {
    write,
    get bytesRead() {
      return state.bytesRead;
    },
  } as unknown as Socket;
  const keepalive = new Keepalive({
    socket,
    duplex,
    protocol: protocolOf(name, false),
    wheel,
    intervalMs: INTERVAL_MS,
    isReady: () => state.isReady,
  });
  const intervals = (count: number) => {
    const from = written.length;
    vi.advanceTimersByTime(count * INTERVAL_MS);
    return written.slice(from).map(({ what }) => what);
  };
  return { state, written, keepalive, intervals };
}

test('a silent client of the newer protocol gets a ping message, then pings too, and is disconnected', () => {
  const { state, intervals } = connect('graphql-transport-ws');
  expect(intervals(1)).toEqual([]);
  expect(intervals(1)).toEqual(['ping message']);
  expect(intervals(1)).toEqual(['ping message, ping']);
  expect(intervals(1)).toEqual(['ping message, ping']);
  expect(state.isTerminated).toBe(false);
  expect(intervals(1)).toEqual([]);
  expect(state.isTerminated).toBe(true);
  expect(intervals(5)).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a client of the older protocol gets ka in each interval, with pings while it is silent, and is disconnected', () => {
  const { state, written, intervals } = connect('graphql-ws');
  expect(intervals(4)).toEqual(['ka', 'ka, ping', 'ka, ping', 'ka, ping']);
  expect(intervals(1)).toEqual([]);
  expect(state.isTerminated).toBe(true);
  const gaps = written.slice(1).map(({ at }, i) => at - written[i]!.at);
  for (const gap of gaps) expect(Math.abs(gap - INTERVAL_MS)).toBeLessThanOrEqual(2);
});

test.each(PROTOCOLS)('%s: a client that sends gets no pings', (protocol) => {
  const { state, intervals } = connect(protocol);
  for (let i = 0; i < 10; i++) {
    state.bytesRead += 1;
    expect(intervals(1)).toEqual(protocol === 'graphql-ws' ? ['ka'] : []);
  }
  expect(state.isTerminated).toBe(false);
});

test.each(PROTOCOLS)(
  '%s: a client that answers stays connected, at the cost of a ping in two intervals',
  (protocol) => {
    const { state, intervals } = connect(protocol);
    let pings = 0;
    for (let i = 0; i < 100; i++) {
      const isPinged = intervals(1).some((what) => what.includes('ping'));
      if (isPinged) state.bytesRead += 6;
      pings += Number(isPinged);
    }
    expect(state.isTerminated).toBe(false);
    expect(pings).toBe(50);
  },
);

test('before authentication only pings are sent', () => {
  const { state, intervals } = connect('graphql-ws');
  state.isReady = false;
  expect(intervals(3)).toEqual(['ping', 'ping']);
});

test('a client that the engine does not read gets nothing and is not disconnected, since it cannot answer', () => {
  const { state, intervals } = connect('graphql-transport-ws');
  intervals(3);
  state.isPaused = true;
  expect(intervals(10)).toEqual([]);
  state.isPaused = false;
  expect(state.isTerminated).toBe(false);
  expect(intervals(1)).toEqual(['ping message, ping']);
});

test('clients that connected at the same moment are written to at different ones, with one timer', () => {
  const wheel = new TimerWheel(WEBSOCKET_TICK_MS);
  const clients = Array.from({ length: 2000 }, () => connect('graphql-ws', wheel));
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(INTERVAL_MS * 2);
  const counts = new Map<number, number>();
  for (const { at } of clients.flatMap(({ written }) => written)) counts.set(at, (counts.get(at) ?? 0) + 1);
  // Twenty ticks an interval, a hundred clients in each.
  expect(Math.max(...counts.values())).toBeLessThan(200);
  for (const { keepalive } of clients) keepalive.cancel();
  vi.advanceTimersByTime(WEBSOCKET_TICK_MS * 2);
  expect(vi.getTimerCount()).toBe(0);
});

test('a real engine: silent clients get messages in time, one that never answers is disconnected, and none has a timer', async () => {
  vi.useRealTimers();
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const engine = await startTestEngine({ databaseUrl: database.url, websocketKeepalive: 1 });
  onTestFinished(() => engine.close());
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const open = async (protocol: string, options = {}) => {
    const socket = new WebSocket(`${engine.url.replace('http', 'ws')}/v1/graphql`, protocol, options);
    onTestFinished(() => socket.terminate());
    const types: string[] = [];
    let pings = 0;
    socket.on('message', (data) => types.push((JSON.parse(String(data)) as { type: string }).type));
    socket.on('ping', () => {
      pings += 1;
    });
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    await new Promise((resolve) => socket.once('open', resolve));
    const headers = { 'x-engine-admin-secret': engine.adminSecret };
    socket.send(JSON.stringify({ type: 'connection_init', payload: { headers } }));
    return { types, closed, pings: () => pings };
  };
  const [older, newer, dead] = await Promise.all([
    open('graphql-ws'),
    open('graphql-transport-ws'),
    open('graphql-transport-ws', { autoPong: false }),
  ]);
  await Promise.all(Array.from({ length: 100 }, () => open('graphql-ws')));
  expect(timers() - before).toBeLessThan(10);
  expect(await dead.closed).toBe(1006);
  // It never answers the message, but does answer pings.
  expect(newer.types).toContain('ping');
  expect(newer.pings()).toBeGreaterThan(0);
  const count = older.types.filter((type) => type === 'ka').length;
  await sleep(3000);
  expect(older.types.filter((type) => type === 'ka').length - count).toBeGreaterThanOrEqual(2);
  expect(older.pings()).toBeGreaterThan(0);
}, 60_000);
