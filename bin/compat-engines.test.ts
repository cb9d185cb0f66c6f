/** Tests `pergola compat` against running engines: a recorded engine of the reference, and two engines with a planted difference.
 *  Not here: metadata directories (compat.test.ts). */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildClientSchema, getIntrospectionQuery, printSchema } from 'graphql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import { startTestEngine, type TestEngine } from '../testing/engine.ts';
import { runCommand } from '../testing/output.ts';
import { readRecording } from './compat/recording.ts';
import type { CompatReport } from './compat/report.ts';
import { run } from './compat.ts';
import { RECORDED_SECRET, startRecordedEngine } from './testing/recorded-engine.ts';

const file = join(mkdtempSync(join(tmpdir(), 'pergola-compat-')), 'operations.yaml');
const databases: TestDatabase[] = [];
/** The engine that is replaced, and the one that it is compared with. Each has a database of its own with the same rows. */
let from: TestEngine;
let to: TestEngine;

const TABLES = `
  create table note (id int primary key, owner int not null, text text);
  insert into note values (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'b')`;
const select = (columns: readonly string[]) => ({
  role: 'user',
  permission: { columns, filter: { owner: { _eq: 'X-Engine-User-Id' } }, allow_aggregations: true },
});
const sourceWith = (url: string, columns: readonly string[]) => ({
  version: 3,
  sources: [
    {
      name: 'default',
      kind: 'postgres',
      configuration: { connection_info: { database_url: url } },
      tables: [{ table: 'note', select_permissions: [select(columns)] }],
    },
  ],
});

beforeAll(async () => {
  [from, to] = await Promise.all([start(), start()]);
});
afterAll(async () => {
  await from?.close();
  await to?.close();
  for (const database of databases) await database.drop();
});
beforeEach(async () => {
  await give(from, ['id', 'owner', 'text']);
  await give(to, ['id', 'owner', 'text']);
});

async function start(): Promise<TestEngine> {
  const database = await createDatabase();
  databases.push(database);
  await database.sql(TABLES);
  return startTestEngine({ databaseUrl: database.url, env: { DB: database.url } });
}

async function give(engine: TestEngine, columns: readonly string[], options?: object): Promise<void> {
  const document = sourceWith('', columns);
  const [source] = document.sources;
  const configuration = { connection_info: { database_url: { from_env: 'DB' } } };
  const metadata = { ...document, sources: [{ ...source, configuration }] };
  const { status, body } = await engine.admin('replace_metadata', { metadata, ...options }, { version: 2 });
  expect([status, body]).toEqual([200, expect.anything()]);
}

async function compare(...flags: readonly string[]) {
  const both = [
    ...['--from', from.url, '--from-secret', from.adminSecret, '--from-header-prefix', 'x-engine-'],
    ...['--engine', to.url, '--admin-secret', to.adminSecret, '--compatibility', 'reference'],
  ];
  const { code, out, err } = await runCommand(run, [...both, '-o', 'json', ...flags]);
  expect(err).toBe('');
  return { code, report: JSON.parse(out) as CompatReport };
}

const changed = <T extends { readonly verdict: string }>(list: readonly T[]) =>
  list.filter(({ verdict }) => verdict !== 'same');

function record(operations: readonly object[]): string {
  writeFileSync(file, JSON.stringify(operations));
  return file;
}
const AS_USER = { role: 'user', session: { 'x-hasura-user-id': '1' } };
const LIST = { ...AS_USER, query: 'query list { note { id text } }' };

test('two engines with the same metadata are the same, and replay the same answers', async () => {
  const { code, report } = await compare('--replay', record([LIST]));
  expect([changed(report.metadata), changed(report.schemas), changed(report.operations)]).toEqual([
    [],
    [],
    [],
  ]);
  expect(report.schemas.map(({ role }) => role)).toEqual(['admin', 'user']);
  expect(report.operations).toEqual([{ name: 'list', role: 'user', verdict: 'same', differences: [] }]);
  expect(code).toBe(0);
});

test('a planted difference is found in the metadata, in the schema of the role, and in the answer', async () => {
  await give(to, ['id', 'text']);
  const operation = { ...AS_USER, query: '{ note { id owner } }' };
  const { code, report } = await compare('--replay', record([LIST, operation]));
  expect(code).toBe(1);
  expect(changed(report.metadata)).toEqual([
    {
      object: 'select_permission/default/public/note/user',
      verdict: 'differs',
      findings: [
        { verdict: 'differs', position: '', message: 'the engine has other values at $.permission.columns' },
      ],
    },
  ]);
  const [user] = changed(report.schemas);
  expect(user).toMatchObject({ role: 'user', verdict: 'differs' });
  expect(user!.changes).toContainEqual({
    severity: 'breaking',
    type: 'FIELD_REMOVED',
    description: 'Field note.owner was removed.',
  });
  expect(changed(report.operations)).toEqual([
    {
      name: 'operation 2',
      role: 'user',
      verdict: 'differs',
      differences: [
        'errors: none, and validation-failed at $.selectionSet.note.selectionSet.owner',
        'data differs',
      ],
    },
  ]);
});

test('an object that only one engine has, and one that is inconsistent, differ', async () => {
  await to.admin('pg_drop_select_permission', { table: 'note', role: 'user' });
  const { report } = await compare();
  expect(changed(report.metadata)).toMatchObject([
    {
      object: 'select_permission/default/public/note/user',
      findings: [{ message: 'the engine does not have it' }],
    },
  ]);
  for (const engine of [from, to]) await give(engine, ['id', 'gone'], { allow_inconsistent_metadata: true });
  const inconsistent = await compare();
  expect(changed(inconsistent.report.metadata)).toMatchObject([
    {
      object: 'select_permission/default/public/note/user',
      verdict: 'differs',
      findings: [{ message: expect.stringContaining('gone') }],
    },
  ]);
});

test('rows come in any order without order_by, and in the requested order with it', async () => {
  const sql = (engine: TestEngine, text: string) => engine.admin('run_sql', { sql: text, source: 'default' });
  await sql(to, "delete from note where id = 1; insert into note values (1, 1, 'a')");
  const list = { ...AS_USER, role: 'admin', query: '{ note { id text } }' };
  const aggregate = { query: '{ note_aggregate { nodes { id } aggregate { count } } }' };
  const { report, code } = await compare('--replay', record([list, aggregate]));
  expect([changed(report.operations), code]).toEqual([[], 0]);
  await sql(to, "update note set text = 'c' where id = 2");
  const ordered = { query: '{ note(order_by: {text: asc}) { id } }' };
  const some = { query: '{ note(limit: 1) { id } }' };
  const other = await compare('--replay', record([list, ordered, some]));
  await sql(to, 'truncate note');
  await sql(to, "insert into note values (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'b')");
  expect(
    other.report.operations.map(({ verdict, differences, reason }) => [verdict, reason, differences]),
  ).toEqual([
    ['differs', undefined, ['data.note: 1 of 3 rows differ']],
    ['differs', undefined, ['data.note: the order of the rows differs']],
    ['unknown', 'data.note: 1 of 1 rows differ, and without order_by any rows may be returned', []],
  ]);
});

test('mutations are sent only with --mutations', async () => {
  const mutation = { query: 'mutation add { insert_note_one(object: {id: 9, owner: 1}) { id } }' };
  const recording = record([mutation]);
  const { report, code } = await compare('--replay', recording);
  expect(report.operations.map(({ name, verdict, reason }) => [name, verdict, reason])).toEqual([
    ['add', 'skipped', 'mutations are sent only with --mutations'],
  ]);
  expect(code).toBe(0);
  const sent = await compare('--replay', recording, '--mutations');
  expect(sent.report.operations[0]).toMatchObject({ name: 'add', verdict: 'same' });
  for (const engine of [from, to]) {
    const { data } = await engine.graphql('mutation { delete_note_by_pk(id: 9) { id } }');
    expect(data).toEqual({ delete_note_by_pk: { id: 9 } });
  }
});

describe('subscriptions', () => {
  const found = ({ operations }: CompatReport) =>
    operations.map(({ verdict, differences, reason }) => [verdict, reason, differences]);
  const live = { ...AS_USER, query: 'subscription { note { id text } }' };
  const stream = {
    role: 'admin',
    query: 'subscription { note_stream(batch_size: 1, cursor: {initial_value: {id: 0}}) { id text } }',
    results: 3,
  };

  test('the first results are the same, of a live query and of a stream', async () => {
    const { report, code } = await compare('--replay', record([live, stream]));
    expect(found(report)).toEqual([
      ['same', undefined, []],
      ['same', undefined, []],
    ]);
    expect(code).toBe(0);
  });

  test('a planted difference is found in the result that has it', async () => {
    const sql = (text: string) => to.admin('run_sql', { sql: text, source: 'default' });
    await sql("update note set text = 'c' where id = 2");
    const differ = await compare('--replay', record([live, stream]));
    await sql('delete from note where id = 3');
    const fewer = await compare('--replay', record([stream]), '--wait', '4');
    await sql("update note set text = 'b' where id = 2; insert into note values (3, 2, 'b')");
    expect(found(differ.report)).toEqual([
      ['differs', undefined, ['result 1: data.note: 1 of 2 rows differ']],
      ['differs', undefined, ['result 2: data.note_stream: 1 of 1 rows differ']],
    ]);
    expect(differ.code).toBe(1);
    expect(found(fewer.report)).toEqual([
      ['differs', undefined, ['result 2: data.note_stream: 1 of 1 rows differ', '3 and 2 results in 4 s']],
    ]);
  });

  test('refusals are compared, and what sends nothing is not compared', async () => {
    const refused = { ...AS_USER, query: 'subscription { note { gone } }' };
    const silent = {
      role: 'admin',
      query: 'subscription { note_stream(batch_size: 1, cursor: {initial_value: {id: 9}}) { id } }',
    };
    const { report, code } = await compare('--replay', record([refused, silent]), '--wait', '1');
    expect(found(report)).toEqual([
      ['same', undefined, []],
      ['unknown', 'no result came in 1 s', []],
    ]);
    expect(code).toBe(2);
    await give(to, ['id']);
    const other = await compare('--replay', record([live]));
    expect(found(other.report)).toEqual([
      [
        'differs',
        undefined,
        [
          'result 1: errors: none, and validation-failed at $.selectionSet.note.selectionSet.text',
          'result 1: data differs',
        ],
      ],
    ]);
  });

  test('a recorded engine of the reference is compared, also where it refuses credentials', async () => {
    const rows = [
      { id: 2, text: 'b' },
      { id: 1, text: 'a' },
    ];
    const recorded = await startRecordedEngine({
      metadata: sourceWith('', []),
      schemas: {},
      results: { [live.query]: [{ data: { note: rows } }] },
    });
    const withToken = { ...live, name: 'token', headers: { authorization: 'Bearer none' } };
    const { out } = await runCommand(run, [
      ...['--from', recorded.url, '--from-secret', RECORDED_SECRET],
      ...['--engine', to.url, '--admin-secret', to.adminSecret],
      ...['--replay', record([live, withToken]), '-o', 'json'],
    ]);
    recorded.close();
    const { operations } = JSON.parse(out) as CompatReport;
    expect(operations.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['operation 1', 'same'],
      ['token', 'same'],
    ]);
  });
});

test('a recorded engine of the reference is read, introspected for each role, and replayed', async () => {
  const schemaOf = async (role?: string) => {
    const { data } = await to.graphql<never>(getIntrospectionQuery(), role ? { role } : {});
    return printSchema(buildClientSchema(data!));
  };
  const [admin, user] = [await schemaOf(), await schemaOf('user')];
  const document = JSON.stringify(sourceWith('x', ['id', 'owner', 'text'])).replaceAll(
    'X-Engine-',
    'X-Hasura-',
  );
  const metadata = JSON.parse(document) as { sources: { configuration: object }[] };
  metadata.sources[0]!.configuration = { connection_info: { database_url: { from_env: 'DB' } } };
  const recorded = await startRecordedEngine({
    metadata: { ...metadata, inherited_roles: [{ role_name: 'manager', role_set: ['user'] }] },
    schemas: { admin, user: user.replace('type note {', 'type note {\n  legacy: Int') },
    answers: {
      [LIST.query]: {
        data: {
          note: [
            { text: 'b', id: 2 },
            { text: 'a', id: 1 },
          ],
        },
      },
    },
  });
  const { code, out } = await runCommand(run, [
    ...['--from', recorded.url, '--from-secret', RECORDED_SECRET],
    ...['--engine', to.url, '--admin-secret', to.adminSecret, '--compatibility', 'reference'],
    ...['--replay', record([LIST]), '-o', 'json'],
  ]);
  recorded.close();
  const report = JSON.parse(out) as CompatReport;
  expect(changed(report.metadata).map(({ object, findings }) => [object, findings[0]!.message])).toEqual([
    [
      'select_permission/default/public/note/user',
      expect.stringContaining('it names session variables x-hasura-*'),
    ],
    ['inherited_role/manager', 'the engine does not have it'],
  ]);
  expect(report.options.map(({ option }) => option)).toEqual(['header-prefix']);
  expect(changed(report.schemas)).toEqual([
    {
      role: 'manager',
      verdict: 'unknown',
      changes: [],
      reason: `${recorded.url}: introspection is disabled`,
    },
    {
      role: 'user',
      verdict: 'differs',
      changes: [
        { severity: 'breaking', type: 'FIELD_REMOVED', description: 'Field note.legacy was removed.' },
      ],
    },
  ]);
  expect(report.operations).toEqual([{ name: 'list', role: 'user', verdict: 'same', differences: [] }]);
  const { headers } = recorded.requests.find(({ body }) => body.query === LIST.query)!;
  expect(headers).toMatchObject({ 'x-hasura-role': 'user', 'x-hasura-user-id': '1' });
  expect(code).toBe(1);
});

test('what only the newer schema has is safe, and no difference of the schema', async () => {
  await give(from, ['id', 'text']);
  const { report } = await compare();
  const [user] = report.schemas.filter(({ changes }) => changes.length > 0);
  expect([user?.role, user?.verdict]).toEqual(['user', 'same']);
  expect(new Set(user?.changes.map(({ severity }) => severity))).toEqual(new Set(['safe']));
  await give(to, ['id']);
  const { out } = await runCommand(run, [
    ...['--from', from.url, '--from-secret', from.adminSecret, '--from-header-prefix', 'x-engine-'],
    ...['--engine', to.url, '--admin-secret', to.adminSecret],
  ]);
  expect(out).toMatch(
    /Schemas: 2 roles: 1 the same, 1 different\n {2}differs {4}user\n {13}breaking {3}Field note.text was/,
  );
});

test('a directory beside an engine that has it: what has no effect is said by the engine, and once', async () => {
  const legacy = { name: 'legacy', kind: 'mssql', configuration: {}, tables: [] };
  const { body } = await to.admin<{ sources: object[] }>('export_metadata', {});
  const metadata = {
    ...body,
    sources: [...body.sources, legacy],
    metrics_config: { analyze_query_variables: true },
  };
  const stored = { metadata, allow_inconsistent_metadata: true };
  await to.must('replace_metadata', stored, { version: 2 });
  const exported = file.replace('.yaml', '.metadata.json');
  writeFileSync(exported, JSON.stringify(metadata));
  const { code, out } = await runCommand(run, [
    ...[exported, '--from-header-prefix', 'x-engine-', '--compatibility', 'reference', '-o', 'json'],
    ...['--engine', to.url, '--admin-secret', to.adminSecret],
  ]);
  const report = JSON.parse(out) as CompatReport;
  expect(
    changed(report.metadata).map(({ object, verdict, findings }) => [object, verdict, findings.length]),
  ).toEqual([
    ['source/legacy', 'no effect', 1],
    ['metrics_config', 'no effect', 1],
  ]);
  expect([report.schemas, report.operations, code]).toEqual([[], [], 1]);
});

test('a role without introspection is left out', async () => {
  const disable = { disabled_for_roles: ['user'] };
  for (const engine of [from, to]) await engine.admin('set_graphql_schema_introspection_options', disable);
  const { report, code } = await compare();
  expect(report.schemas.map(({ role, verdict }) => [role, verdict])).toEqual([
    ['admin', 'same'],
    ['user', 'skipped'],
  ]);
  expect(code).toBe(0);
});

test('a wrong secret and a recording that cannot be read have the exit code 2', async () => {
  const wrong = await runCommand(run, [
    '--from',
    from.url,
    '--from-secret',
    'no',
    '--from-header-prefix',
    'x-engine-',
  ]);
  expect([wrong.code, wrong.err]).toEqual([
    2,
    expect.stringMatching(/does not accept the admin secret.*\nGive the secret with --from-secret/),
  ]);
  const recording = record([{ querry: '{ note { id } }' }]);
  const unreadable = await runCommand(run, ['--from', from.url, '--engine', to.url, '--replay', recording]);
  expect([unreadable.code, unreadable.err]).toEqual([2, expect.stringContaining('operation 1: ')]);
});

test('the recording in the guide can be read', async () => {
  const guide = readFileSync(join(import.meta.dirname, '../docs/guides/coming-from-hasura.md'), 'utf8');
  const [, recording = ''] = /```yaml\n([\s\S]*?)```/.exec(guide) ?? [];
  writeFileSync(file, recording);
  expect((await readRecording(file)).map(({ name }) => name)).toEqual([
    'notes of a user',
    'with the token of a client',
    'notes as they come',
  ]);
  const lines = file.replace('.yaml', '.jsonl');
  writeFileSync(lines, '{"query": "{ a }"}\n\n{"query": "{ b }"}\n');
  expect(await readRecording(lines)).toEqual([{ query: '{ a }' }, { query: '{ b }' }]);
});
