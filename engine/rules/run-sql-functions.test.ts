/** Functions that metadata uses and `run_sql` changes: what is refused, and with which sentence. The cases are generated from users of a
 *  function (tracked, computed field, permission on the field), changes, and options.
 *  Rule: docs/reference/behaviour/endpoints.md, "SQL that changes functions". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

const BODY = 'language sql stable as $$ select r.name $$';
const ROWS = 'language sql stable as $$ select * from item $$';
const SQL = `
  create table item (id int primary key, name text);
  create function called(r item) returns text ${BODY};
  create function listed() returns setof item ${ROWS};
  create function spare() returns int language sql stable as $$ select 1 $$;
`;

const FIELD = 'computed field item.called in source "default"';
const dependent = {
  code: 'dependency-error',
  message: `cannot drop due to the following dependent objects: ${FIELD}`,
};
const refused = (message: string) => ({ code: 'not-supported', message });
const ALLOWED = 'allowed';

/** A change of the function `called` of a computed field or of the tracked function `listed`, and how it is answered. */
const CHANGES: readonly (readonly [
  what: string,
  field: string,
  fieldOutcome: object | string,
  tracked: string,
  trackedOutcome: object | string,
])[] = [
  [
    'is renamed',
    'alter function called(item) rename to other',
    dependent,
    'alter function listed() rename to other',
    ALLOWED,
  ],
  ['is dropped', 'drop function called(item)', dependent, 'drop function listed()', ALLOWED],
  [
    'is dropped and created again',
    `drop function called(item); create function called(r item) returns text ${BODY}`,
    dependent,
    `drop function listed(); create function listed() returns setof item ${ROWS}`,
    ALLOWED,
  ],
  [
    'is moved to another schema',
    'create schema elsewhere; alter function called(item) set schema elsewhere',
    dependent,
    'create schema elsewhere; alter function listed() set schema elsewhere',
    ALLOWED,
  ],
  [
    'becomes volatile',
    'alter function called(item) volatile',
    refused(
      'The type of function "called" associated with computed field "called" of table "item" is being altered to "VOLATILE"',
    ),
    'alter function listed() volatile',
    refused('type of function "listed" is altered to "VOLATILE" which is not supported now'),
  ],
  [
    'is overloaded',
    'create function called(r item, n int) returns text language sql stable as $$ select r.name $$',
    refused(
      'The function "called" associated with computed field"called" of table "item" is being overloaded',
    ),
    'create function listed(n int) returns setof item language sql stable as $$ select * from item $$',
    refused('the following tracked function(s) cannot be overloaded: listed'),
  ],
  [
    'becomes immutable',
    'alter function called(item) immutable',
    ALLOWED,
    'alter function listed() immutable',
    ALLOWED,
  ],
  [
    'is replaced',
    `create or replace function called(r item) returns text language sql stable as $$ select upper(r.name) $$`,
    ALLOWED,
    `create or replace function listed() returns setof item language sql stable as $$ select * from item limit 1 $$`,
    ALLOWED,
  ],
  [
    'has a comment',
    `comment on function called(item) is 'c'`,
    ALLOWED,
    `comment on function listed() is 'c'`,
    ALLOWED,
  ],
  ['is left alone', 'drop function spare()', ALLOWED, 'alter function spare() volatile', ALLOWED],
];

let world: RuleWorld;
beforeAll(async () => {
  world = await startWorld({
    sql: SQL,
    tables: ['item'],
    operations: [
      ['pg_add_computed_field', { table: 'item', name: 'called', definition: { function: 'called' } }],
      ['pg_track_function', { function: 'listed' }],
    ],
  });
});
afterAll(() => world.close());

/** Runs the SQL and restores database and metadata. */
async function outcomeOf(sql: string, options: object = {}): Promise<object | string> {
  const { engine, database } = world;
  const metadata = (await engine.admin('export_metadata', {})).body;
  const outcome = await adminOutcome(engine, 'run_sql', { sql, ...options });
  const after = await engine.admin<{
    sources: { tables: { computed_fields?: unknown[] }[]; functions?: unknown[] }[];
  }>('export_metadata', {});
  const [source] = after.body.sources;
  await database.sql(
    `drop schema public cascade; drop schema if exists elsewhere cascade; create schema public; ${SQL}`,
  );
  await engine.admin('reload_metadata', {});
  const restored = await engine.admin(
    'replace_metadata',
    { metadata, allow_inconsistent_metadata: true },
    { version: 2 },
  );
  expect(restored.body).toMatchObject({ is_consistent: true });
  if (!('data' in outcome)) return { code: outcome.code, path: outcome.path, message: outcome.message };
  return {
    fields: source?.tables[0]?.computed_fields?.length ?? 0,
    functions: source?.functions?.length ?? 0,
  };
}

const at = (outcome: object | string, kept: object) =>
  outcome === ALLOWED ? kept : { ...(outcome as object), path: '$.args' };
const isLost = (what: string) => /renamed|moved|is dropped$/.test(what);

describe.each(CHANGES)('a function that %s', (what, field, fieldOutcome, tracked, trackedOutcome) => {
  test('of a computed field', async () => {
    expect(await outcomeOf(field)).toEqual(at(fieldOutcome, { fields: 1, functions: 1 }));
  });
  test('of a computed field, with cascade', async () => {
    const isCascaded = fieldOutcome === dependent;
    const outcome = isCascaded ? ALLOWED : fieldOutcome;
    expect(await outcomeOf(field, { cascade: true })).toEqual(
      at(outcome, { fields: isCascaded ? 0 : 1, functions: 1 }),
    );
  });
  test('that is tracked', async () => {
    expect(await outcomeOf(tracked)).toEqual(
      at(trackedOutcome, { fields: 1, functions: isLost(what) ? 0 : 1 }),
    );
  });
  test.each([field, tracked])('unchecked: %s', async (sql) => {
    const unchecked = { check_metadata_consistency: false };
    expect(await outcomeOf(sql, unchecked)).toEqual({ fields: 1, functions: 1 });
  });
  test.each([field, tracked])('read only: %s', async (sql) => {
    expect(await outcomeOf(sql, { read_only: true })).toMatchObject({
      code: 'postgres-error',
      path: '$.args',
    });
  });
});
