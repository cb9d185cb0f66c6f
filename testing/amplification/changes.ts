/** Random changes of up to 1 MB that an ordinary editor may cause: objects of the metadata, as the operator puts them for resources, and
 *  migrations. In: random choices. Out: an admin operation. Not here: sending it (generators.ts), GraphQL requests (documents.ts). */
import { condition, listOf, repeated } from './documents.ts';
import type { Random } from './random.ts';
import { TABLES, tableName } from './world.ts';

export type RandomChange = { readonly name: string; readonly operation: { type: string; args: unknown } };

const MOST_BYTES = 1_000_000;

type Put = { readonly key: string; readonly definition: unknown };
type Production = (random: Random, bytes: number) => Put;

/** How many times as long the configuration of a column is as its name. */
const COLUMN_CONFIG = 5;

const table = (random: Random) => tableName(random.below(TABLES));
const tableKey = (name: string) => `default/public/${name}`;
const permissionOn = (random: Random, filter: unknown, columns: unknown = ['id']): Put => ({
  key: `select_permission/${tableKey(table(random))}/editor`,
  definition: { role: 'editor', permission: { columns, filter } },
});
/** JSON.stringify writes no deeper value with the stack of Node. */
const MOST_DEPTH = 1_000;

/** Returns a chain of conditions. */
function chain(random: Random, bytes: number): unknown {
  const step = random.pick(['_not', 'before', 'after', '_and']);
  let inner: unknown = { id: { _eq: 1 } };
  const depth = Math.min(MOST_DEPTH, bytes / (step.length + 6));
  for (let i = 0; i < depth; i++) inner = { [step]: step === '_and' ? [inner] : inner };
  return inner;
}

const PRODUCTIONS: Readonly<Record<string, Production>> = {
  'a filter of many conditions': (random, bytes) =>
    permissionOn(random, { [random.pick(['_and', '_or'])]: listOf(bytes, () => condition(random, 2)) }),
  'a filter of equal relationships': (random, bytes) => {
    const inner = condition(random, 3);
    return permissionOn(random, { _or: listOf(bytes, () => ({ before: inner })) });
  },
  'a deep filter': (random, bytes) => permissionOn(random, chain(random, bytes)),
  'a filter with a long list': (random, bytes) =>
    permissionOn(random, { id: { _in: listOf(bytes, (i) => i) } }),
  'many columns': (random, bytes) =>
    permissionOn(
      random,
      {},
      listOf(bytes, (i) => `c${i}`),
    ),
  'names of columns': (random, bytes) => {
    const name = table(random);
    const config = Object.fromEntries(
      listOf(bytes / COLUMN_CONFIG, (i) => `c${i}`).map((column) => [
        column,
        { custom_name: `x_${column as string}` },
      ]),
    );
    return {
      key: `table/${tableKey(name)}`,
      definition: { table: { schema: 'public', name }, configuration: { column_config: config } },
    };
  },
  'a collection of queries': (random, bytes) => {
    const query = random.pick([`{${table(random)}{id}}`, 'query q($v:Int){a:__typename}', '{', '{...f}']);
    const queries = listOf(bytes, (i) => ({ name: `q${i}`, query }));
    return { key: 'query_collection/many', definition: { name: 'many', definition: { queries } } };
  },
  'a collection with a long query': (random, bytes) => {
    const query = `{${repeated(bytes, (i) => `a${i}:${table(random)}{id}`)}}`;
    return {
      key: 'query_collection/long',
      definition: { name: 'long', definition: { queries: [{ name: 'q', query }] } },
    };
  },
  'a part of a remote schema': (random, bytes) => {
    const type = random.pick([
      (i: number) => `type T${i}{a:Int}`,
      (i: number) => `interface T${i}{a:T${i + 1}}`,
      (i: number) => `enum T${i}{A B}`,
      (i: number) => `union T${i}=T${i + 1}|Item`,
      (i: number) => `input T${i}{a:[T${i + 1}!]!}`,
      (i: number) => `"""d"""scalar T${i}`,
    ]);
    const schema = `type Query{text:String} ${repeated(bytes, type)}`;
    return {
      key: 'remote_schema_permission/service/editor',
      definition: { role: 'editor', definition: { schema } },
    };
  },
  'custom types': (random, bytes) => {
    const fields = (i: number) => [{ name: 'a', type: `[T${random.pick([i, i + 1, 0])}!]!` }];
    const objects = listOf(bytes, (i) => ({ name: `T${i}`, fields: fields(i) }));
    return { key: 'custom_types', definition: random.oneIn(2) ? { objects } : { input_objects: objects } };
  },
  'a role of many roles': (_, bytes) => ({
    key: 'inherited_role/all',
    definition: { role_name: 'all', role_set: listOf(bytes, (i) => `r${i}`) },
  }),
  'a native query': (random, bytes) => {
    const part = random.pick(['{{a}} ', '{{', "'", '$$', '/*', '-- \n', '"', 'select 1; ', '(']);
    const args = { a: { type: 'text', nullable: false } };
    return {
      key: 'native_query/default/native',
      definition: {
        root_field_name: 'native',
        code: `select ${part.repeat(bytes / part.length)}`,
        arguments: args,
        returns: 'm',
      },
    };
  },
  'an action with a template': (random, bytes) => {
    const part = random.pick([
      '{{$body.a}}',
      '{{',
      '{% if true %}',
      '{% for a in $body %}x{% end %}',
      '((((',
      '"a",',
    ]);
    const template = part.repeat(bytes / part.length);
    const definition = {
      handler: 'http://127.0.0.1:9/',
      output_type: 'Int',
      kind: 'synchronous',
      request_transform: { version: 2, template_engine: 'Kriti', body: { action: 'transform', template } },
    };
    return { key: 'action/templated', definition: { name: 'templated', definition } };
  },
  'an endpoint with a long path': (_, bytes) => ({
    key: 'rest_endpoint/path',
    definition: {
      name: 'path',
      url: repeated(bytes, (i) => `:v${i}`, '/'),
      methods: ['GET'],
      definition: { query: { collection_name: 'stored', query_name: 'large' } },
    },
  }),
  'a schedule with a payload': (random, bytes) => ({
    key: 'cron_trigger/cron',
    definition: {
      name: 'cron',
      webhook: 'http://127.0.0.1:9/',
      schedule: random.pick([
        '* * * * *',
        '0 0 30 2 *',
        `${repeated(bytes, (i) => `${i % 60}`, ',')} * * * *`,
      ]),
      include_in_metadata: true,
      payload: listOf(bytes, (i) => ({ i })),
    },
  }),
};

const NAMES = Object.keys(PRODUCTIONS);

/** Returns a dry run of a patch, with which the operator begins, too. */
export function randomResource(random: Random): RandomChange {
  const name = random.pick(NAMES);
  const put = [PRODUCTIONS[name]!(random, random.size(MOST_BYTES))];
  const args = { put, allow_inconsistent_metadata: true, include_keys: true, dry_run: true };
  return { name, operation: { type: 'patch_metadata', args } };
}

const TOKENS = [
  'a;\n',
  ';',
  '\r',
  '\r\n',
  '(',
  "'",
  "''",
  '"',
  '--',
  '-- a\n',
  '/*',
  '*/',
  '\\',
  '$',
  '$$',
  '$a$',
  "e'",
  'begin ',
  'commit;',
  'select 1;\n',
  "insert into t values (1, 'abc');\n",
  'create function f() begin atomic ',
  'copy t from stdin;\n',
  '-- pergola: no-transaction\n',
] as const;

/** Returns a migration that Postgres refuses in most cases. */
export function randomMigration(random: Random, version: number): RandomChange {
  const pattern = Array.from({ length: 1 + random.below(3) }, () => random.pick(TOKENS)).join('');
  const sql = pattern.repeat(Math.max(1, random.size(MOST_BYTES) / pattern.length));
  const args = { migrations: [{ name: `${version}_random.sql`, sql }], allow_out_of_order: true };
  return { name: JSON.stringify(pattern), operation: { type: 'apply_migrations', args } };
}
