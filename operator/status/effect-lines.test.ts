/** The lines about a dry run in the forms of the console: sentences, and a warning where a role gains or a client breaks. */
import { expect, test } from 'vitest';
import { effectLines } from './effect-lines.ts';

const schema = { role: 'reader', breaking: 0, dangerous: 0, safe: 0, changes: [] };
const linesFor = (schemas: readonly object[], access: readonly object[] = []) =>
  effectLines({
    is_consistent: true,
    inconsistent_objects: [],
    effects: { access, schemas, is_complete: true },
  }).map(({ text, isWarning }) => `${isWarning ? '! ' : ''}${text}`);

test('changes of a schema are counted in a sentence, and warn when a client may break', () => {
  const changes = [{ severity: 'breaking', type: 'FIELD_REMOVED', description: 'book.title is gone.' }];
  expect(linesFor([{ ...schema, safe: 1 }])).toEqual(['the schema of reader: 1 change breaks no client']);
  expect(linesFor([{ ...schema, breaking: 1, safe: 5, changes }])).toEqual([
    '! the schema of reader: 1 change breaks clients, 5 changes break no client',
    '! breaking: book.title is gone.',
  ]);
});

test('a role that gains is a warning, and one that loses is not', () => {
  const entry = { key: 'select_permission/default/public/book/reader', role: 'reader', operation: 'select' };
  const access = (change: string) => ({ ...entry, on: 'public.book', change, verdict: 'wider', parts: [] });
  expect(linesFor([], [access('granted'), access('revoked')])).toEqual([
    '! reader may select public.book',
    'reader may no longer select public.book',
  ]);
});
