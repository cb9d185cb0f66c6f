/** Tests that a plan against a real engine refuses changes by which a role reads other rows although its permission stays the same, and that
 *  the engine then serves other rows. Not here: each kind of change (engine/metadata/access/used-objects.test.ts). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { runCommand } from '../../testing/output.ts';
import { testDatabase } from '../../testing/world.ts';
import { run as apply } from './apply.ts';
import { run as plan } from './plan.ts';

const database = testDatabase();
let engine: TestEngine;
let folder: string;

beforeAll(async () => {
  await database.sql(`
    create table person (id int primary key, login text);
    create table note (id int primary key, owner text, author_id int references person, editor_id int references person);
    insert into person values (1, 'a'), (2, 'b');
    insert into note values (1, 'a', 1, 2), (2, 'b', 2, 1);
    create function notes_of(session json default null) returns setof note language sql stable as
      $$ select * from note where session is null or owner = session ->> 'x-engine-user-id' $$;
  `);
  engine = await startTestEngine({ databaseUrl: database.url });
  folder = await mkdtemp(join(tmpdir(), 'pergola-used-'));
});
afterAll(async () => {
  await engine?.close();
  await rm(folder, { recursive: true });
});

const document = (kind: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: 'pergola.dev/v1alpha1', kind, metadata: { name }, spec });

type World = {
  readonly sql?: string;
  readonly column?: string;
  readonly holdBack?: readonly string[];
  readonly configuration?: object;
};

/** Writes resources by which the role reader has the native query `own_notes`, and the notes whose author it is. */
async function write({
  sql = "select id from note where owner = 'a'",
  column = 'author_id',
  holdBack = [],
  configuration = { sessionArgument: 'session' },
}: World) {
  const select = (filter: object) => ({ columns: ['id'], filter });
  const all = [
    document('Engine', 'main', { policies: { holdBack } }),
    document('Table', 'person', { table: 'person' }),
    document('Table', 'note', {
      table: 'note',
      objectRelationships: [
        { name: 'author', manual: { table: 'person', columnMapping: { [column]: 'id' } } },
      ],
      permissions: [
        { role: 'reader', select: select({ author: { login: { _eq: 'X-Engine-User-Id' } } }) },
        { role: 'stranger', select: select({ owner: { _eq: 'X-Engine-User-Id' } }) },
      ],
    }),
    document('LogicalModel', 'note-row', {
      name: 'note_row',
      fields: [{ name: 'id', type: 'integer' }],
      permissions: [{ role: 'reader', select: select({}) }],
    }),
    document('Function', 'notes-of', { function: 'notes_of', configuration }),
    document('NativeQuery', 'own-notes', { name: 'own_notes', sql, returns: 'note_row' }),
  ];
  await writeFile(join(folder, 'all.yaml'), all.join('\n---\n'));
}

const say = (command: typeof plan, ...argv: readonly string[]) =>
  runCommand(command, [
    ...['--engine', engine.url, '--admin-secret', engine.adminSecret, '-f', folder],
    ...argv,
  ]);
const REFUSING = ['--fail-on', 'widened', '--fail-on', 'granted'];

async function idsOf(field: string, role = 'reader') {
  const query = `{ ${field}(order_by: {id: asc}) { id } }`;
  const { data } = await engine.graphql<Record<string, readonly { id: number }[]>>(query, {
    role,
    headers: { 'x-engine-user-id': 'a' },
  });
  return data?.[field]?.map(({ id }) => id);
}

test('the SQL of a native query loses its condition: refused, and other rows are served after apply', async () => {
  await write({});
  expect(await say(apply)).toMatchObject({ code: 0 });
  expect(await idsOf('own_notes')).toEqual([1]);
  await write({ sql: 'select id from note' });
  const line =
    'reader reaches something else of note_row (select); whether more or less is not decided: ' +
    'code: the native query own_notes has another text or other arguments';
  for (const level of ['widened', 'granted']) {
    const { code, out, err } = await say(plan, '--fail-on', level);
    expect([code, err]).toEqual([
      1,
      `refused by --fail-on ${level}: NativeQuery default/own-notes (all.yaml:11): ${line}\n`,
    ]);
    expect(out).toContain(`\n${line}\n`);
  }
  const json = JSON.parse((await say(plan, '-o', 'json')).out);
  expect(json.access).toMatchObject([{ role: 'reader', on: 'note_row', verdict: 'other', isIndirect: true }]);
  expect((await say(plan, '-o', 'markdown')).out).toContain('- reader reaches something else of note_row ');
  // The level that is about the schema passes, because the fields are the same.
  expect(await say(plan, '--fail-on', 'breaking')).toMatchObject({ code: 2, err: '' });
  expect(await say(apply)).toMatchObject({ code: 0 });
  expect(await idsOf('own_notes')).toEqual([1, 2]);
});

test('a relationship of a filter leads elsewhere: refused for the roles whose filter uses it', async () => {
  await write({});
  expect(await say(apply)).toMatchObject({ code: 0 });
  expect([await idsOf('note'), await idsOf('note', 'stranger')]).toEqual([[1], [1]]);
  await write({ column: 'editor_id' });
  const { code, err } = await say(plan, ...REFUSING);
  expect([code, err]).toEqual([
    1,
    'refused by --fail-on widened: Table default/note (all.yaml:5): reader reaches something else of public.note (select); ' +
      'whether more or less is not decided: filter: the relationship author that it uses leads elsewhere\n',
  ]);
  expect(await say(apply)).toMatchObject({ code: 0 });
  expect([await idsOf('note'), await idsOf('note', 'stranger')]).toEqual([[2], [1]]);
});

test('a function without permissions has no session argument any more: refused once, for every role', async () => {
  await write({});
  expect(await say(apply)).toMatchObject({ code: 0 });
  await write({ configuration: {} });
  const { code, out, err } = await say(plan, ...REFUSING);
  expect([code, err]).toEqual([
    1,
    'refused by --fail-on widened: Function default/notes-of (all.yaml:9): every role that reads its table reaches something else of ' +
      'public.notes_of (call); whether more or less is not decided: session_argument: session → none\n',
  ]);
  expect(out.match(/every role that reads its table/g)).toHaveLength(1);
});

test('with holdBack: [Widened] the native query waits until the change is confirmed', async () => {
  await write({});
  expect(await say(apply)).toMatchObject({ code: 0 });
  await write({ sql: 'select id from note', holdBack: ['Widened'] });
  const held = await say(apply);
  expect(held.code).toBe(1);
  expect(held.out + held.err).toContain(
    'it may let role reader reach more rows of note_row: code: the native query own_notes has another text or other arguments',
  );
  expect(await idsOf('own_notes')).toEqual([1]);
  const [, hash] = /confirm-change: ([0-9a-f]+)/.exec(held.out + held.err)!;
  expect(await say(apply, '--confirm-change', hash!)).toMatchObject({ code: 0 });
  expect(await idsOf('own_notes')).toEqual([1, 2]);
});
