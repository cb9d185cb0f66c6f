/** `patch_metadata` with `admit`: which edits fit in a real database, in order of priority, and why the others are left out. Choosing over
 *  scripted judges is in operator/settle/settle.test.ts. */
import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { randomBits } from '../../testing/random-bits.ts';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let engine: AdminTestEngine;

type Put = { readonly key: string; readonly definition: unknown };

const keyOf = (name: string) => `table/default/public/${name}`;
const table = (name: string, configuration: object = {}): Put => ({
  key: keyOf(name),
  definition: { table: name, configuration },
});
const rule = (name: string, columns: readonly string[], role = 'reader'): Put => ({
  key: `select_permission/default/public/${name}/${role}`,
  definition: { role, permission: { columns, filter: {} } },
});
const limited = (name: string, filter: object): Put => ({
  key: `select_permission/default/public/${name}/reader`,
  definition: { role: 'reader', permission: { columns: ['id'], filter } },
});
const remote = (name: string, url: string): Put => ({
  key: `remote_schema/${name}`,
  definition: { name, definition: { url, timeout_seconds: 1 } },
});

type Answer = {
  readonly inconsistent_objects: readonly { readonly key?: string; readonly name: string }[];
  readonly left_out: readonly { readonly key: string; readonly because: string }[];
  readonly held_back?: readonly object[];
  readonly resource_version?: number;
};

const patch = (put: readonly Put[], args: object = {}, admit: object = {}) =>
  engine.must(
    op('patch_metadata', { put, include_keys: true, admit: { protect: 'unchanged', ...admit }, ...args }),
  ) as Promise<Answer>;
const reasons = ({ left_out }: Answer) => left_out.map(({ key, because }) => [key, because]);
const columnsOf = async (name: string) => {
  const { sources } = (await engine.must(op('export_metadata', {}))) as {
    sources: {
      tables: { table: { name: string }; select_permissions?: { permission: { columns: string[] } }[] }[];
    }[];
  };
  const found = sources[0]!.tables.find((one) => one.table.name === name);
  return found?.select_permissions?.map(({ permission }) => permission.columns) ?? found;
};

beforeAll(async () => {
  engine = await startTestEngine();
  const names = ['author', 'book', 'shelf'];
  await engine.must(
    op('run_sql', {
      sql: names.map((name) => `create table ${name} (id int primary key, name text)`).join(';'),
    }),
  );
});
beforeEach(() => engine.must(op('clear_metadata', {})));
afterAll(() => engine.close());

test('what does not fit is left out with what is nested in it, and the rest is written in one request', async () => {
  const answer = await patch([
    table('nowhere'),
    rule('nowhere', ['id']),
    table('author'),
    rule('author', ['id', 'age']),
    rule('author', ['id'], 'writer'),
    { key: keyOf('book'), definition: { table: 'book', configuration: 7 } },
    rule('book', ['id']),
  ]);
  expect(answer.left_out).toEqual([
    { key: keyOf('book'), because: 'refused', reason: expect.any(String), path: ['configuration'] },
    {
      key: 'select_permission/default/public/book/reader',
      because: 'missing',
      missing: keyOf('book'),
    },
    { key: keyOf('nowhere'), because: 'fault', object: expect.objectContaining({ code: 'not-exists' }) },
    {
      key: 'select_permission/default/public/author/reader',
      because: 'fault',
      object: expect.objectContaining({ path: ['permission', 'columns', 1] }),
    },
    {
      key: 'select_permission/default/public/nowhere/reader',
      because: 'missing',
      missing: keyOf('nowhere'),
    },
  ]);
  expect([answer.inconsistent_objects, await columnsOf('author'), await columnsOf('book')]).toEqual([
    [],
    [['id']],
    undefined,
  ]);
});

test('a dry run answers the same and writes nothing', async () => {
  const before = engine.state.snapshot();
  const answer = await patch([table('nowhere'), table('author')], { dry_run: true });
  expect(reasons(answer)).toEqual([[keyOf('nowhere'), 'fault']]);
  expect([engine.state.snapshot().resourceVersion, answer.resource_version]).toEqual([
    before.resourceVersion,
    undefined,
  ]);
});

test('of two objects that take one name the later one is left out, whichever the engine would name', async () => {
  const named = (name: string) => table(name, { custom_name: 'person' });
  for (const [first, second] of [
    ['author', 'book'],
    ['book', 'author'],
  ] as const) {
    const answer = await patch([named(first), table('shelf'), named(second)], { dry_run: true });
    expect(reasons(answer).map(([key]) => key)).toEqual([keyOf(second)]);
  }
  await patch([named('book')]);
  const taken = await patch(
    [table('shelf'), named('author')],
    {},
    { protect: 'listed', listed: [keyOf('book')] },
  );
  expect(reasons(taken)).toEqual([[keyOf('author'), 'fault']]);
  expect(await columnsOf('shelf')).toBeDefined();
});

/** The tables of `wishes` want names of their own and actions want fields, in order of priority. */
const wishes = [
  ...['author', 'book', 'shelf', 'nowhere'].flatMap((name) =>
    ['people', 'things'].map((wanted) => ({ of: name, wanted, put: table(name, { custom_name: wanted }) })),
  ),
  ...['people', 'things', 'people_by_pk'].map((wanted) => ({
    of: `action ${wanted}`,
    wanted,
    put: {
      key: `action/${wanted}`,
      definition: {
        name: wanted,
        definition: {
          kind: 'synchronous',
          type: 'query',
          handler: 'http://127.0.0.1:9',
          output_type: 'String',
        },
      },
    },
  })),
];

/** Returns what must be left out: by priority, what is not in the database, and what wants a field that is taken. */
function losers(chosen: typeof wishes): readonly string[] {
  const taken = new Set<string>();
  return chosen.flatMap(({ of, wanted, put }) => {
    const fields = of.startsWith('action') ? [wanted] : [wanted, `${wanted}_by_pk`];
    if (of === 'nowhere' || fields.some((field) => taken.has(field))) return [put.key];
    for (const field of fields) taken.add(field);
    return [];
  });
}

test('of objects that contest names, those of the highest priority are made, and what does not fit displaces none', async () => {
  const bits = randomBits(7);
  for (let i = 0; i < 40; i++) {
    const shuffled = wishes
      .map((wish) => ({ wish, at: bits() }))
      .toSorted((one, other) => one.at - other.at)
      .map(({ wish }) => wish);
    const chosen = shuffled.filter(({ of }, at) => shuffled.findIndex((other) => other.of === of) === at);
    const answer = await patch(
      chosen.map(({ put }) => put),
      { dry_run: true },
    );
    const left = answer.left_out.map(({ key }) => key).sort();
    expect([i, left]).toEqual([i, losers(chosen).toSorted()]);
  }
});

test('objects that contest a name with an earlier one are found without a search', async () => {
  const names = Array.from({ length: 40 }, (_, i) => `t${i}`);
  await engine.sql(names.map((name) => `create table ${name} (id int)`).join(';'));
  const resolve = vi.spyOn(engine.state.gateway, 'resolve');
  const calls: number[] = [];
  for (const count of [2, 40]) {
    const contesting = names.slice(0, count).map((name) => table(name, { custom_name: 'same' }));
    const tries: number[] = [];
    // A check of the source may resolve once more meanwhile.
    for (let i = 0; i < 3; i++) {
      resolve.mockClear();
      const { left_out: left } = await patch(contesting, { dry_run: true });
      expect(left.length).toBe(count - 1);
      tries.push(resolve.mock.calls.length);
    }
    calls.push(Math.min(...tries));
  }
  expect(calls[1]).toBe(calls[0]);
  resolve.mockRestore();
});

test('an edit that would break an object of somebody else is left out, and one of the own objects waits', async () => {
  await patch([table('author'), rule('author', ['id']), table('book'), rule('book', ['id'])]);
  const relation = (name: string, other: string): Put => ({
    key: `object_relationship/default/public/${name}/other`,
    definition: {
      name: 'other',
      using: {
        manual_configuration: { remote_table: other, column_mapping: { id: 'id' }, insertion_order: null },
      },
    },
  });
  await patch([relation('book', 'author')]);
  const remove = { put: [], remove: [keyOf('author')] };
  const foreign = await patch([], { ...remove, dry_run: true });
  expect(foreign.left_out).toMatchObject([
    { key: keyOf('author'), because: 'breaks', object: { key: relation('book', '').key } },
  ]);
  const own = await patch([], { ...remove, dry_run: true }, { protect: 'listed', listed: [] });
  expect([own.left_out, own.inconsistent_objects.map(({ key }) => key)]).toEqual([
    [],
    [relation('book', '').key],
  ]);
});

test('what needs an object that is not there is left out, also a removal', async () => {
  await patch([table('author')]);
  const needs = { [keyOf('author')]: [keyOf('nowhere')], [keyOf('shelf')]: [keyOf('book')] };
  const answer = await patch(
    [table('nowhere'), table('shelf'), table('book')],
    { remove: [keyOf('author')] },
    { needs },
  );
  expect(reasons(answer)).toEqual([
    [keyOf('nowhere'), 'fault'],
    [keyOf('author'), 'missing'],
  ]);
  expect([await columnsOf('author'), await columnsOf('shelf')]).toEqual([
    expect.anything(),
    expect.anything(),
  ]);
});

test('roles that would inherit from themselves are left out, with the roles on the way', async () => {
  const role = (role_name: string, ...role_set: string[]): Put => ({
    key: `inherited_role/${role_name}`,
    definition: { role_name, role_set },
  });
  await patch([role('b', 'x'), role('a', 'b'), role('x')]);
  const answer = await patch([role('b', 'a')]);
  expect(answer.left_out).toEqual([
    {
      ...{ key: 'inherited_role/b', because: 'cycle', rivals: ['inherited_role/a'] },
      reason: 'found cycle(s) in roles: ["a","b","a"]',
    },
  ]);
});

test('a remote schema that does not answer fits, and one that cannot be reached as configured does not delay others', async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  silent.close();
  const answer = await patch([remote('billing', `http://127.0.0.1:${port}/graphql`), table('author')]);
  expect(answer.left_out).toEqual([]);
  expect(answer.inconsistent_objects).toMatchObject([{ key: 'remote_schema/billing', away: true }]);
});

test('what only lacks a value that is sent later fits, and is not reported', async () => {
  const source: Put = {
    key: 'source/other',
    definition: {
      name: 'other',
      kind: 'postgres',
      configuration: { connection_info: { database_url: { from_env: 'value:other-url' } } },
    },
  };
  const without = await patch([source, table('author')], { dry_run: true });
  expect(without.inconsistent_objects.map(({ key }) => key)).toEqual(['source/other']);
  const sent = await patch([source, table('author')], { dry_run: true }, { unsent_values: ['other-url'] });
  expect([sent.left_out, sent.inconsistent_objects]).toEqual([[], []]);
});

test('a webhook and a remote schema that lack a value which is sent later fit; what lacks another value does not', async () => {
  const lacking = (name: string, value: string): Put => ({
    key: `remote_schema/${name}`,
    definition: { name, definition: { url: `http://127.0.0.1:9/{{value:${value}}}` } },
  });
  const cron: Put = {
    key: 'cron_trigger/nightly',
    definition: {
      ...{ name: 'nightly', schedule: '0 0 * * *', payload: {}, include_in_metadata: true },
      ...{ webhook: 'https://hooks', headers: [{ name: 'authorization', value_from_value: 'token' }] },
    },
  };
  const puts = [lacking('billing', 'token'), lacking('shop', 'other'), cron];
  const sent = await patch(puts, { dry_run: true }, { unsent_values: ['token', 'unused'] });
  expect(sent.left_out.map(({ key }: { key: string }) => key)).toEqual(['remote_schema/shop']);
  expect(sent.inconsistent_objects).toEqual([]);
});

test('a group that breaks clients or lets a role reach more rows is held back, the others are written', async () => {
  const own = { id: { _eq: 'X-Engine-User-Id' } };
  const all = ['author', 'book', 'shelf'].flatMap((name) => [table(name), limited(name, own)]);
  await patch(all);
  const groups = ['author', 'book', 'shelf'].map((name) => ({ keys: [limited(name, {}).key] }));
  const hold_back = { effects: ['breaking', 'widened'], groups };
  const held = await patch(
    [
      limited('author', {}),
      rule('shelf', ['id', 'name'], 'writer'),
      {
        key: limited('book', {}).key,
        definition: { role: 'reader', permission: { columns: [], filter: own } },
      },
      { ...limited('shelf', own), definition: { role: 'reader', permission: { columns: '*', filter: own } } },
    ],
    {},
    { hold_back },
  );
  expect(held.held_back).toEqual([
    {
      group: 1,
      breaks: { first: { role: 'reader', description: expect.stringContaining('book') }, ...ANY_OTHERS },
    },
    {
      group: 0,
      widens: { first: expect.objectContaining({ role: 'reader', verdict: 'wider' }), others: 0 },
    },
  ]);
  expect([await columnsOf('author'), await columnsOf('book'), await columnsOf('shelf')]).toEqual([
    [['id']],
    [['id']],
    ['*', ['id', 'name']],
  ]);
  const confirmed = await patch(
    [
      {
        key: limited('book', {}).key,
        definition: { role: 'reader', permission: { columns: [], filter: own } },
      },
    ],
    {},
    { hold_back: { ...hold_back, groups: [] } },
  );
  expect([confirmed.held_back, await columnsOf('book')]).toEqual([undefined, [[]]]);
});

const ANY_OTHERS = { others: expect.any(Number), roles: 0 };
