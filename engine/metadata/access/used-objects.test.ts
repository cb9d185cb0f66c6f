/** Tests what changes of objects mean that permissions use, and of those that concern every role. What counts as widened is in
 *  operator/decide/access.test.ts. */
import { describe, expect, test } from 'vitest';
import { differingKeys, objectsByKey } from '../testing/objects-by-key.ts';
import { accessChanges } from './access-changes.ts';

type Given = Readonly<Record<string, unknown>>;

/** Returns one line for each change of access: `reader select changed other (code: …) <- cause`. `common` objects do not change. */
function changes(before: readonly Given[], after: readonly Given[], common: readonly Given[] = []) {
  const [old, next] = [objectsByKey(...common, ...before), objectsByKey(...common, ...after)];
  return accessChanges(differingKeys(old, next), old, next).map(({ change, causes }) => {
    const { role, operation, verdict, parts, isInherited, isIndirect } = change;
    const words = parts.map(({ name, before: was, after: is }) => {
      return `${name}: ${was === null ? is : `${was} → ${is}`}`;
    });
    const how = isInherited ? ' inherited' : isIndirect ? ' indirect' : '';
    return `${role} ${operation} ${change.change} ${verdict}${how} (${words.join('; ')}) <- ${causes.map((key) => key.split('/').at(-1)).join(', ')}`;
  });
}

const inherits = (role_name: string, ...role_set: readonly string[]): Given => ({
  [`inherited_role/${role_name}`]: { role_name, role_set },
});

describe('a native query', () => {
  const query = (more: object = {}, name = 'notes'): Given => ({
    [`native_query/default/${name}`]: {
      root_field_name: name,
      returns: 'note_row',
      code: "select id from note where owner = 'a'",
      ...more,
    },
  });
  const reads = (role: string, model = 'note_row', permission: object = {}): Given => ({
    [`logical_model_permission/default/${model}/${role}`]: {
      role,
      permission: { columns: ['id'], filter: {}, ...permission },
    },
  });
  const model = (name = 'note_row'): Given => ({ [`logical_model/default/${name}`]: { name, fields: [] } });
  const common = [model(), model('other_row'), reads('reader'), reads('stranger', 'other_row')];
  const OTHER =
    'reader select changed other indirect (code: the native query notes has another text or other arguments) <- notes';

  test.each([
    ['code', { code: 'select id from note' }],
    ['an argument more', { arguments: { a: { type: 'integer' } } }],
  ])('%s: the roles that read its model reach other rows, and no others', (_, more) => {
    expect(changes([query()], [query(more)], common)).toEqual([OTHER]);
  });

  test('an argument of another type, or that may be null', () => {
    const withArgument = (argument: object) => query({ arguments: { a: { type: 'integer', ...argument } } });
    expect(changes([withArgument({})], [withArgument({ type: 'text' })], common)).toEqual([OTHER]);
    expect(changes([withArgument({})], [withArgument({ nullable: true })], common)).toEqual([OTHER]);
    expect(
      changes([withArgument({})], [withArgument({ nullable: false, description: 'a' })], common),
    ).toEqual([]);
  });

  test.each([
    ['a description', { description: 'new' }],
    ['space around the code', { code: "\n select id from note where owner = 'a'\n" }],
    ['relationships, whose targets have permissions', { object_relationships: [{ name: 'a', using: {} }] }],
  ])('%s changes nothing', (_, more) => {
    expect(changes([query()], [query(more)], common)).toEqual([]);
  });

  test('the roles that inherit reach other rows as well, one with an own permission by that', () => {
    const roles = [
      ...common,
      inherits('staff', 'reader'),
      inherits('boss', 'staff'),
      inherits('own', 'reader'),
      reads('own'),
    ];
    expect(changes([query()], [query({ code: 'select 1 as id' })], roles)).toEqual([
      OTHER.replace('reader', 'boss').replace('indirect', 'inherited'),
      OTHER.replace('reader', 'own'),
      OTHER,
      OTHER.replace('reader', 'staff').replace('indirect', 'inherited'),
    ]);
  });

  test('another model: those that read it may read the query, those of the old one no longer', () => {
    expect(changes([query()], [query({ returns: 'other_row' })], common)).toEqual([
      'reader select changed narrower indirect (native_queries: notes → none) <- notes',
      'stranger select changed other indirect (code: the native query notes returns it now) <- notes',
    ]);
  });

  test('a new one, and one that is gone', () => {
    expect(changes([], [query()], common)).toEqual([
      'reader select changed wider indirect (native_queries: none → notes) <- notes',
    ]);
    expect(changes([query()], [], common)).toEqual([
      'reader select changed narrower indirect (native_queries: notes → none) <- notes',
    ]);
    // Together with the permission it is one grant.
    expect(changes([], [query(), reads('late')], [model()])).toEqual([
      'late select granted wider (columns: id; filter: all rows) <- late',
    ]);
  });

  test('a permission that changes at the same time has one line for both', () => {
    const narrower = reads('reader', 'note_row', { filter: { id: { _eq: 1 } } });
    const after = [query({ code: 'select 1 as id' }), narrower];
    expect(changes([query(), reads('reader')], after, [model()])).toEqual([
      'reader select changed other (filter: all rows → id is 1; code: the native query notes has another text or other arguments) <- reader, notes',
    ]);
  });
});

describe('a function', () => {
  const search = (configuration: object = {}, more: object = {}): Given => ({
    'function/default/public/search': {
      function: { schema: 'public', name: 'search' },
      configuration,
      ...more,
    },
  });
  const callsAs = (role: string): Given => ({
    [`function_permission/default/public/search/${role}`]: { role },
  });
  const table = (name: string) => ({ response: { type: 'table', table: { schema: 'public', name } } });

  test.each([
    [{}, { session_argument: 's' }, 'session_argument: none → s'],
    [{}, { exposed_as: 'query' }, 'exposed_as: by its volatility → query'],
    [table('a'), table('b'), 'response: public.a → public.b'],
    [table('a'), { response: { type: 'inferred' } }, 'response: public.a → inferred'],
  ])('%j → %j concerns its roles, or every role when it has none', (before, after, part) => {
    const roles = [callsAs('reader'), inherits('staff', 'reader')];
    expect(changes([search(before)], [search(after)], roles)).toEqual([
      `reader call changed other indirect (${part}) <- search`,
      `staff call changed other inherited (${part}) <- search`,
    ]);
    expect(changes([search(before)], [search(after)])).toEqual([
      `null call changed other (${part}) <- search`,
    ]);
  });

  test('names and comments change nothing, nor does a mutation that nobody may call', () => {
    expect(
      changes([search()], [search({ custom_name: 'find' }, { comment: 'new' })], [callsAs('a')]),
    ).toEqual([]);
    expect(changes([search()], [search({ response: { type: 'inferred' } })])).toEqual([]);
    const mutation = { exposed_as: 'mutation' };
    expect(changes([search(mutation)], [search({ ...mutation, session_argument: 's' })])).toEqual([]);
  });

  test('one that gets its first permission is granted to that role', () => {
    expect(changes([search()], [search({ session_argument: 's' }), callsAs('reader')])).toEqual([
      'reader call granted wider () <- reader',
    ]);
  });
});

describe('a relationship in a filter', () => {
  const manual = (table: string, mapping: object = { author_id: 'id' }, more: object = {}) => ({
    manual_configuration: {
      remote_table: { schema: 'public', name: table },
      column_mapping: mapping,
      ...more,
    },
  });
  const related = (using: object, on = 'note', name = 'author', kind = 'object'): Given => ({
    [`${kind}_relationship/default/public/${on}/${name}`]: { name, using },
  });
  const may = (
    role: string,
    filter: object,
    { on = 'note', kind = 'select', part = 'filter' }: { on?: string; kind?: string; part?: string } = {},
  ): Given => ({
    [`${kind}_permission/default/public/${on}/${role}`]: {
      role,
      permission: { columns: ['id'], [part]: filter },
    },
  });
  const uses = { author: { user_id: { _eq: 'X-Engine-User-Id' } } };
  const without = { owner: { _eq: 'X-Engine-User-Id' } };
  const LEADS = 'the relationship author that it uses leads elsewhere';

  test('leads elsewhere: every permission that uses it reaches other rows, and no other', () => {
    const common = [
      may('reader', uses),
      may('writer', uses, { kind: 'insert', part: 'check' }),
      may('editor', { _or: [{ _not: uses }, without] }, { kind: 'delete' }),
      may('stranger', without),
      may('elsewhere', { author: { name: { _eq: 'a' } } }, { on: 'book' }),
      related(manual('person'), 'book'),
      inherits('staff', 'reader'),
    ];
    expect(changes([related(manual('person'))], [related(manual('user'))], common)).toEqual([
      `editor delete changed other indirect (filter: ${LEADS}) <- author`,
      `writer insert changed other indirect (check: ${LEADS}) <- author`,
      `reader select changed other indirect (filter: ${LEADS}) <- author`,
      `staff select changed other inherited (filter: ${LEADS}) <- author`,
    ]);
  });

  test.each<[string, Given, Given]>([
    ['other columns', related(manual('person')), related(manual('person', { editor_id: 'id' }))],
    [
      'another foreign key',
      related({ foreign_key_constraint_on: ['author_id'] }),
      related({ foreign_key_constraint_on: ['editor_id'] }),
    ],
    [
      'columns in place of a foreign key',
      related({ foreign_key_constraint_on: ['author_id'] }),
      related(manual('person')),
    ],
    [
      'another kind',
      related(manual('person')),
      related(manual('person', { id: 'author_id' }), 'note', 'author', 'array'),
    ],
  ])('%s', (_, before, after) => {
    const found = changes([before], [after], [may('reader', uses), may('stranger', without)]);
    expect(found.map((line) => line.replace(/ <- .*/, ''))).toEqual([
      `reader select changed other indirect (filter: ${LEADS})`,
    ]);
  });

  test.each<[string, Given, Given]>([
    [
      'a comment',
      related(manual('person')),
      {
        'object_relationship/default/public/note/author': {
          name: 'author',
          using: manual('person'),
          comment: 'c',
        },
      },
    ],
    [
      'the order of a nested insert',
      related(manual('person')),
      related(manual('person', { author_id: 'id' }, { insertion_order: 'after_parent' })),
    ],
    [
      'the same rows as a list',
      related(manual('person')),
      related(manual('person'), 'note', 'author', 'array'),
    ],
    ['one that no filter uses', related(manual('a'), 'note', 'x'), related(manual('b'), 'note', 'x')],
    ['one that is new', {}, related(manual('person'))],
  ])('%s changes nothing', (_, before, after) => {
    expect(changes([before], [after], [may('reader', uses)])).toEqual([]);
  });

  test('is followed from other tables, through relationships and _exists', () => {
    const common = [
      related(manual('note', { note_id: 'id' }), 'comment', 'note'),
      may('a', { note: uses }, { on: 'comment' }),
      may('b', { _exists: { _table: 'note', _where: uses } }, { on: 'log' }),
      may('c', { note: without }, { on: 'comment' }),
      may('d', { author: { id: { _eq: 1 } } }, { on: 'comment' }),
    ];
    const leads = 'the relationship author of public.note that it uses leads elsewhere';
    expect(changes([related(manual('person'))], [related(manual('user'))], common)).toEqual([
      `a select changed other indirect (filter: ${leads}) <- author`,
      `b select changed other indirect (filter: ${leads}) <- author`,
    ]);
  });

  test('behind a foreign key, whose table only the database knows, any field of the name may be meant', () => {
    const common = [
      related({ foreign_key_constraint_on: ['note_id'] }, 'comment', 'note'),
      may('a', { note: uses }, { on: 'comment' }),
      may('b', { note: without }, { on: 'comment' }),
    ];
    expect(changes([related(manual('person'))], [related(manual('user'))], common)).toEqual([
      'a select changed other indirect (filter: the relationship author of public.note that it may use leads elsewhere) <- author',
    ]);
  });

  test('behind a foreign key, a relationship in the other direction names the table', () => {
    const others = [
      related(manual('person'), 'book'),
      related({ foreign_key_constraint_on: ['b', 'a'] }, 'comment', 'note'),
      related({ foreign_key_constraint_on: ['book_id'] }, 'comment', 'book'),
      related(
        { foreign_key_constraint_on: { table: { schema: 'public', name: 'comment' }, columns: ['a', 'b'] } },
        'note',
        'comments',
        'array',
      ),
      related(
        { foreign_key_constraint_on: { table: { schema: 'public', name: 'comment' }, columns: ['book_id'] } },
        'book',
        'comments',
        'array',
      ),
      may('a', { note: uses }, { on: 'comment' }),
      may('b', { book: uses }, { on: 'comment' }),
    ];
    expect(changes([related(manual('person'))], [related(manual('user'))], others)).toEqual([
      'a select changed other indirect (filter: the relationship author of public.note that it uses leads elsewhere) <- author',
    ]);
  });

  test('of several tables that an unknown one may be is named once', () => {
    const all = (to: string) => [related(manual(to)), related(manual(to), 'book')];
    const common = [
      related({ foreign_key_constraint_on: ['x_id'] }, 'comment', 'x'),
      may('a', { x: uses }, { on: 'comment' }),
    ];
    expect(changes(all('person'), all('user'), common)).toEqual([
      'a select changed other indirect (filter: the relationship author that it may use leads elsewhere) <- author, author',
    ]);
  });

  test('that only one of the filters uses leaves the verdict on the filters', () => {
    const [old, next] = [related(manual('person')), related(manual('user'))];
    const both = { _or: [uses, without] };
    expect(changes([old, may('reader', both)], [next, may('reader', without)])).toEqual([
      expect.stringMatching(/^reader select changed narrower \(filter: [^;]*\) <- reader$/),
    ]);
    expect(changes([old, may('reader', both)], [next, may('reader', uses)])).toEqual([
      expect.stringMatching(/^reader select changed other \(filter: .*; filter: the relationship/),
    ]);
  });

  test('is not a gain for a role that inherits all rows from another parent', () => {
    const common = [may('a', uses), may('b', {}), inherits('staff', 'a', 'b')];
    expect(changes([related(manual('person'))], [related(manual('user'))], common)).toEqual([
      `a select changed other indirect (filter: ${LEADS}) <- author`,
    ]);
  });

  test('to rows of another source', () => {
    const remote = (table: string): Given => ({
      'remote_relationship/default/public/note/author': {
        name: 'author',
        definition: {
          to_source: {
            source: 'users',
            table: { schema: 'public', name: table },
            relationship_type: 'object',
            field_mapping: { author_id: 'id' },
          },
        },
      },
    });
    expect(changes([remote('a')], [remote('b')], [may('reader', uses), may('stranger', without)])).toEqual([
      'reader select changed other indirect (filter: the remote relationship author that it uses leads elsewhere) <- author',
    ]);
  });
});

test('a computed field that calls another function: filters reach other rows, columns have other values', () => {
  const rank = (name: string, more: object = {}): Given => ({
    'computed_field/default/public/note/rank': {
      name: 'rank',
      definition: { function: { schema: 'public', name }, ...more },
    },
  });
  const may = (role: string, permission: object): Given => ({
    [`select_permission/default/public/note/${role}`]: {
      role,
      permission: { columns: ['id'], ...permission },
    },
  });
  const common = [
    may('a', { filter: { rank: { _gt: 3 } } }),
    may('b', { filter: {}, computed_fields: ['rank'] }),
    may('c', { filter: {} }),
  ];
  const OTHER = [
    'a select changed other indirect (filter: the computed field rank that it uses calls its function in another way) <- rank',
    'b select changed other indirect (computed_fields: the computed field rank calls its function in another way) <- rank',
  ];
  expect(changes([rank('f')], [rank('g')], common)).toEqual(OTHER);
  expect(changes([rank('f')], [rank('f', { session_argument: 's' })], common)).toEqual(OTHER);
  expect(changes([rank('f')], [rank('f', { session_argument: null })], common)).toEqual([]);
});

describe('another address', () => {
  const source = (database_url: unknown, more: object = {}): Given => ({
    'source/default': { name: 'default', configuration: { connection_info: { database_url }, ...more } },
  });
  const remote = (definition: object): Given => ({
    'remote_schema/billing': { name: 'billing', definition },
  });
  const OTHER = 'null connect changed other (address: another) <- default';

  test.each([
    ['a URL', source('postgres://u:p@db/a'), source('postgres://u:p@db/b')],
    ['another user', source('postgres://u:p@db/a'), source('postgres://v:p@db/a')],
    ['another variable', source({ from_env: 'A' }), source({ from_env: 'B' })],
    [
      'parameters',
      source({ connection_parameters: { host: 'a', database: 'd', username: 'u', port: 1 } }),
      source({ connection_parameters: { host: 'b', database: 'd', username: 'u', port: 1 } }),
    ],
    [
      'a replica',
      source('postgres://a'),
      source('postgres://a', { read_replicas: [{ database_url: 'postgres://b' }] }),
    ],
  ])('of a source: %s', (_, before, after) => {
    expect(changes([before], [after])).toEqual([OTHER]);
  });

  test('does not repeat the address, which may be a secret', () => {
    const [old, next] = [
      objectsByKey(source('postgres://u:p@db/a')),
      objectsByKey(source('postgres://v:q@db/b')),
    ];
    expect(JSON.stringify(accessChanges(['source/default'], old, next))).not.toContain('postgres');
  });

  test.each([
    ['a password', source('postgres://u:p@db/a'), source('postgres://u:q@db/a')],
    [
      'a password as a parameter',
      source({ connection_parameters: { host: 'a', username: 'u', password: 'p' } }),
      source({ connection_parameters: { host: 'a', username: 'u', password: 'q' } }),
    ],
    [
      'a pool',
      source('postgres://a'),
      {
        'source/default': {
          name: 'default',
          configuration: { connection_info: { database_url: 'postgres://a', pool_settings: { retries: 2 } } },
        },
      },
    ],
    ['a source that is new', {}, source('postgres://a')],
  ] as [string, Given, Given][])('%s is none', (_, before, after) => {
    expect(changes([before], [after])).toEqual([]);
  });

  test('of a remote schema', () => {
    const call = OTHER.replace('default', 'billing');
    expect(changes([remote({ url: 'http://a' })], [remote({ url: 'http://b' })])).toEqual([call]);
    expect(changes([remote({ url: 'http://a' })], [remote({ url_from_env: 'B' })])).toEqual([call]);
    expect(changes([remote({ url: 'http://a' })], [remote({ url: 'http://a', timeout_seconds: 9 })])).toEqual(
      [],
    );
  });
});
