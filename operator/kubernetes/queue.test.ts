/** Tests the queue: it combines simultaneous changes, delays no pass for ever, and runs one pass per key at a time. */
import { beforeEach, expect, test } from 'vitest';
import { Queue, type Requeue } from './queue.ts';
import { ManualTimers } from './testing/manual-timers.ts';

/** Returned by a pass that took edits alone. */
const OF_EDITS: Requeue = { afterMs: 100, isCut: true, isOfEdits: true };

let timers: ManualTimers;
let turns: string[];
let next: Requeue;

beforeEach(() => {
  timers = new ManualTimers();
  turns = [];
  next = {};
});

function opened(work?: () => Promise<Requeue>): Queue {
  const queue = new Queue(async (key, { isMarked, isForEdits }) => {
    turns.push(`${timers.nowMs()} ${key}${isForEdits ? ' for edits' : isMarked ? ' marked' : ''}`);
    return work ? work() : next;
  }, timers);
  queue.open();
  return queue;
}

test('simultaneous changes start one pass', async () => {
  const queue = opened();
  for (let i = 0; i < 10_000; i++) queue.mark('a');
  await timers.pass(100);
  queue.mark('a');
  await timers.pass(5000);
  expect(turns).toEqual(['350 a marked']);
});

test('an edit lingers for less time than a new resource', async () => {
  const queue = opened();
  queue.mark('a', { isEdit: true });
  await timers.pass(1000);
  expect(turns).toEqual(['50 a marked']);
});

test('an edit does not wait for changes that linger, and does not shorten their time', async () => {
  const queue = opened(async () => (turns.at(-1)!.endsWith('for edits') ? OF_EDITS : {}));
  for (let i = 0; i < 30; i++) {
    if (i % 10 === 0) queue.mark('a', { isEdit: true });
    queue.mark('a');
    await timers.pass(100);
  }
  await timers.pass(1000);
  expect(turns).toEqual([
    ...['50 a for edits', '1050 a for edits', '2000 a marked'],
    // The mark of the edit at 2000 was made after the pass of that time had begun.
    ...['2050 a for edits', '3150 a marked'],
  ]);
});

test('a pass for edits that took all changes leaves none to the next', async () => {
  const queue = opened();
  queue.mark('a');
  queue.mark('a', { isEdit: true });
  await timers.pass(5000);
  expect(turns).toEqual(['50 a for edits']);
});

test('changes that arrive during a pass for edits have a pass afterwards', async () => {
  let finish: (requeue: Requeue) => void = () => {};
  const queue = opened(() => new Promise((resolve) => (finish = resolve)));
  queue.mark('a');
  queue.mark('a', { isEdit: true });
  await timers.pass(60);
  queue.mark('a');
  await timers.pass(40);
  finish({});
  await timers.pass(0);
  await timers.pass(1000);
  expect(turns).toEqual(['50 a for edits', '310 a marked']);
});

test('edits come before what a pass has left, whose time they do not change', async () => {
  next = { afterMs: 100, isCut: true };
  const queue = opened(async () => (turns.at(-1)!.endsWith('for edits') ? OF_EDITS : next));
  queue.mark('a');
  await timers.pass(250);
  queue.mark('a', { isEdit: true });
  await timers.pass(60);
  next = {};
  await timers.pass(1000);
  expect(turns).toEqual(['250 a marked', '300 a for edits', '350 a']);
});

test('a change of the Engine itself is a pass over everything', async () => {
  const queue = opened();
  queue.mark('a');
  queue.mark('a', { isEdit: true, isUrgent: true });
  await timers.pass(1000);
  expect(turns).toEqual(['50 a marked']);
});

test('edits that arrive together are one pass', async () => {
  const queue = opened();
  for (let i = 0; i < 20; i++) {
    queue.mark('a', { isEdit: true });
    await timers.pass(40);
  }
  await timers.pass(1000);
  expect(turns).toEqual(['810 a marked']);
});

test('a steady stream of changes does not delay a pass for ever', async () => {
  const queue = opened();
  for (let i = 0; i < 30; i++) {
    queue.mark('a');
    await timers.pass(100);
  }
  expect(turns[0]).toBe('2000 a marked');
});

test('passes of different engines run at the same time, one for each engine', async () => {
  const running: (() => void)[] = [];
  const queue = opened(() => new Promise((resolve) => running.push(() => resolve({}))));
  queue.mark('a');
  queue.mark('b');
  await timers.pass(300);
  queue.mark('a');
  await timers.pass(3000);
  expect(turns).toEqual(['250 a marked', '250 b marked']);
  running[0]!();
  await timers.pass(0);
  await timers.pass(0);
  expect(turns[2]).toBe('3300 a marked');
});

test('a key without changes is due again after the time that its pass returned', async () => {
  next = { afterMs: 15_000 };
  opened().mark('a');
  await timers.pass(31_000);
  expect(turns).toEqual(['250 a marked', '15250 a', '30250 a']);
});

test('a changed key does not wait for its next due time', async () => {
  next = { afterMs: 15_000 };
  const queue = opened();
  queue.mark('a');
  await timers.pass(1000);
  queue.mark('a');
  await timers.pass(1000);
  expect(turns).toEqual(['250 a marked', '1250 a marked']);
});

test('a change waits during back-off, and an urgent change does not', async () => {
  next = { afterMs: 60_000, notBeforeMs: 60_000 };
  const queue = opened();
  queue.mark('a');
  await timers.pass(1000);
  queue.mark('a');
  await timers.pass(10_000);
  expect(turns).toEqual(['250 a marked']);
  queue.mark('a', { isUrgent: true });
  await timers.pass(1000);
  expect(turns[1]).toBe('11000 a marked');
});

test('changes before the queue opens are processed when it opens', async () => {
  const queue = new Queue(async (key) => {
    turns.push(key);
    return {};
  }, timers);
  queue.mark('a');
  await timers.pass(60_000);
  expect(turns).toEqual([]);
  queue.open();
  await timers.pass(0);
  expect(turns).toEqual(['a']);
});

test('a closed queue starts nothing and waits for running passes', async () => {
  let finish: () => void = () => {};
  const queue = opened(() => new Promise((resolve) => (finish = () => resolve({ afterMs: 1 }))));
  queue.mark('a');
  await timers.pass(250);
  let isClosed = false;
  const closing = queue.close().then(() => (isClosed = true));
  queue.mark('a');
  queue.mark('b');
  await timers.pass(10_000);
  expect(isClosed).toBe(false);
  finish();
  await closing;
  await timers.pass(10_000);
  expect(turns).toEqual(['250 a marked']);
});

test('a pass that is due runs during the delay after a failure, and a mark waits for the end of the delay', async () => {
  next = { afterMs: 2000, notBeforeMs: 9000 };
  const queue = opened();
  queue.mark('a');
  await timers.pass(1000);
  queue.mark('a');
  await timers.pass(3000);
  expect(turns).toEqual(['250 a marked', '2250 a']);
  next = {};
  await timers.pass(30_000);
  // The pass has ended the delay.
  expect(turns.slice(2)).toEqual(['4250 a', '4250 a marked']);
});

test('an urgent mark does not wait for the end of the delay', async () => {
  next = { afterMs: 2000, notBeforeMs: 9000 };
  const queue = opened();
  queue.mark('a');
  await timers.pass(1000);
  queue.mark('a', { isUrgent: true });
  await timers.pass(500);
  expect(turns).toEqual(['250 a marked', '1250 a marked']);
});
