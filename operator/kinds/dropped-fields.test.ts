/** Tests finding the fields that were applied and dropped. The whole way is tested in kubernetes/dropped-fields.kube.test.ts. */
import { expect, test } from 'vitest';
import { DROPPED_FIELDS, droppedFields } from './dropped-fields.ts';

const stored = { kind: 'Table', spec: { table: 'note' } };
const applied = (spec: unknown) =>
  JSON.stringify({ apiVersion: 'pergola.dev/v1alpha1', kind: 'Table', spec });

test('a field that the kind does not have is named with those it has', () => {
  const { [DROPPED_FIELDS]: text } = droppedFields(stored, applied({ table: 'note', coment: 'x' }));
  expect(text).toMatch(/^spec\.coment is not a field; there are .*\btable\b/);
  const nested = {
    table: 'note',
    permissions: [{ role: 'a', select: { columns: [], filter: {}, maxRow: 5 } }],
  };
  expect(droppedFields(stored, applied(nested))[DROPPED_FIELDS]).toMatch(
    /^spec\.permissions\[0\]\.select\.maxRow is not/,
  );
});

test.each([
  ['the same spec', applied({ table: 'note' })],
  ['a field of the kind that was removed later', applied({ table: 'note', isEnum: true })],
  ['a value of the wrong type, which was refused', applied({ table: 5 })],
  ['the old form', applied({ table: { schema: 'public', name: 'note' }, source: 'default' })],
  ['no resource', '[]'],
  ['no JSON', '{'],
  ['no spec', '{}'],
])('%s has no dropped fields', (_, text) => {
  expect(droppedFields(stored, text)).toEqual({});
});

test('a kind that is not ours has none', () => {
  expect(droppedFields({ kind: 'Namespace' }, applied({ coment: 'x' }))).toEqual({});
});

test('many unknown fields are cut off', () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}`, 1]));
  const { [DROPPED_FIELDS]: text = '' } = droppedFields(stored, applied({ table: 'note', ...many }));
  expect(text.split('; ').filter((part) => part.startsWith('spec.'))).toHaveLength(5);
});
