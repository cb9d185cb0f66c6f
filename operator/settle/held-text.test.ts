/** Tests the sentences about changes that are held back. */
import { wideningsOf } from '@pergola/engine/admit';
import type { MetadataObject } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { wideningText } from './held-text.ts';

const OWN = { owner: { _eq: 'X-Engine-User-Id' } };
const ONE = { id: { _eq: 1 } };

type Given = readonly [key: string, definition: object];

const select = (role: string, filter: object, more: object = {}): Given => [
  `select_permission/default/public/note/${role}`,
  { role, permission: { columns: ['id'], filter, ...more } },
];
const update = (role: string, filter: object): Given => [
  `update_permission/default/public/note/${role}`,
  { role, permission: { columns: ['id'], filter } },
];
const inherits = (role_name: string, ...role_set: readonly string[]): Given => [
  `inherited_role/${role_name}`,
  { role_name, role_set },
];
const liveOf = (...given: readonly Given[]) =>
  new Map(given.map(([key, definition]) => [key, { key, definition } as MetadataObject]));

function textOf(live: ReturnType<typeof liveOf>, [key, definition]: Given) {
  const [found] = wideningsOf(live, [{ changes: [{ key, definition }] }], []).values();
  return wideningText({ first: found![0]!, others: found!.length - 1 });
}

test('the sentence names role, object, rows and how sure it is, and is cut', () => {
  expect(textOf(liveOf(select('a', OWN, { limit: 5 })), select('a', {}, { columns: [], limit: 6 }))).toBe(
    'would let role a reach more rows of public.note: filter: owner is X-Engine-User-Id → all rows; limit: 5 → 6',
  );
  expect(textOf(liveOf(select('a', OWN)), select('a', ONE))).toBe(
    'may let role a reach more rows of public.note: filter: owner is X-Engine-User-Id → id is 1',
  );
  expect(textOf(liveOf(update('a', OWN)), update('a', {}))).toMatch(
    /^would let role a update more rows of public\.note/,
  );
  const long = { title: { _in: Array.from({ length: 500 }, (_, i) => `title ${i}`) } };
  expect(textOf(liveOf(select('a', long)), select('a', {})).length).toBeLessThan(600);
});

test('the sentence counts the others', () => {
  expect(
    textOf(liveOf(inherits('staff', 'a'), select('a', OWN), select('b', {})), inherits('staff', 'a', 'b')),
  ).toBe('would let role staff reach more rows: role_set: a → a, b, and 1 more');
});

test('an object that permissions use is named', () => {
  const query = (code: string): Given => [
    'native_query/default/notes',
    { root_field_name: 'notes', returns: 'note_row', code },
  ];
  const model: Given = [
    'logical_model_permission/default/note_row/reader',
    { role: 'reader', permission: { columns: ['id'], filter: {} } },
  ];
  const search = (configuration: object): Given => ['function/default/public/search', { configuration }];
  expect(textOf(liveOf(query('select 1'), model), query('select 2'))).toBe(
    'may let role reader reach more rows of note_row: code: the native query notes has another text or other arguments',
  );
  expect(textOf(liveOf(search({})), search({ session_argument: 's' }))).toBe(
    'may let every role that reads its table reach more rows of public.search: session_argument: none → s',
  );
});
