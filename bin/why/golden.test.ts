/** Tests `pergola why` with golden texts: `golden/<case>.txt` is what it prints and its exit code, for answers of a real engine and for
 *  every message of wrong flags. `make golden` (UPDATE_GOLDEN=1) rewrites them. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { replaceMetadata } from '../../testing/engine.ts';
import { captureOutput } from '../../testing/output.ts';
import { testWorld } from '../../testing/world.ts';
import { freePort } from '../free-port.ts';
import { run } from '../why.ts';

const GOLDEN = join(import.meta.dirname, 'golden');

const SCHEMA = `
  create table author (id int primary key, team text);
  create table article (id int primary key, author_id int references author, title text, tags text[],
    published boolean not null default false, notes text, views int not null default 0, data jsonb);
  create schema sales;
  create table sales.invoice (id int primary key, paid boolean);
  insert into author values (1, 'red'), (2, null);
  insert into article (id, author_id, title, published) values (1, 1, 'a', true), (2, 2, 'b', true), (3, null, 'c', false);
  insert into sales.invoice values (1, null);
  update article set views = id, data = '{"a": 1}';
`;

const OWN = { author_id: { _eq: 'X-Engine-User-Id' } };
const TABLES = [
  { table: 'author' },
  {
    table: { schema: 'sales', name: 'invoice' },
    select_permissions: [{ role: 'author', permission: { columns: '*', filter: { paid: { _eq: true } } } }],
  },
  {
    table: 'article',
    object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }],
    select_permissions: [
      {
        role: 'author',
        permission: {
          columns: ['id', 'title', 'author_id'],
          filter: {
            _or: [OWN, { published: { _eq: true }, author: { team: { _in: ['X-Engine-Team', 'all'] } } }],
          },
        },
      },
      {
        role: 'auditor',
        permission: { columns: ['id', 'notes'], filter: { published: { _eq: true } }, limit: 10 },
      },
    ],
    insert_permissions: [
      {
        role: 'author',
        permission: {
          columns: ['id', 'title', 'tags'],
          set: { author_id: 'X-Engine-User-Id' },
          check: { _not: { title: { _eq: 'spam' } } },
        },
      },
      { role: 'drafter', permission: { columns: ['id'], check: { published: { _eq: false } } } },
      { role: 'server', permission: { columns: '*', check: {}, backend_only: true } },
    ],
    update_permissions: [
      {
        role: 'author',
        permission: {
          columns: ['title', 'author_id', 'views', 'data'],
          filter: OWN,
          check: { ...OWN, views: { _lt: 10 } },
        },
      },
    ],
    delete_permissions: [{ role: 'author', permission: { filter: OWN } }],
  },
];

let closedPort: number;

const { engine } = testWorld(SCHEMA);

beforeAll(async () => {
  closedPort = await freePort();
  const inherited_roles = [{ role_name: 'staff', role_set: ['author', 'auditor'] }];
  const { status, body } = await replaceMetadata(engine, { tables: TABLES }, { inherited_roles });
  expect({ status, body }).toMatchObject({ status: 200 });
}, 180_000);
afterEach(() => vi.restoreAllMocks());

const ARTICLE = ['--role', 'author', '--table', 'article'];
const of = (id: number) => [...ARTICLE, '--key', `id=${id}`];
const USER = ['--session', 'x-engine-user-id=1', '--session', 'X-Engine-Team=blue'];
const INSERT = ['--operation', 'insert'];
const UPDATE = ['--operation', 'update'];
const UPSERT = [...INSERT, '--set', 'title=x', '--on-conflict', 'article_pkey'];

/** The flags of each case, besides the engine and its secret. */
const CASES: Readonly<Record<string, readonly string[]>> = {
  help: ['--help'],
  visible: [...of(1), ...USER],
  hidden: [...of(2), ...USER],
  'hidden-without-related-row': [...of(3), ...USER],
  'hidden-in-schema': ['--role', 'author', '--table', 'sales.invoice', '--key', 'id=1'],
  'no-row': [...of(99), ...USER],
  'variable-not-set': of(1),
  'value-of-wrong-type': [...of(1), '--session', 'x-engine-user-id=me', '--session', 'x-engine-team=red'],
  'no-permission': ['--role', 'nobody', '--table', 'article', '--key', 'id=1'],
  'column-not-permitted': [...of(1), ...USER, '--columns', 'title, notes'],
  inherited: ['--role', 'staff', '--table', 'article', '--key', 'id=2', ...USER],
  administrator: ['--role', 'admin', '--table', 'article', '--key', 'id=3'],
  json: [...of(2), ...USER, '-o', 'json'],
  yaml: [...of(1), ...USER, '--columns', 'id', '-o', 'yaml'],
  'insert-allowed': [
    ...ARTICLE,
    ...USER,
    ...INSERT,
    '--set',
    'id=9',
    '--set',
    'title=x',
    '--set',
    'tags:=["a"]',
  ],
  'insert-refused-by-null': [
    ...ARTICLE,
    ...USER,
    ...INSERT,
    '--set',
    'id=9',
    '--set',
    'title:=null',
    '--set',
    'tags:=["a"]',
  ],
  'insert-refused': [...ARTICLE, ...USER, ...INSERT, '--set', 'title=spam'],
  'insert-undecided': ['--role', 'drafter', '--table', 'article', ...INSERT, '--set', 'id=9'],
  'insert-backend-only': ['--role', 'server', '--table', 'article', ...INSERT, '--set', 'id=9'],
  'insert-from-backend': [
    '--role',
    'server',
    '--table',
    'article',
    ...INSERT,
    '--set',
    'id=9',
    '--backend-only',
  ],
  'update-allowed': [...of(1), ...USER, ...UPDATE, '--set', 'title=z'],
  'update-refused': [...of(1), ...USER, ...UPDATE, '--set', 'author_id=2'],
  'update-hidden': [...of(2), ...USER, ...UPDATE, '--set', 'title=z'],
  'update-by-operators': [...of(1), ...USER, ...UPDATE, '--inc', 'views=1', '--append', 'data:={"b": 2}'],
  'update-refused-by-operator': [...of(1), ...USER, ...UPDATE, '--inc', 'views=9', '--delete-key', 'data=a'],
  'update-of-wrong-type': [...of(1), ...USER, ...UPDATE, '--inc', 'title=1'],
  'update-twice': [...of(1), ...USER, ...UPDATE, '--set', 'views=1', '--inc', 'views=1'],
  'upsert-inserts': [...ARTICLE, ...USER, ...UPSERT, '--set', 'id=9', '--update-columns', 'title'],
  'upsert-updates': [...ARTICLE, ...USER, ...UPSERT, '--set', 'id=1', '--update-columns', 'title'],
  'upsert-hidden': [...ARTICLE, ...USER, ...UPSERT, '--set', 'id=2', '--update-columns', 'title'],
  'upsert-does-nothing': [...ARTICLE, ...USER, ...UPSERT, '--set', 'id=1'],
  'upsert-where': [
    ...[...ARTICLE, ...USER, ...UPSERT, '--set', 'id=1', '--update-columns', 'title'],
    ...['--conflict-where', '{"title": {"_eq": "z"}}'],
  ],
  'upsert-without-update-permission': [
    ...[
      '--role',
      'drafter',
      '--table',
      'article',
      ...UPSERT.filter((flag) => flag !== 'title=x' && flag !== '--set'),
    ],
    ...['--set', 'id=9', '--update-columns', 'id'],
  ],
  'upsert-of-wrong-constraint': [...ARTICLE, ...USER, ...INSERT, '--set', 'id=1', '--on-conflict', 'nope'],
  'rows-of-select': [...ARTICLE, ...USER, '--where', '{}'],
  'rows-of-update': [...ARTICLE, ...USER, ...UPDATE, '--where', '{"id": {"_lt": 3}}', '--inc', 'views=9'],
  'rows-all-visible': [...ARTICLE, ...USER, '--where', '{"id": {"_eq": 1}}'],
  'rows-none': [...ARTICLE, ...USER, '--where', '{"id": {"_eq": 99}}'],
  'rows-of-wrong-condition': [...ARTICLE, ...USER, '--where', '{"nope": {"_eq": 1}}'],
  'fields-absent': [...ARTICLE, '--fields', 'title,notes,author,article_aggregate,delete_article_by_pk'],
  'fields-present': [...ARTICLE, '--fields', 'title,insert_article'],
  'fields-of-row': [...of(1), ...USER, '--fields', 'title,notes'],
  'fields-of-rows': [...ARTICLE, ...USER, '--where', '{"id": {"_eq": 1}}', '--fields', 'title'],
  'fields-unknown': [...ARTICLE, '--fields', 'title,nope'],
  'delete-hidden': [...of(2), ...USER, '--operation', 'delete'],
  'wrong-table': ['--role', 'author', '--table', 'nope', '--key', 'id=1'],
  'wrong-source': [...of(1), '--source', 'nope'],
  'wrong-column': [...ARTICLE, '--key', 'nope=1'],
  'wrong-value': [...ARTICLE, '--key', 'id=one', ...USER],
  'ambiguous-key': [...ARTICLE, '--key', 'published=true', ...USER],
  'flag-unknown': ['--rol', 'author'],
  'flag-role-missing': ['--table', 'article', '--key', 'id=1'],
  'flag-table-missing': ['--role', 'author', '--key', 'id=1'],
  'flag-key-missing': ARTICLE,
  'flag-key-without-value': [...ARTICLE, '--key', 'id'],
  'flag-key-twice': [...ARTICLE, '--key', 'id=1', '--key', 'id=2'],
  'flag-key-of-insert': [...of(1), ...INSERT],
  'flag-set-not-json': [...of(1), ...UPDATE, '--set', 'title:=z'],
  'flag-set-of-select': [...of(1), '--set', 'title=z'],
  'flag-columns-of-delete': [...of(1), '--operation', 'delete', '--columns', 'id'],
  'flag-fields-of-update': [...of(1), ...UPDATE, '--fields', 'title'],
  'flag-where-not-json': [...ARTICLE, '--where', 'id=1'],
  'flag-where-and-key': [...of(1), '--where', '{}'],
  'flag-where-of-insert': [...ARTICLE, ...INSERT, '--where', '{}'],
  'flag-inc-of-insert': [...ARTICLE, ...INSERT, '--inc', 'views=1'],
  'flag-inc-without-value': [...of(1), ...UPDATE, '--inc', 'views'],
  'flag-on-conflict-of-update': [...of(1), ...UPDATE, '--on-conflict', 'article_pkey'],
  'flag-update-columns-alone': [...ARTICLE, ...INSERT, '--update-columns', 'title'],
  'flag-conflict-where-not-json': [...ARTICLE, ...UPSERT, '--conflict-where', 'title=z'],
  'flag-operation-unknown': [...of(1), '--operation', 'upsert'],
  'flag-session-without-value': [...of(1), '--session', 'x-engine-user-id'],
  'flag-session-without-prefix': [...of(1), '--session', 'User-Id=7'],
  'flag-output-unknown': [...of(1), '-o', 'xml'],
  'flag-engine-no-url': [...of(1), '--engine', 'localhost'],
};

test.each(Object.entries(CASES))('%s', async (name, argv) => {
  const hasEngine = argv.includes('--engine');
  const text = await printed(hasEngine ? argv : [...argv, ...onEngine()]);
  compare(join(GOLDEN, `${name}.txt`), text);
});

test('an engine that does not answer, and a wrong secret, are named', async () => {
  const nowhere = ['--engine', `http://127.0.0.1:${closedPort}`, '--admin-secret', 'hush'];
  const unreachable = await printed([...of(1), ...nowhere]);
  expect(unreachable).toMatch(/^pergola why: the engine at .* does not answer: .*\nexit 1\n$/s);
  const refused = await printed([...of(1), '--engine', engine.url, '--admin-secret', 'hush']);
  expect(refused).toContain('does not accept the admin secret');
  expect(refused + unreachable).not.toContain('hush');
});

test('every golden text belongs to a case', () => {
  expect(readdirSync(GOLDEN).sort()).toEqual(
    Object.keys(CASES)
      .map((name) => `${name}.txt`)
      .sort(),
  );
});

const onEngine = () => ['--engine', engine.url, '--admin-secret', engine.adminSecret];

/** Returns what the command prints, and its exit code. */
async function printed(argv: readonly string[]): Promise<string> {
  const output = captureOutput();
  const code = await run(argv);
  vi.restoreAllMocks();
  return `${output.text.replaceAll(engine.url, 'http://engine')}exit ${code}\n`;
}

function compare(file: string, text: string): void {
  if (process.env['UPDATE_GOLDEN']) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  expect(text).toBe(existsSync(file) ? readFileSync(file, 'utf8') : '');
}
