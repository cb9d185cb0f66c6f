/** Tables that a role must not know of: every data operation of the admin API and every root field × tables without a permission for the role, tables
 *  that are not tracked and tables that do not exist. Rule: docs/guides/security.md: the role cannot tell one from the other. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RuleWorld, startWorld } from './testing/rules.ts';

const TABLES = ['hidden', 'others', 'untracked', 'absent'] as const;

let world: RuleWorld;
beforeAll(async () => {
  const permission = (type: string, table: string, role: string, value: object): [string, object] => [
    `pg_create_${type}_permission`,
    { table, role, permission: value },
  ];
  const all = { columns: '*', filter: {} };
  world = await startWorld({
    sql: `create table seen (id int primary key, text text); create table hidden (id int primary key, text text);
      create table others (id int primary key, text text); create table untracked (id int primary key, text text)`,
    tables: ['seen', 'hidden', 'others'],
    operations: [
      permission('select', 'seen', 'reader', all),
      permission('select', 'others', 'writer', all),
      permission('insert', 'others', 'writer', { columns: '*', check: {} }),
      permission('update', 'others', 'writer', { columns: '*', filter: {} }),
      permission('delete', 'others', 'writer', { filter: {} }),
    ],
  });
});
afterAll(() => world?.close());

/** Returns the status and the body of an answer, with another name in place of the table's. */
async function answerTo(path: string, body: unknown, table: string): Promise<string> {
  const response = await world.engine.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-engine-role': 'reader' },
    body: JSON.stringify(body),
  });
  return `${response.status} ${await response.text()}`.replaceAll(table, 'TABLE');
}

const OPERATIONS: Readonly<Record<string, object>> = {
  select: { columns: ['id'] },
  'select ': { columns: ['nope'], where: { nope: 1 } },
  count: {},
  insert: { objects: [{ id: 1 }] },
  update: { where: { id: 1 }, $set: { text: 'a' } },
  delete: { where: { id: 1 } },
};

const PATHS = ['/v1/query', '/v2/query', '/v1/metadata'] as const;
const NAMES: readonly ((table: string) => unknown)[] = [
  (name) => name,
  (name) => ({ schema: 'public', name }),
];

describe.each(PATHS)('at %s', (path) => {
  test.each(Object.keys(OPERATIONS))('%s', async (operation) => {
    for (const nameOf of NAMES) {
      const answers = await Promise.all(
        TABLES.map((table) =>
          answerTo(
            path,
            { type: operation.trim(), args: { table: nameOf(table), ...OPERATIONS[operation] } },
            table,
          ),
        ),
      );
      expect(new Set(answers).size).toBe(1);
      expect(answers[0]).toMatch(/^4\d\d .*"error"/);
    }
  });
});

test.each([
  (table: string) => `{ ${table} { id } }`,
  (table: string) => `{ ${table}_by_pk(id: 1) { id } }`,
  (table: string) => `{ ${table}_aggregate { aggregate { count } } }`,
  (table: string) => `query ($w: ${table}_bool_exp) { seen { id } }`,
  (table: string) => `{ __type(name: "${table}") { name } }`,
  (table: string) => `{ seen(where: {${table}: {}}) { id } }`,
  (table: string) => `mutation { insert_${table}(objects: []) { affected_rows } }`,
  (table: string) => `mutation { update_${table}(where: {}, _set: {}) { affected_rows } }`,
  (table: string) => `mutation { delete_${table}(where: {}) { affected_rows } }`,
])('a request of GraphQL: %s', async (queryOf) => {
  const answers = await Promise.all(
    TABLES.map((table) => answerTo('/v1/graphql', { query: queryOf(table) }, table)),
  );
  expect(new Set(answers).size).toBe(1);
});
