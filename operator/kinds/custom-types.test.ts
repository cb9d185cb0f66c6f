/** Tests the SDL of Actions and CustomTypes: what becomes metadata, and what is refused because it would have no effect. */
import { expect, test } from 'vitest';
import { action } from './action.ts';
import { customTypes } from './custom-types.ts';

const CONTEXT = { valueFrom: () => '' };
const engineRef = { name: 'main' };
const actionWith = (sdl: string, spec: Readonly<Record<string, unknown>> = {}) =>
  action.translate({ engineRef, sdl, handler: { value: 'http://example.org' }, ...spec }, CONTEXT);

test('parts of the SDL that the metadata cannot express are refused', () => {
  expect(() => actionWith('type Query { quote(id: Int = 5): Int @cached }')).toThrow(
    'spec.sdl: @cached at Query.quote has no effect; remove it; ' +
      'the default value 5 of Query.quote.id has no effect; remove it',
  );
  expect(() =>
    customTypes.translate({ engineRef, sdl: 'input Price { currency: String = "EUR" }' }, CONTEXT),
  ).toThrow('spec.sdl: the default value "EUR" of Price.currency has no effect; remove it');
});

test('the description of the field is the comment of the action, unless the spec has one', () => {
  const sdl = 'type Query { "The price of today." quote: Int }';
  expect(actionWith(sdl)).toMatchObject([{ definition: { comment: 'The price of today.' } }]);
  expect(actionWith(sdl, { comment: 'Another.' })).toMatchObject([{ definition: { comment: 'Another.' } }]);
  expect(actionWith(sdl, { comment: '' })).toMatchObject([{ definition: { comment: '' } }]);
});
