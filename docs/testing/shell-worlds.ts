/** The shell blocks of documents that run on one machine, with the database, the engine, the files and the placeholders that each document
 *  supposes. Not here: blocks that need an API server (cluster-worlds.ts), blocks that this test does not run (not-run.ts). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ShellWorld, WHAT_FOLLOWS } from './shell.ts';
import { CLONE } from './shell-blocks.ts';

const contentOf = (file: string) => readFileSync(join(CLONE, file), 'utf8');
const table = (name: string, role?: string, permission: object = { columns: '*', filter: {} }) => ({
  table: { schema: 'public', name },
  select_permissions: role === undefined ? [] : [{ role, permission }],
});
const BOOKS = `create table book (id int primary key, title text); insert into book values (1, 'Emma')`;
const NOTES = `create table note (id int primary key, owner text, text text, body text);
  insert into note values (1, '1', 'a', 'mine'), (2, '2', 'a', 'not mine')`;

/** The engine, database and secret that placeholders of documents stand for. */
const DATABASE = { 'postgres://…': '{database}' };
const HERE = { 'http://localhost:8080': '{engine}' };
const SECRET = { '--admin-secret …': '--admin-secret {secret}' };
/** The command `up` on the database of the test: a Postgres of its own takes longer to start than all else. */
const UP_HERE = 'pergola up --database-url {database}';
const SERVES = 'serves GraphQL at';

/** The golden folder of `pergola init`, from which the README of a draft is. */
const DRAFT = 'bin/init/golden/shop';
const HASURA_OPTIONS = '--header-prefix x-hasura- --compatibility reference';
/** A migration of Hasura's command line that its record has, and one that it does not have. */
const HASURA_MIGRATIONS = {
  'migrations/default/1600000000000_a/up.sql': 'create table a (id int)',
  'migrations/default/1600000000001_b/up.sql': 'create table b (id int)',
};
const HASURA_STATE = `{"migrations": {"default": {"1600000000000": false}}}`;
const OF_HASURA = {
  version: 3,
  sources: [
    {
      name: 'default',
      kind: 'postgres',
      configuration: { connection_info: { database_url: { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' } } },
      tables: [{ table: { schema: 'public', name: 'book' } }],
    },
  ],
};
const HASURA_CATALOG = `create schema hdb_catalog;
  create table hdb_catalog.hdb_version (hasura_uuid uuid, version text, cli_state jsonb, console_state jsonb);
  insert into hdb_catalog.hdb_version values (gen_random_uuid(), '48', '${HASURA_STATE}', '{}')`;

export const SHELL_WORLDS: Readonly<Record<string, ShellWorld>> = {
  'README.md': {
    sql: BOOKS,
    texts: {
      ...DATABASE,
      // Packages are installed already.
      'npm ci ': ': ',
      $PWD: '{clone}',
      'make start ':
        'serving make -C {clone} -o node_modules/.installed start ARGS="--port {port} --data $PWD/data"; : ',
    },
    rows: [
      {
        begins: 'make start',
        needs: ['make'],
        prints: /(\d+) of \1 resources are Ready[\s\S]*Sign in[\s\S]*Ctrl-C stops everything/,
      },
      {
        begins: 'pergola up --init',
        after: `curl {served}/v1/graphql -H "x-engine-admin-secret: $SECRET" -d '{"query": "{ book { title } }"}'`,
        prints: '{"data":{"book":[{"title":"Emma"}]}}',
      },
      { begins: 'npm ci', prints: 'Commands\n  up ' },
    ],
  },
  [`${DRAFT}/resources/README.md`]: {
    sql: contentOf(`${DRAFT}/schema.sql`),
    copy: `${DRAFT}/resources`,
    rows: [{ begins: 'pergola up .', prints: /(\d+) of \1 resources are Ready/ }],
  },
  'docs/guides/authentication.md': {
    sql: BOOKS,
    tables: [table('book', 'user')],
    env: { ENGINE_GRAPHQL_DATABASE_URL: '{database}' },
    texts: {
      ...DATABASE,
      ...SECRET,
      'https://id.example.com/keys': '{keys}',
      'https://id.example.com/.well-known/jwks.json': '{keys}',
      'https://engine.example.com': '{served}',
      '-----BEGIN PUBLIC KEY-----\\n…': '{publicKey}',
    },
    rows: [
      { begins: 'pergola serve --database-url', prints: '{"data":{"book":[{"title":"Emma"}]}}' },
      {
        begins: 'pergola serve --admin-secret',
        after: `curl {served}/v1/graphql -H "authorization: Bearer $TOKEN" -d '{"query": "{ book { title } }"}'`,
        prints:
          /serves GraphQL at[\s\S]*serves GraphQL at[\s\S]*\{"data":\{"book":\[\{"title":"Emma"\}\]\}\}/,
      },
    ],
  },
  'docs/guides/coming-from-hasura.md': {
    sql: NOTES,
    options: { headerPrefix: 'x-hasura-', compatibility: 'reference' },
    databases: { other: '' },
    tables: [table('note', 'user', { columns: '*', filter: { owner: { _eq: 'X-Hasura-User-Id' } } })],
    env: { HASURA_GRAPHQL_ADMIN_SECRET: '{secret}' },
    files: { 'operations.yaml': 'block: - name: notes of a user' },
    texts: {
      'postgres://… --metadata-database-url postgres://…': '{database} --metadata-database-url {other}',
      'https://hasura.example.com': '{engine}',
      'http://localhost:8080': '{served}',
      'ADMIN_SECRET=…': 'ADMIN_SECRET={secret}',
      'Bearer …': 'Bearer none',
      // 1 says that something differs, which the next line compares, too.
      'compat ./metadata\n': 'compat ./metadata || test $? = 1\n',
      'compat --from https://hasura.example.com': 'compat --from {engine}',
    },
    setUp: 'pergola export ./metadata --as metadata --engine {engine} --header-prefix x-hasura-',
    rows: [
      {
        begins: 'pergola compat ./metadata\n',
        code: 1,
        prints: /^(Metadata: 3 objects: 2 the same, 1 different\n[\s\S]*){2}$/,
      },
      { begins: 'pergola compat ./metadata --header', prints: 'Metadata: 3 objects: 3 the same' },
      {
        begins: 'export ENGINE_GRAPHQL_ADMIN_SECRET',
        prints: /It fits. Nothing was changed.\nDone: \S+ has the metadata of .\/metadata/,
      },
      {
        begins: 'pergola compat --from https://hasura.example.com \\\n',
        before: `pergola serve --database-url {database} --metadata-database-url {other} ${HASURA_OPTIONS}`,
        prints: 'Schemas: 2 roles: 2 the same',
      },
      {
        begins: 'pergola compat --from https://hasura.example.com --engine',
        before: `pergola serve --database-url {database} --metadata-database-url {other} ${HASURA_OPTIONS}`,
        prints: 'Operations: 3 operations: 3 the same',
      },
    ],
  },
  'docs/guides/computed-fields.md': {
    sql: 'of the document',
    tables: [table('member')],
    rows: [{ begins: 'curl "$ENGINE/v1/metadata"', prints: '{"message":"success"}' }],
  },
  'docs/guides/connecting.md': {
    databases: { archive: '' },
    tables: [],
    rows: [{ begins: 'curl "$ENGINE/v1/metadata"', prints: '{"message":"success"}' }],
  },
  'docs/guides/console.md': {
    env: { CONSOLE_SECRET: 'looking' },
    texts: { 'pergola up': UP_HERE },
    rows: [
      {
        begins: 'pergola up --console-secret',
        after: `curl {served}/v1/graphql -H 'x-engine-console-secret: looking' -H 'x-engine-role: anyone' -d '{"query": "{ __typename }"}'`,
        prints: '{"data":{"__typename":"query_root"}}',
      },
    ],
  },
  'docs/guides/existing-database.md': {
    sql: BOOKS,
    rows: [
      { begins: 'pergola up --init', prints: /1 table\n[\s\S]*1 of 1 resources are Ready/ },
      {
        begins: 'pergola init --database-url "$DATABASE_URL" -o resources\n',
        before: 'rm -r resources',
        prints: /1 table\n[\s\S]*1 of 1 resources are Ready/,
      },
      {
        begins: 'pergola init --database-url "$DATABASE_URL" -o resources --role',
        prints: '  1 permission\n',
      },
    ],
  },
  'docs/guides/gitops.md': {
    env: { ENGINE_GRAPHQL_DATABASE_URL: '{database}' },
    files: { 'resources/book.yaml': 'block: # yaml-language-server' },
    setUp: `node -e "import('{clone}/crds/json-schemas.ts').then(({ writeSchemas }) => writeSchemas('packed'))"
      tar -czf pergola-schemas-{version}.tgz -C packed .
      sed -i -e '/^# yaml-language-server/d' -e 's/table: author/table: {schema: public, name: author}/' resources/book.yaml`,
    rows: [
      {
        begins: 'pergola serve --enable-console',
        after: 'curl {served}/console/ -o /dev/null -w "%{http_code}"',
        prints: '200',
      },
      {
        begins: 'mkdir schemas',
        after: 'cat resources/book.yaml',
        prints: /^# yaml-language-server: \$schema=\S*schemas\/pergola\.dev\/table_v1alpha1\.json$/m,
      },
    ],
  },
  'docs/guides/metadata.md': {
    sql: BOOKS,
    databases: {
      old: `${HASURA_CATALOG}; create table hdb_catalog.hdb_metadata (id int primary key, metadata json, resource_version int);
      insert into hdb_catalog.hdb_metadata values (1, '${JSON.stringify(OF_HASURA)}', 1)`,
    },
    tables: [table('book', 'reader')],
    texts: {
      'postgres://…/old': '{old}',
      ...DATABASE,
      ...HERE,
      ...SECRET,
      ' 41 ': ' 3 ',
      // The two lines are two ways to the same folder.
      'pergola export ./resources': 'rm -r resources; pergola export ./resources --engine {engine}',
    },
    rows: [
      { begins: 'curl "$ENGINE/v1/metadata"', prints: '"select_permissions"' },
      {
        begins: 'pergola rollback',
        prints: /^3 .*replace_metadata\n[\s\S]*the metadata of version 3 is now version 4/m,
      },
      {
        begins: 'pergola export ./metadata',
        prints: /files in .\/metadata[\s\S]*It fits[\s\S]*Done: [\s\S]*serves GraphQL at/,
      },
      { begins: 'pergola import ./metadata -o', prints: /(2 files in .\/resources\n){2}No difference\./ },
      { begins: 'pergola import --from-database', prints: /Done: [\s\S]*Migrations applied: 1 of default\./ },
    ],
  },
  'docs/guides/migrations.md': {
    tables: [],
    databases: { old: `create table a (id int); ${HASURA_CATALOG}`, elsewhere: 'create table a (id int)' },
    files: HASURA_MIGRATIONS,
    texts: {
      // A new migration has no statement yet.
      'pergola migrate create add_isbn -f migrations':
        'pergola migrate create add_isbn -f migrations; echo "select 1;" >> migrations/*_add_isbn.sql',
      // 2 says that migrations are pending.
      'pergola migrate status -f migrations --database-url postgres://…':
        'pergola migrate status -f migrations --database-url {database} || test $? = 2',
      'postgres://… --adopt --engine https://…': '{elsewhere} --adopt --engine {engine}',
      'postgres://… --adopt': '{old} --adopt',
      ...DATABASE,
      ...SECRET,
    },
    rows: [
      {
        begins: 'pergola migrate create',
        before: 'mv migrations of-hasura',
        prints: /pending[\s\S]*applied \d+ add_isbn/,
      },
      {
        begins: 'pergola migrate up -f migrations --database-url postgres://… --adopt',
        before: `rm -r migrations; mv of-hasura migrations
          curl {engine}/v1/metadata -H "x-engine-admin-secret: $SECRET" -d '{"type": "set_catalog_state", "args": {"type": "cli", "state": ${HASURA_STATE}}}'`,
        prints: /(1 of 1 recorded versions adopted\napplied 1600000000001 b[\s\S]*){2}/,
      },
      {
        begins: 'pergola serve',
        before: 'pergola export ./metadata --as metadata --engine {engine}',
        prints: SERVES,
      },
    ],
  },
  'docs/guides/operating.md': {
    sql: 'create table ticket (id int primary key, title text, is_closed boolean, team_id int)',
    tables: [table('ticket', 'member', { columns: '*', filter: { team_id: { _eq: 'X-Engine-Team-Id' } } })],
    env: { ENGINE_GRAPHQL_DATABASE_URL: '{database}' },
    rows: [
      {
        begins: 'pergola serve --enabled-apis',
        after: 'curl {served}/v1/metrics -H "authorization: Bearer $SECRET"',
        prints: 'pergola_source_up',
      },
      { begins: 'curl "$ENGINE/v1/graphql/explain"', prints: 'team_id' },
    ],
  },
  'docs/guides/permissions.md': {
    sql: `create table article (id int primary key, title text, author_id int, published boolean);
      insert into article values (1, 'Mine', 7, true), (3, 'Other', 2, true)`,
    tables: [
      table('article', 'author', {
        columns: '*',
        filter: { published: { _eq: true }, author_id: { _eq: 'X-Engine-User-Id' } },
      }),
    ],
    texts: { 'pergola why': 'pergola why --engine {engine}' },
    rows: [
      { begins: 'curl "$ENGINE/v1/graphql"', prints: '{"data":{"article":[{"title":"Mine"}]}}' },
      { begins: 'pergola why', code: 3, prints: WHAT_FOLLOWS },
      { begins: 'curl "$ENGINE/v1/metadata"', prints: '"hidden"' },
    ],
  },
  'docs/guides/releasing.md': {
    // Another version, so that each place that keeps the old one is found.
    texts: { 'version.ts {version}': 'version.ts 9.9.9' },
    setUp: `git -C {clone} ls-files -co --exclude-standard -z | tar -C {clone} --null -T - -c | tar -x
      ln -s {clone}/node_modules node_modules
      git init -q .; git add .
      sed -i 's/^## Unreleased$/&\\n\\n- New./' CHANGELOG.md`,
    rows: [
      {
        begins: 'node deploy/release/version.ts',
        after: `node deploy/release/version.ts
          grep -nE '(pergola|[-v\`:])[^ ]*{version}' README.md docs/guides/*.md charts/*/README.md || true`,
        prints: /^9\.9\.9$/,
      },
      { begins: 'node docs/site/publish.ts', after: 'git branch', prints: /^[0-9a-f]{40}$/ },
    ],
  },
  'docs/guides/rest-endpoints.md': {
    sql: BOOKS,
    tables: [table('book', 'reader')],
    files: { 'resources/rest.yaml': 'block: apiVersion: pergola.dev/v1alpha1\nkind: QueryCollection' },
    setUp: 'pergola apply -f resources --engine {engine}',
    rows: [{ begins: 'curl ', prints: WHAT_FOLLOWS }],
  },
  'docs/guides/reviewing-changes.md': {
    sql: contentOf('deploy/examples/review/api/schema.sql'),
    tables: [],
    copy: 'deploy/examples/review',
    texts: { ...HERE, 'https://api.example.com': '{engine}' },
    setUp: 'pergola apply -f api --engine {engine}; cp api/document.yaml before.yaml',
    rows: [
      {
        begins: 'pergola plan -f api --engine http://localhost:8080',
        before: 'sed s/_and:/_or:/ before.yaml > api/document.yaml',
        code: 1,
        prints: WHAT_FOLLOWS,
      },
      {
        begins: 'pergola plan -f api --engine https://api.example.com',
        before: 'sed "s/\\[id, title\\]/[id]/" before.yaml > api/document.yaml',
        code: 1,
        prints: /breaking: Field document\.title was removed\.[\s\S]*refused by --fail-on breaking-in-use/,
      },
    ],
  },
  'docs/guides/signing-in.md': {
    sql: NOTES,
    tables: [
      table('note', 'user', { columns: ['id', 'body'], filter: { owner: { _eq: 'X-Engine-User-Id' } } }),
    ],
    files: { 'jwt-secret.json': 'block: {\n  "jwk_url": "https://id.example.com/realms' },
    texts: {
      'https://id.example.com/realms/shop/protocol/openid-connect/certs': '{keys}',
      'https://api.example.com': '{served}',
      'pergola up': UP_HERE,
    },
    rows: [
      {
        begins: 'pergola up',
        after: `curl {served}/v1/graphql -H "authorization: Bearer $TOKEN" -d '{"query": "{ __typename }"}'`,
        prints: '{"data":{"__typename":"query_root"}}',
      },
      {
        begins: 'curl https://api.example.com',
        before: 'pergola serve --database-url {database} --jwt-secret "$(cat jwt-secret.json)"',
        prints: '{"data":{"note":[{"id":1,"body":"mine"}]}}',
      },
    ],
  },
  'docs/guides/testing-permissions.md': {
    texts: { 'deploy/examples': '{clone}/deploy/examples' },
    rows: [{ begins: 'pergola test', prints: /(^ok .*\n)+/m }],
  },
  'docs/guides/upgrading.md': {
    files: {
      'resources/book.yaml':
        'apiVersion: pergola.dev/v1alpha1\nkind: Table\nmetadata: {name: book}\nspec:\n  engineRef: {name: main}\n  # kept\n  table: {schema: library, name: book}',
    },
    setUp: 'git init -q . && git add . && git -c user.name=a -c user.email=a@example.com commit -qm first',
    rows: [
      {
        begins: 'pergola convert -f ./resources            #',
        prints: '-  table: {schema: library, name: book}',
      },
    ],
  },
  'docs/reference/behaviour/configuration.md': {
    texts: DATABASE,
    rows: [
      {
        begins: 'ENGINE_GRAPHQL_DATABASE_URL',
        after: `curl -I {served}/v1/version -H 'origin: https://app.example.com'`,
        prints: /access-control-allow-origin: https:\/\/app\.example\.com/i,
      },
    ],
  },
};
