/** Tests the memory of answers: its limit, the order of those that wait, and that every answer is read in the end. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { MemoryBudget } from '../limits/memory-budget.ts';
import { AnswerBudget, AnswerMemory } from './answer-memory.ts';
import { sendRequest } from './http-client.ts';

const KIB = 1024;

const budgets = (kib: number) => {
  const memory = new MemoryBudget(kib * KIB);
  return { memory, answers: new AnswerBudget(memory) };
};
const never = () => {
  throw new Error('nothing waits');
};

test('small answers are not counted, and one that takes more than half of the memory is refused', () => {
  const { memory, answers } = budgets(100);
  const small = new AnswerMemory(answers);
  expect(small.hold(16 * KIB, never)).toBe(true);
  expect(memory.held).toBe(0);
  expect(small.hold(34 * KIB, never)).toBe(true);
  expect(memory.held).toBe(34 * KIB);
  expect(() => small.hold(1, never)).toThrow(`more than ${50 * KIB} bytes of memory`);
  small.release();
  small.release();
  expect(memory.held).toBe(0);
});

test('answers that are half read do not wait for each other: the first one goes on', () => {
  const { memory, answers } = budgets(400);
  const order: string[] = [];
  const holders = ['a', 'b', 'c', 'd'].map((name) => ({ name, held: new AnswerMemory(answers) }));
  for (const { held } of holders) expect(held.hold(60 * KIB, never)).toBe(true);
  for (const { name, held } of holders) {
    const isHeld = held.hold(60 * KIB, () => order.push(name));
    if (isHeld) order.push(name);
  }
  expect(order).not.toHaveLength(0);
  while (order.length < 4) {
    const last = order.at(-1)!;
    const before = order.length;
    holders.find(({ name }) => name === last)!.held.release();
    expect(order.length).toBeGreaterThan(before);
  }
  expect(order).toEqual(['a', 'b', 'c', 'd']);
  expect(memory.held).toBeLessThanOrEqual(memory.mostBytes);
  for (const { held } of holders) held.release();
  expect(memory.held).toBe(0);
});

test('whatever the sizes, the limit holds, all are read in the end, and nothing remains held', async () => {
  for (let seed = 1; seed <= 300; seed++) {
    const { memory, answers } = budgets(300);
    let state = seed;
    const random = (most: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % most;
    };
    const done = Array.from({ length: 12 }, async () => {
      const held = new AnswerMemory(answers);
      for (let left = random(150); left > 0; left -= 10) {
        await new Promise<void>((resolve) => {
          if (held.hold(Math.min(left, 10) * KIB, resolve)) resolve();
        });
        expect(memory.held).toBeLessThanOrEqual(memory.mostBytes);
        if (random(40) === 0) break;
        if (random(3) === 0) await new Promise(setImmediate);
      }
      held.release();
    });
    await Promise.all(done);
    expect(memory.held).toBe(0);
  }
});

test('an answer waits while results of statements use the memory', async () => {
  const { memory, answers } = budgets(100);
  memory.hold(100 * KIB);
  const held = new AnswerMemory(answers);
  const resumed = new Promise<void>((resolve) => expect(held.hold(30 * KIB, resolve)).toBe(false));
  memory.release(60 * KIB);
  await resumed;
  held.release();
  expect(memory.held).toBe(40 * KIB);
});

test('what waits is forgotten when its call is over', () => {
  const { memory, answers } = budgets(100);
  const [one, other, third] = [0, 1, 2].map(() => new AnswerMemory(answers)) as [
    AnswerMemory,
    AnswerMemory,
    AnswerMemory,
  ];
  memory.hold(100 * KIB);
  const resume = () => never();
  expect(one.hold(40 * KIB, resume)).toBe(false);
  expect(other.hold(40 * KIB, never)).toBe(false);
  one.forget(resume);
  other.release();
  memory.release(100 * KIB);
  expect(third.hold(40 * KIB, never)).toBe(true);
  third.release();
  one.release();
  expect(memory.held).toBe(0);
});

test('bodies of a service are counted after decoding, as they arrive, and wait for their turn', async () => {
  const bodies = [Buffer.alloc(80_000, 'a'), gzipSync(Buffer.alloc(80_000, 'a'))];
  const server = createServer((request, response) => {
    const isCoded = request.url === '/1';
    if (isCoded) response.setHeader('content-encoding', 'gzip');
    response.end(bodies[isCoded ? 1 : 0]);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { memory, answers } = budgets(400);
  let peak = 0;
  const get = async (i: number) => {
    const held = new AnswerMemory(answers);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${i % 2}`;
    const limits = { timeoutMs: 20_000, mostBytes: 2 ** 20, isRepeatable: false, memory: held };
    try {
      const { body } = await sendRequest({ url, method: 'GET', headers: [], body: null }, limits);
      peak = Math.max(peak, memory.held);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return body.length;
    } finally {
      held.release();
    }
  };
  const lengths = await Promise.all(Array.from({ length: 20 }, (_, i) => get(i)));
  expect(new Set(lengths)).toEqual(new Set([80_000]));
  expect(peak).toBeGreaterThan(2 * 60_000);
  expect(memory.held).toBe(0);
});

test.each(['', '?gzip'])(
  'a body of which the beginning is enough is not read further: %s',
  async (coding) => {
    let written = 0;
    let isClosed = false;
    const server = createServer((request, response) => {
      const isCoded = request.url!.includes('gzip');
      if (isCoded) response.setHeader('content-encoding', 'gzip');
      const chunk = isCoded ? gzipSync(Buffer.alloc(2 ** 24, 'a')) : Buffer.alloc(2 ** 16, 'a');
      const pour = setInterval(() => {
        written += chunk.length;
        response.write(chunk);
      }, 5);
      response.once('close', () => {
        isClosed = true;
        clearInterval(pour);
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${coding}`;
    const limits = { timeoutMs: 20_000, mostBytes: 1000, isCut: true, isRepeatable: false };
    const { status, body } = await sendRequest({ url, method: 'GET', headers: [], body: null }, limits);
    expect([status, body.toString()]).toEqual([200, 'a'.repeat(1000)]);
    await expect.poll(() => isClosed).toBe(true);
    expect(written).toBeLessThan(2 ** 21);
  },
);
