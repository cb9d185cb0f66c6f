import { expect, test } from 'vitest';
import { MemoryPressure } from './memory-pressure.ts';

function processOf(resident: (collections: number) => number) {
  let [nowMs, collections] = [0, 0];
  const pressure = new MemoryPressure({
    mostBytes: 100,
    residentBytes: () => resident(collections),
    collect: () => collections++,
    nowMs: () => nowMs,
  });
  const look = (seconds: number) => {
    for (let i = 0; i < seconds * 2; i++) {
      pressure.check();
      nowMs += 500;
    }
    return collections;
  };
  const allocate = (bytes: number) => {
    pressure.makeRoom(bytes);
    return collections;
  };
  return { look, allocate, hasRoom: (bytes: number) => pressure.makeRoom(bytes) };
}

test('a process with room collects nothing', () => {
  expect(processOf(() => 74).look(600)).toBe(0);
});

test('one that comes near to its memory collects at once, and again after two seconds at the earliest', () => {
  const { look } = processOf(() => 75);
  expect(look(1)).toBe(1);
  expect(look(1.5)).toBe(2);
});

test('collections that do not help become rare', () => {
  expect(processOf(() => 90).look(600)).toBeLessThan(16);
});

test('after one that has helped the next is as early as the first', () => {
  let isFull = true;
  const { look } = processOf(() => (isFull ? 90 : 10));
  const before = look(120);
  isFull = false;
  look(1);
  isFull = true;
  look(60);
  expect(look(0.5)).toBeGreaterThan(before);
  isFull = false;
  look(1);
  isFull = true;
  const now = look(0.5);
  expect(look(3) - now).toBe(1);
});

test('collections that help stay as frequent as memory fills again', () => {
  let checks = 0;
  // Every second measure is that after a collection, or the next one before the pause is over.
  const { look } = processOf(() => (checks++ % 2 === 0 ? 90 : 60));
  expect(look(60)).toBeGreaterThan(10);
});

test('room is made for what is about to be allocated', () => {
  const { allocate } = processOf((collections) => (collections === 0 ? 60 : 30));
  expect(allocate(29)).toBe(0);
  expect(allocate(31)).toBe(1);
  expect(allocate(31)).toBe(1);
});

test('small allocations make room together', () => {
  const { allocate } = processOf((collections) => (collections === 0 ? 89 : 30));
  for (let i = 0; i < 6; i++) expect(allocate(1)).toBe(0);
  expect(allocate(1)).toBe(1);
});

test('room is made again at once while that helps, and otherwise after a pause', () => {
  let resident = 90;
  const helps = processOf((collections) => (collections % 2 === 0 ? resident : 30));
  expect(helps.allocate(20)).toBe(1);
  resident = 30;
  resident = 90;
  const useless = processOf(() => resident);
  expect(useless.allocate(20)).toBe(1);
  expect(useless.allocate(20)).toBe(1);
  resident = 97;
  expect(useless.allocate(20)).toBe(2);
  expect(useless.allocate(20)).toBe(2);
});

test('there is no room for what does not fit after a collection', () => {
  const { hasRoom } = processOf((collections) => (collections === 0 ? 90 : 60));
  expect(hasRoom(40)).toBe(true);
  expect(hasRoom(41)).toBe(false);
  expect(hasRoom(5)).toBe(true);
});
