/** Paths into json columns. */
import { expect, test } from 'vitest';
import { jsonPath } from './json-path.ts';

test.for([
  ['$', []],
  ['', []],
  ['$.a.b', ['a', 'b']],
  ['a.b', ['a', 'b']],
  ['$.a[0][12].b', ['a', '0', '12', 'b']],
  ['[0]', ['0']],
  ['$["x y"].z', ['x y', 'z']],
  ["$['x.y']", ['x.y']],
  ['$["say \\"hi\\""]', ['say "hi"']],
  ['$.ünï', ['ünï']],
  ['a[0].["x"]', ['a', '0', 'x']],
] as const)('%s', ([path, steps]) => {
  expect(jsonPath(path)).toEqual(steps);
});

test.for(['$.', '$.a[', '$.a[x]', '$..a', '$a$', 'a["b]'])('%s is no path', (path) => {
  expect(() => jsonPath(path)).toThrow(/parse json path error/);
});
