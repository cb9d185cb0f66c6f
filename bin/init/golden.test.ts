/** Tests `pergola init` with golden folders: `<case>/schema.sql` is the database, `<case>/resources/` what init writes and
 *  `<case>/summary.txt` what it prints. The resources are valid and become Ready without an edit. `change.sql` changes the database;
 *  `again/` has the files that a second run adds, and `again.txt` what it prints. `messages/` has the help and the messages of bad input.
 *  `make golden` (UPDATE_GOLDEN=1) rewrites them. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { run as apply } from '../../operator/commands/apply.ts';
import { run as validate } from '../../operator/commands/validate.ts';
import { createDatabase } from '../../testing/database.ts';
import { captureOutput } from '../../testing/output.ts';
import { testWorld } from '../../testing/world.ts';
import { run as init } from '../init.ts';
import { compareFile, compareFolder, contentOf, writeTo } from '../testing/golden-folder.ts';

const GOLDEN = join(import.meta.dirname, 'golden');
const LEAGUE = join(GOLDEN, 'league');

let root: string;
afterAll(() => rmSync(root, { recursive: true }));

const { database, engine } = testWorld(() => readFileSync(join(LEAGUE, 'schema.sql'), 'utf8'));

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'pergola-init-'));
}, 180_000);
afterEach(() => vi.restoreAllMocks());

/** Runs a command and returns its exit code and output, without the parts that differ between runs. */
async function said(command: typeof init, ...argv: string[]): Promise<{ code: number; text: string }> {
  const output = captureOutput();
  const code = await command(argv);
  vi.restoreAllMocks();
  return { code, text: plain(output.text) };
}

function plain(text: string): string {
  const name = new URL(database.url).pathname.slice(1);
  return text.replaceAll(root, '.').replaceAll(name, 'league');
}

const fromDatabase = (...argv: string[]) => said(init, '--database-url', database.url, ...argv);
const onEngine = () => ['--engine', engine.url, '--admin-secret', engine.adminSecret];

test('init writes the resources of a database, and they become Ready without an edit', async () => {
  const folder = join(root, 'resources');
  const { code, text } = await fromDatabase('-o', folder, '--role', 'reader', '--readable');
  expect(code).toBe(0);
  compareFile(join(LEAGUE, 'summary.txt'), text);
  compareFolder(join(LEAGUE, 'resources'), folder, plain);
  expect(await said(validate, '-f', folder)).toMatchObject({ code: 0 });
  expect(await said(apply, '-f', folder, ...onEngine())).toMatchObject({ code: 0 });
});

test('the names serve requests, and comments of the database are descriptions', async () => {
  await database.sql(`
    insert into country values ('se', 'Sweden');
    insert into team (name, country_code) values ('Hammarby', 'se'), ('Malmö', 'se');
    insert into account values (1, 'a@example.org', 'x', 'y');
    insert into person values (1, 'Ada', null);
    insert into match (id, home_team_id, away_team_id, referee, created_by) values (1, 1, 2, 1, 1)`);
  const { data, errors } = await engine.graphql(
    `{ match { status home_team { name label country { name } } person { name } created_by_account { email } }
       team(where: {name: {_eq: "Malmö"}}) { home_matches { id } away_matches { id } team_badge { motto } matches_of { id } }
       search_teams(args: {term: "ham"}) { name } sales_order_table { id } season_tickets { _2nd_choice prix prix_2 } }`,
    { role: 'reader' },
  );
  expect(errors).toBeUndefined();
  expect(data).toEqual({
    match: [
      {
        status: 'planned',
        home_team: { name: 'Hammarby', label: 'Hammarby!', country: { name: 'Sweden' } },
        person: { name: 'Ada' },
        created_by_account: { email: 'a@example.org' },
      },
    ],
    team: [{ home_matches: [], away_matches: [{ id: 1 }], team_badge: null, matches_of: [{ id: 1 }] }],
    search_teams: [{ name: 'Hammarby' }],
    sales_order_table: [],
    season_tickets: [],
  });
  const hidden = await engine.graphql('{ account { password_hash } }', { role: 'reader' });
  expect(hidden.errors?.[0]?.message).toContain('password_hash');
  const described = await engine.graphql<{ __type: { description: string } }>(
    '{ __type(name: "team") { description } }',
    { role: 'reader' },
  );
  expect(described.data?.__type.description).toBe('A club.\nIt plays in one country.');
});

test('a second run writes what is new, suggests what belongs in other files, and changes no file', async () => {
  const folder = join(root, 'resources');
  rmSync(join(folder, 'tables/team-person.yaml'));
  writeFileSync(
    join(folder, 'tables/person.yaml'),
    `# Ours.\n${readFileSync(join(folder, 'tables/person.yaml'), 'utf8')}`,
  );
  const before = contentOf(folder);
  expect(await fromDatabase('-o', folder, '--role', 'reader', '--readable')).toMatchObject({
    code: 0,
    text: expect.stringContaining('Nothing in the database league is new.'),
  });
  expect(contentOf(folder)).toEqual(before);

  await database.sql(readFileSync(join(LEAGUE, 'change.sql'), 'utf8'));
  const { code, text } = await fromDatabase('-o', folder, '--role', 'reader', '--readable');
  expect(code).toBe(0);
  compareFile(join(LEAGUE, 'again.txt'), text);
  const after = contentOf(folder);
  for (const [file, content] of before) {
    if (file !== '.pergola-init') expect([file, after.get(file)]).toEqual([file, content]);
  }
  const added = join(root, 'added');
  for (const [file, content] of after) if (!before.has(file)) writeTo(join(added, file), content);
  compareFolder(join(LEAGUE, 'again'), added, plain);
  expect(await said(validate, '-f', folder)).toMatchObject({ code: 0 });
});

test('with --schemas each resource names its JSON Schema, and a second run changes nothing', async () => {
  const [folder, base] = [join(root, 'named'), 'https://docs.example/0.4.0/schemas'];
  const argv = ['-o', folder, '--role', 'reader', '--readable', '--schemas', base];
  expect(await fromDatabase(...argv)).toMatchObject({ code: 0 });
  const line = (kind: string) =>
    `# yaml-language-server: $schema=${base}/pergola.dev/${kind}_v1alpha1.json\n`;
  const files = [...contentOf(folder)].filter(([file]) => file.endsWith('.yaml'));
  for (const [file, text] of files) {
    const kind = /^(?:# )?kind: (\w+)$/m.exec(text)![1]!.toLowerCase();
    // What is commented out has its line commented out, too.
    if (/^kind:/m.test(text)) expect([file, text.slice(0, line(kind).length)]).toEqual([file, line(kind)]);
    else expect([file, text]).toEqual([file, expect.stringContaining(`\n# ${line(kind)}# apiVersion:`)]);
  }
  expect(files.filter(([, text]) => /^# kind:/m.test(text))).not.toEqual([]);
  const before = contentOf(folder);
  expect(await fromDatabase(...argv)).toMatchObject({ code: 0, text: expect.stringContaining('is new.') });
  expect(contentOf(folder)).toEqual(before);
  expect(await said(validate, '-f', folder)).toMatchObject({ code: 0 });
  expect(await said(apply, '-f', folder, ...onEngine())).toMatchObject({ code: 0 });
});

test('the role of a second run gets permissions for the tables of the folder', async () => {
  const folder = join(root, 'resources');
  const { text } = await fromDatabase('-o', folder, '--role', 'clerk', '--readable', '--schema', 'sales');
  expect(text).toContain('1 permission\n');
  expect(readFileSync(join(folder, 'permissions/clerk/sales-order.yaml'), 'utf8')).toContain(
    'name: clerk-sales-order',
  );
  expect(await said(validate, '-f', folder)).toMatchObject({ code: 0 });
});

test('tables of another schema are related to tables of the folder', async () => {
  const folder = join(root, 'by-schema');
  await fromDatabase('-o', folder, '--schema', 'public');
  const { text } = await fromDatabase('-o', folder, '--schema', 'sales');
  expect(readFileSync(join(folder, 'tables/sales-order-2.yaml'), 'utf8')).toContain('- name: team\n');
  expect(text).toContain(
    'add to spec.arrayRelationships\n    - name: orders\n      foreignKey: { columns: [team_id], schema: sales, table: order }\n',
  );
});

test('a table keeps its own name, and those that would take it have longer ones', async () => {
  const other = await createDatabase();
  try {
    await other.sql(
      'create table "a b" (id int); create table "a-b" (id int); create table a_b (id int); create table "a+b" (id int)',
    );
    const { code, text } = await said(init, '--database-url', other.url, '-o', '-');
    expect(code).toBe(0);
    expect(text).toContain('4 tables\n');
    expect(text).toContain(
      'With another name in the API: a b is a_b_table, a+b is a_b_table_2, a-b is a_b_table_3.\n',
    );
    expect(text).not.toContain('Left out');
  } finally {
    await other.drop();
  }
});

test('init prints valid resources to standard output and the summary to standard error', async () => {
  const output: Record<'stdout' | 'stderr', string> = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      output[stream] += String(text);
      return true;
    });
  }
  const argv = ['--schema', 'sales', '-o', '-', '--engine-ref', 'shop', '-n', 'team-a'];
  const code = await init(['--database-url', database.url, ...argv]);
  vi.restoreAllMocks();
  expect(code).toBe(0);
  expect(output.stdout).toBe(`apiVersion: pergola.dev/v1alpha1
kind: Table
metadata:
  name: sales-order
  namespace: team-a
spec:
  engineRef: { name: shop }
  schema: sales
  table: order
`);
  expect(output.stderr).toContain('1 table');
});

test('tables that the user of the URL may not read are left out', async () => {
  const name = `init_${process.pid}`;
  await database.sql(`create role ${name} login; grant select on team to ${name}`);
  const url = new URL(database.url);
  url.username = name;
  const { code, text } = await said(init, '--database-url', url.href, '-o', '-');
  await database.sql(`drop owned by ${name}; drop role ${name}`);
  expect(code).toBe(0);
  expect(text).toContain('kind: Table\nmetadata:\n  name: team\n');
  expect(text.match(/^kind: Table$/gm)).toHaveLength(1);
  expect(text).toContain('the user of the database URL may not read it');
});

/** The arguments of each case of bad input. */
const BAD: readonly (readonly [name: string, ...argv: string[]])[] = [
  ['no-database', '-o', 'x'],
  ['no-folder', '--database-url', 'DATABASE'],
  ['unknown-flag', '--databse-url', 'DATABASE', '-o', 'x'],
  ['word', 'x', '--database-url', 'DATABASE', '-o', 'x'],
  ['no-value', '--database-url', 'DATABASE', '-o'],
  ['role-alone', '--database-url', 'DATABASE', '-o', 'x', '--role', 'reader'],
  ['readable-alone', '--database-url', 'DATABASE', '-o', 'x', '--readable'],
  ['role-admin', '--database-url', 'DATABASE', '-o', 'x', '--role', 'admin', '--readable'],
  ['bad-url', '--database-url', 'mysql://localhost/shop', '-o', 'x'],
  ['unreachable', '--database-url', 'postgres://127.0.0.1:1/shop', '-o', 'x'],
  ['wrong-database', '--database-url', 'ABSENT', '-o', 'x'],
  ['wrong-schema', '--database-url', 'DATABASE', '-o', 'x', '--schema', 'sale'],
  ['broken-folder', '--database-url', 'DATABASE', '-o', 'BROKEN'],
  ['file-as-folder', '--database-url', 'DATABASE', '-o', 'FILE'],
  ['file-in-the-way', '--database-url', 'DATABASE', '-o', 'IN_THE_WAY'],
  ['no-privileges', '--database-url', 'UNPRIVILEGED', '-o', 'x'],
  ['wrong-user', '--database-url', 'NOBODY', '-o', 'x'],
  ['empty-database', '--database-url', 'EMPTY', '-o', 'x'],
  ['help', '--help'],
];

test('bad input has a message that says what to do, and writes nothing', async () => {
  const empty = await createDatabase();
  writeTo(join(root, 'broken/table.yaml'), 'kind: Table\nspec: { table: [ }\n');
  writeTo(join(root, 'file'), '');
  writeTo(join(root, 'in-the-way/tables'), '');
  const user = `init_nothing_${process.pid}`;
  await database.sql(`create role ${user} login`);
  const as = (name: string) => Object.assign(new URL(database.url), { username: name }).href;
  const words: Readonly<Record<string, string>> = {
    DATABASE: database.url,
    EMPTY: empty.url,
    ABSENT: `${database.url}_absent`,
    BROKEN: join(root, 'broken'),
    FILE: join(root, 'file'),
    IN_THE_WAY: join(root, 'in-the-way'),
    UNPRIVILEGED: as(user),
    NOBODY: as('init_absent'),
    x: join(root, 'x'),
  };
  try {
    for (const [name, ...argv] of BAD) {
      const { code, text } = await said(init, ...argv.map((word) => words[word] ?? word));
      const printed = text.replaceAll(new URL(empty.url).pathname.slice(1), 'empty');
      compareFile(join(GOLDEN, 'messages', `${name}.txt`), `${printed}exit ${code}\n`);
    }
  } finally {
    await empty.drop();
    await database.sql(`drop role ${user}`);
  }
  expect(existsSync(join(root, 'x'))).toBe(false);
});
