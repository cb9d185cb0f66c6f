/** Resolving with the memo of earlier documents gives what resolving without one gives, and keeps what an edit did not change. */
import '../../testing/seed.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Table } from '../metadata/schema/table.ts';
import { Inconsistencies } from './inconsistency.ts';
import { type Lookup, Memo } from './memo.ts';
import { resolve } from './resolve.ts';
import { AUTHORS, metadataOf } from './testing/small-world.ts';

const OPTIONS = { stringifyNumericTypes: false };
const publicTable = (name: string) => ({ schema: 'public', name });
const resolved = (tables: readonly Table[], memo?: Memo) =>
  resolve(metadataOf(tables), new Map([['default', AUTHORS]]), OPTIONS, undefined, memo);

/** Forms each table may have, the first of them absent; objects are shared between documents, as edits share them. */
const select = (filter: Readonly<Record<string, unknown>>, columns: readonly string[] = ['id']) => [
  { role: 'reader', permission: { columns: [...columns], filter } },
];
const toAuthor = [{ name: 'author', using: { foreign_key_constraint_on: ['author_id'] } }];
const FORMS: readonly (readonly (Table | null)[])[] = [
  [
    null,
    { table: publicTable('author') },
    { table: publicTable('author'), configuration: { column_config: { name: { custom_name: 'called' } } } },
    {
      table: publicTable('author'),
      array_relationships: [
        {
          name: 'articles',
          using: {
            foreign_key_constraint_on: { table: publicTable('article'), columns: ['author_id'] },
          },
        },
      ],
      select_permissions: select({ articles: { is_published: true } }),
    },
    { table: publicTable('author'), configuration: { column_config: { id: { custom_name: 'articles' } } } },
  ],
  [
    null,
    { table: publicTable('article') },
    {
      table: publicTable('article'),
      object_relationships: toAuthor,
      select_permissions: select({ author: { name: { _eq: 'X-Engine-Name' } } }),
    },
    {
      table: publicTable('article'),
      object_relationships: toAuthor,
      select_permissions: select({ author: { articles: { title: 'x' } } }),
    },
    { table: publicTable('article'), select_permissions: select({}, ['id', 'gone']) },
    { table: publicTable('article'), configuration: { custom_name: 'author' } },
    { table: publicTable('article'), configuration: { custom_root_fields: { select: 'profile_by_pk' } } },
  ],
  [
    null,
    { table: publicTable('profile') },
    {
      table: publicTable('profile'),
      object_relationships: toAuthor,
      select_permissions: select({ author: { articles: { author: { id: 1 } } } }, ['text']),
    },
    {
      table: publicTable('profile'),
      select_permissions: select({ _exists: { _table: publicTable('article'), _where: { id: 1 } } }, [
        'text',
      ]),
    },
  ],
];
const TYPES = [
  'author',
  'author_order_by',
  'article',
  'article_set_input',
  'profile',
  'profile_bool_exp',
  'none',
];
const documents = fc.tuple(...FORMS.map((forms) => fc.constantFrom(...forms)));
const present = (tables: readonly (Table | null)[]) => tables.filter((table) => table !== null);

test('after any edits, the model and its inconsistencies are those of the document as if it were the first', () => {
  const memo = new Memo();
  fc.assert(
    fc.property(fc.array(documents, { minLength: 2, maxLength: 5 }), (edits) => {
      for (const edit of edits) {
        const reused = resolved(present(edit), memo);
        const fresh = resolved(structuredClone(present(edit)));
        const taken = TYPES.filter((type) => reused.model.typeNames.has(type));
        expect(taken).toEqual(TYPES.filter((type) => fresh.model.typeNames.has(type)));
        expect(reused.model.sources).toEqual(fresh.model.sources);
        expect(reused.inconsistencies).toEqual(fresh.inconsistencies);
      }
    }),
    { numRuns: 300 },
  );
});

test('a table that has nothing to do with an edit is the same object after it', () => {
  const [authors, articles] = [FORMS[0]![3]!, FORMS[1]![1]!];
  const memo = new Memo();
  const before = resolved([authors, articles], memo).model.sources.get('default')!.tables;
  const after = resolved([authors, articles, FORMS[2]![1]!], memo).model.sources.get('default')!.tables;
  expect(after.size).toBe(3);
  for (const [key, table] of before) expect(after.get(key)).toBe(table);
});

test('a result is computed again when an input or an entry it looked up has changed', () => {
  const memo = new Memo();
  const subject = {};
  const computed: string[] = [];
  const compute = (_: object, [input]: readonly [string], [map]: readonly [Lookup<number>]) => {
    computed.push(`${input}${map.get('a')}`);
    return computed.at(-1)!;
  };
  const ask = (input: string, map: ReadonlyMap<string, number>) =>
    memo.ofLookups(compute, subject, [input] as const, [map] as const, new Inconsistencies());
  ask('x', new Map([['a', 1]]));
  ask(
    'x',
    new Map([
      ['a', 1],
      ['b', 2],
    ]),
  );
  expect(computed).toEqual(['x1']);
  ask('x', new Map([['a', 3]]));
  ask('y', new Map([['a', 3]]));
  expect(computed).toEqual(['x1', 'x3', 'y3']);
});

test('two memos share nothing', () => {
  const subject = {};
  const compute = () => ({});
  const [one, other] = [new Memo(), new Memo()];
  expect(one.of(compute, subject)).toBe(one.of(compute, subject));
  expect(one.of(compute, subject)).not.toBe(other.of(compute, subject));
});
