/** Tests that parts which fail together are reported together. */
import { expect, test } from 'vitest';
import { EngineError, fail, withPath } from './engine-error.ts';
import { each, together } from './together.ts';

const missing = (name: string) => withPath(name, () => fail('columnNotExists', { name }));

function raised(body: () => unknown): EngineError {
  try {
    body();
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
  throw new Error('nothing was raised');
}

test('the results are those of the parts, in order', () => {
  expect(
    together(
      () => 1,
      () => 'two',
    ),
  ).toEqual([1, 'two']);
  expect(each(['a', 'b'], (item, i) => `${i}${item}`)).toEqual(['0a', '1b']);
});

test('the first error is raised, and has the later ones, of nested parts as well, with their paths', () => {
  const error = raised(() =>
    withPath('outer', () =>
      together(
        () => withPath('list', () => each(['a', 'b'], missing)),
        () => 1,
        () => missing('c'),
      ),
    ),
  );
  expect(error.path).toEqual(['outer', 'list', 'a']);
  expect(error.hints.more?.map(({ path }) => path)).toEqual([
    ['outer', 'list', 'b'],
    ['outer', 'c'],
  ]);
});

test('a single error is raised as it is, and no more than ten are reported', () => {
  const one = raised(() => missing('a'));
  expect(
    raised(() =>
      together(
        () => 1,
        () => {
          throw one;
        },
      ),
    ),
  ).toBe(one);
  const names = Array.from({ length: 30 }, (_, i) => `c${i}`);
  expect(raised(() => each(names, missing)).hints.more).toHaveLength(9);
});

test('what is no EngineError ends the parts at once', () => {
  const run: string[] = [];
  const parts = () =>
    each(['a', 'b'], (name) => {
      run.push(name);
      throw new TypeError(name);
    });
  expect(parts).toThrow(TypeError);
  expect(run).toEqual(['a']);
});

test('no response has the further errors', () => {
  const error = raised(() => each(['a', 'b'], missing));
  expect(JSON.stringify(error)).not.toContain('"b"');
});

test('after as many errors as are reported no further item is tried', () => {
  let tried = 0;
  const wrong = () => {
    tried++;
    return fail('notSupported', { text: 'wrong' });
  };
  expect(() => each(Array.from({ length: 100_000 }), wrong)).toThrow('wrong');
  expect(tried).toBe(10);
});
