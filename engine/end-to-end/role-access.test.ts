/** `get_role_access` agrees with `explain_access` on random permissions of roles, inherited roles and the administrator: for each table,
 *  operation and column. It runs no statement. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import { OPERATIONS } from '../resolve/grant.ts';

const MODELS = 16;
const COLUMNS = ['id', 'title', 'price'];
const TABLES = ['book', 'loan', 'expensive'];
const ROLES = ['ann', 'bob'];
const INHERITED = ['both', 'deep'];

const database = testDatabase();
let engine: TestEngine;

beforeAll(async () => {
  await database.sql(`
    create table book (id int primary key, title text, price int);
    create table loan (id int primary key, title text, price int);
    create view expensive as select distinct id, title, price from book;`);
  engine = await startTestEngine({ databaseUrl: database.url });
});
afterAll(() => engine?.close());

const filter = fc.constantFrom({}, { id: { _gt: 1 } }, { title: { _eq: 'X-Engine-User-Id' } });
/** A permission may name a column that the table does not have, which makes it inconsistent. */
const columns = fc.oneof(
  { weight: 6, arbitrary: fc.subarray(COLUMNS, { minLength: 1 }) },
  { weight: 1, arbitrary: fc.constant(['none']) },
);
const permission = {
  select: fc.record({ columns, filter, allow_aggregations: fc.boolean() }),
  insert: fc.record({ columns, check: filter }),
  update: fc.record({ columns, filter }),
  delete: fc.record({ filter }),
};
const table = (name: string) =>
  fc
    .record(
      Object.fromEntries(
        OPERATIONS.map((operation) => [
          `${operation}_permissions`,
          fc.tuple(
            ...ROLES.map((role) => fc.option(permission[operation].map((p) => ({ role, permission: p })))),
          ),
        ]),
      ),
    )
    .map((lists) => ({
      table: { schema: 'public', name },
      ...Object.fromEntries(
        Object.entries(lists).map(([list, entries]) => [list, entries.filter((entry) => entry !== null)]),
      ),
    }));
const model = fc.tuple(...TABLES.map(table));

type Grant = { readonly role: string; readonly is_consistent: boolean };
type Cell = {
  readonly is_allowed: boolean;
  readonly columns?: readonly string[];
  readonly grants: readonly Grant[];
};
type Row = { readonly table: { readonly name: string } } & Readonly<Record<string, Cell | null>>;
type Answer = {
  readonly roles: readonly { readonly role: string; readonly inherits_from: readonly string[] }[];
  readonly tables: readonly Row[];
};
type Explained = {
  readonly verdict: string;
  readonly reasons: readonly { readonly kind: string }[];
  readonly permissions: readonly Grant[];
};

async function replaceTables(tables: readonly object[]): Promise<void> {
  const { body } = await engine.admin<{ metadata: { sources: readonly object[] } }>(
    'export_metadata',
    {},
    { version: 2 },
  );
  const inherited_roles = [
    { role_name: 'both', role_set: ROLES },
    { role_name: 'deep', role_set: ['both'] },
  ];
  const sources = [{ ...body.metadata.sources[0], tables }];
  const metadata = { ...body.metadata, sources, inherited_roles };
  const args = { metadata, allow_inconsistent_metadata: true };
  await engine.must('replace_metadata', args, { version: 2 });
}

async function kindsOf(request: object): Promise<readonly string[]> {
  const body = await engine.must<Explained>('pg_explain_access', request);
  return body.reasons.map(({ kind }) => kind);
}

test(`${MODELS} random models: the same operations, columns and grants as explain_access`, {
  timeout: 300_000,
}, async () => {
  let allowed = 0;
  let refused = 0;
  for (const tables of fc.sample(model, { numRuns: MODELS, seed: 33 })) {
    await replaceTables(tables);
    for (const role of [...ROLES, ...INHERITED, 'stranger', 'admin']) {
      const { body } = await engine.admin<Answer>('get_role_access', { role });
      expect(body.tables.map((row) => row.table.name)).toEqual(TABLES);
      for (const row of body.tables) {
        for (const operation of OPERATIONS) {
          const cell = row[operation];
          const rows = operation === 'insert' ? { values: {} } : { key: { id: 1 } };
          const request = { table: row.table, role, operation, ...rows };
          const kinds = await kindsOf(request);
          const where = `${role} ${row.table.name} ${operation}`;
          expect(cell?.is_allowed ?? false, where).toBe(!kinds.includes('no_permission'));
          if (cell?.is_allowed) allowed++;
          else refused++;
          if (operation !== 'select' || !cell?.is_allowed) continue;
          for (const column of COLUMNS) {
            const isGranted = !(await kindsOf({ ...request, columns: [column] })).includes(
              'column_not_permitted',
            );
            expect(cell.columns!.includes(column), `${where} ${column}`).toBe(isGranted);
          }
        }
      }
    }
  }
  expect(Math.min(allowed, refused)).toBeGreaterThan(500);
});

test('a right that is inherited names the role that it comes from, and one that parents disagree on the reason', async () => {
  const update = (role: string, column: string) => ({ role, permission: { columns: [column], filter: {} } });
  const select = (role: string, columns: readonly string[]) => ({
    role,
    permission: { columns, filter: { id: { _gt: 1 } } },
  });
  await replaceTables([
    {
      table: { schema: 'public', name: 'book' },
      select_permissions: [select('ann', ['id']), select('bob', ['id', 'title'])],
      update_permissions: [update('ann', 'title'), update('bob', 'price')],
    },
  ]);
  const { body } = await engine.admin<Answer>('get_role_access', { role: 'deep' });
  expect(body.tables[0]).toMatchObject({
    select: {
      columns: ['id', 'title'],
      grants: [{ role: 'ann' }, { role: 'bob', permission: { filter: { id: { _gt: 1 } } } }],
    },
    update: {
      is_allowed: false,
      reason: expect.stringContaining('differ'),
      grants: [{ role: 'ann' }, { role: 'bob' }],
    },
    insert: null,
    delete: null,
  });
  expect(body.roles).toContainEqual({ role: 'deep', inherits_from: ['both'] });
  const { body: roles } = await engine.admin<Answer>('get_role_access', {});
  expect(Object.keys(roles)).toEqual(['roles']);
});

test('masked columns have their names in GraphQL, and a type limits the answer to its table', async () => {
  const select = (role: string, columns: readonly string[], id: number) => ({
    role,
    permission: { columns, filter: { id: { _eq: id } } },
  });
  const select_permissions = [select('ann', ['id'], 1), select('bob', ['id', 'title', 'price'], 2)];
  await replaceTables([
    {
      table: { schema: 'public', name: 'book' },
      configuration: { custom_name: 'Volume', column_config: { title: { custom_name: 'heading' } } },
      select_permissions,
    },
    { table: { schema: 'public', name: 'loan' }, select_permissions },
  ]);
  const { body } = await engine.admin<Answer>('get_role_access', { role: 'both', type: 'Volume' });
  expect(body.tables).toMatchObject([
    {
      table: { name: 'book' },
      select: {
        ...{ columns: ['id', 'title', 'price'], fields: ['id', 'heading', 'price'] },
        ...{ masked_columns: ['title', 'price'], masked_fields: ['heading', 'price'] },
      },
    },
  ]);
  const { body: own } = await engine.admin<Answer>('get_role_access', { role: 'bob', type: 'Volume' });
  expect(own.tables).toMatchObject([{ select: { masked_columns: [], masked_fields: [] } }]);
  const { body: fewer } = await engine.admin<Answer>('get_role_access', { role: 'ann', type: 'Volume' });
  expect(fewer.tables).toMatchObject([{ select: { fields: ['id'] } }]);
  const { body: none } = await engine.admin<Answer>('get_role_access', { role: 'both', type: 'book' });
  expect(none.tables).toEqual([]);
});

test('only the administrator gets an answer', async () => {
  const headers = { 'x-engine-role': 'ann' };
  expect((await engine.admin('get_role_access', { role: 'ann' }, { headers })).status).toBe(400);
});
