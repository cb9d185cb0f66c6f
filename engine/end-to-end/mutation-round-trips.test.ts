/** The fields of a mutation are sent to Postgres together, with the begin and the commit of their transaction: however many there are, they wait
 *  for one answer, as a single field does whose triggers need the session. A failure among them is reported and rolled back as if they were
 *  sent one after the other. Reference: docs/reference/behaviour/mutations.md. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import { type CuttingProxy, openProxy } from '../wire/testing/proxy.ts';

const FIELDS = 8;
const DELAY_MS = 400;

const database = testDatabase();
let proxy: CuttingProxy;
let engine: TestEngine;

beforeAll(async () => {
  await database.sql(`create table note (id int primary key, n int,
      constraint small check (n < 100 or n > 200), constraint large check (n <= 200));
    insert into note select id, 0 from generate_series(1, ${FIELDS}) as id`);
  proxy = await openProxy(database.url);
  engine = await startTestEngine({ databaseUrl: proxy.url });
  await database.sql(`create table part (id int primary key, note int references note deferrable initially deferred);
    create table told (id int primary key, author text);
    create function tell() returns trigger language plpgsql as $$
    begin
      new.author := current_setting('engine.user', true)::json ->> 'x-engine-role';
      return new;
    end $$;
    create trigger tell before insert on told for each row execute function tell()`);
  for (const table of ['note', 'part', 'told']) await engine.admin('pg_track_table', { table });
  await engine.admin('pg_create_array_relationship', {
    table: 'note',
    name: 'parts',
    using: { foreign_key_constraint_on: { table: 'part', column: 'note' } },
  });
});
afterAll(async () => {
  await engine?.close();
  await proxy?.close();
});
beforeEach(() => database.sql('update note set n = 0').then(() => {}));
afterEach(() => {
  proxy.delayMs = 0;
});

/** Returns a mutation with an update of each row. `values` replaces the new value of some. */
function mutation(values: Readonly<Record<number, number>> = {}): string {
  const fields = Array.from({ length: FIELDS }, (_, i) => {
    const value = values[i + 1] ?? i + 1;
    return `f${i + 1}: update_note_by_pk(pk_columns: {id: ${i + 1}}, _set: {n: ${value}}) { id n }`;
  });
  return `mutation { ${fields.join(' ')} }`;
}

const stored = async () => (await database.sql('select n from note order by id')).map((row) => row['n']);

/** Returns the number of answers of Postgres that the operation waited for, and its data. */
async function roundTrips(text: string) {
  proxy.delayMs = DELAY_MS;
  const start = performance.now();
  const { data } = await engine.graphql(text);
  return { trips: Math.floor((performance.now() - start) / DELAY_MS), data };
}

test('they take one round trip', async () => {
  const text = mutation();
  await engine.graphql(text);
  const { trips, data } = await roundTrips(text);
  expect(trips).toBe(1);
  expect(Object.values(data!)).toEqual(Array.from({ length: FIELDS }, (_, i) => ({ id: i + 1, n: i + 1 })));
});

test('so does a field whose trigger reads the session', async () => {
  const insert = (id: number) => `mutation { insert_told_one(object: {id: ${id}}) { author } }`;
  await engine.graphql(insert(1));
  const { trips, data } = await roundTrips(insert(2));
  expect([trips, data]).toEqual([1, { insert_told_one: { author: 'admin' } }]);
});

test('a constraint that is checked by the commit undoes all fields', async () => {
  const fails = 'insert_part_one(object: {id: 1, note: 99}) { id }';
  const works = 'update_note_by_pk(pk_columns: {id: 1}, _set: {n: 5}) { n }';
  for (const fields of [`a: ${works} b: ${fails}`, `a: ${fails} b: ${works}`]) {
    const { data, errors } = await engine.graphql(`mutation { ${fields} }`);
    expect([data, errors?.[0]?.extensions]).toMatchObject([undefined, { code: 'constraint-violation' }]);
  }
  expect((await stored())[0]).toBe(0);
  expect(
    (await engine.graphql(`mutation { a: ${works} b: ${works.replace('5', '6')} }`)).errors,
  ).toBeUndefined();
  expect((await stored())[0]).toBe(6);
});

test.each([1, 3, FIELDS])('when field %i fails, its error is reported and nothing is kept', async (at) => {
  const { data, errors } = await engine.graphql(mutation({ [at]: 100, [FIELDS]: 201 }));
  expect([data, errors?.length]).toEqual([undefined, 1]);
  expect(errors?.[0]?.message).toContain(at === FIELDS ? '"large"' : '"small"');
  expect(await stored()).toEqual(Array.from({ length: FIELDS }, () => 0));
});

/** A field whose result is read by a second statement. */
const INSERT = `insert_note_one(object: {id: 100, n: 1, parts: {data: [{id: 100}]}}) { n parts_aggregate { aggregate { count } } }`;
const DELETE = 'delete_part(where: {id: {_eq: 100}}) { affected_rows }';

test('a field has the rows that it wrote, not those that the next one changed', async () => {
  const { data } = await engine.graphql(
    `mutation { a: ${INSERT} b: ${DELETE} c: delete_note_by_pk(id: 100) { n } }`,
  );
  expect(data).toEqual({
    a: { n: 1, parts_aggregate: { aggregate: { count: 1 } } },
    b: { affected_rows: 1 },
    c: { n: 1 },
  });
});

test('a field that fails behind one of several statements is the one that is reported', async () => {
  const fails = 'update_note_by_pk(pk_columns: {id: 1}, _set: {n: 201}) { n }';
  const { errors } = await engine.graphql(`mutation { a: ${INSERT} b: ${fails} }`);
  expect(errors?.[0]?.message).toContain('"large"');
  expect(await stored()).toHaveLength(FIELDS);
});
