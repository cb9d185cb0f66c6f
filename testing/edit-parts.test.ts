/** Tests the parts of the time of an edit: together they are all of it, and each belongs to the process that took it. */
import { expect, test } from 'vitest';
import { editParts, partsText } from './edit-parts.ts';

const EDIT = { sentAt: 1000, acceptedAt: 1020, readyAt: 2000 };
const PASSES = [
  { from: 900, to: 1400, resources: 100 },
  { from: 1450, to: 1600, resources: 1 },
  { from: 1700, to: 1900, resources: 100 },
];
const WRITES = [
  { from: 500, to: 600 },
  { from: 1650, to: 1950 },
];

test('the parts of an edit that waits for another pass', () => {
  const parts = editParts(EDIT, PASSES, WRITES)!;
  expect(parts).toEqual({
    accepted: 20,
    otherPasses: 380,
    waiting: 50,
    pass: 150,
    statusQueue: 50,
    statusWrite: 300,
    seen: 50,
  });
  expect(Object.values(parts).reduce((sum, part) => sum + part)).toBe(EDIT.readyAt - EDIT.sentAt);
  expect(partsText(parts)).toContain('other passes 380, event and queue 50, pass 150');
});

test('an edit whose pass or status is not in the logs has no parts', () => {
  expect(editParts(EDIT, PASSES, WRITES.slice(0, 1))).toBeUndefined();
  expect(editParts(EDIT, [], WRITES)).toBeUndefined();
});
