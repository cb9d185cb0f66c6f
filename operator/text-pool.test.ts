/** Tests that equal texts of parsed values are in memory once. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parseJson } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { TextPool } from './text-pool.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const COUNT = 100_000;
const TEXT = 'a column of a table';

/** Returns the bytes that so many parsed texts take after `share`. */
function bytesOf(share: (value: unknown) => unknown): number {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: COUNT }, () => share(JSON.parse(`["${TEXT}"]`)));
  collectGarbage();
  const used = process.memoryUsage().heapUsed - before;
  expect(kept).toHaveLength(COUNT);
  return used;
}

test('the values stay equal, with numbers that keep their text and keys of any name', () => {
  const long = 'z'.repeat(300);
  const text = `{"a":["x","x",{"b":"x","__proto__":"y","n":1.50}],"long":"${long}","none":null,"t":true}`;
  const value = parseJson(text);
  expect(new TextPool().share(value)).toBe(value);
  expect(value).toEqual(parseJson(text));
  expect(Object.getPrototypeOf((value as { a: object[] }).a[2])).toBe(Object.prototype);
});

test('equal texts of several values are in memory once, also after the pool was full', () => {
  const pool = new TextPool(3);
  for (const text of ['a', 'b', 'c', 'd']) expect(pool.share([text])).toEqual([text]);
  const saved = bytesOf((value) => value) - bytesOf((value) => pool.share(value));
  expect(saved).toBeGreaterThan(COUNT * TEXT.length);
});
