/** Generates values from a JSON Schema, most of them valid: existing names where a name belongs, so that a request passes the first
 *  checks, and an invalid or extreme value in a position or two. In: choices. Out: JSON values. */

import { numberFrom } from '../../engine/json/number.ts';
import type { JsonSchema } from '../../engine/metadata/walk-schema.ts';
import type { Choices } from '../../engine/oracle/testing/choices.ts';
import { hostileJson, hostileText } from '../../engine/oracle/testing/hostile.ts';

/** A marker that the texts need. Statements are not searched for it here; engine/oracle does that. */
const MARKER = 'fuzz';

export const anyText = (choices: Choices): string => hostileText(choices, MARKER);
export const anyJson = (choices: Choices): unknown => hostileJson(choices, MARKER);

const NOWHERE = 'http://127.0.0.1:9/';
const COLUMNS = [
  'id',
  'name',
  'age',
  'tags',
  'details',
  'born',
  'title',
  'author_id',
  'nowhere',
  'constructor',
];
const NAMES = [
  'author',
  'book',
  'books',
  'mood',
  'old_book',
  'search_author',
  'stored',
  'authors',
  'nothing',
  'x',
  '__proto__',
  'toString',
];
const QUERIES = ['{ author { id } }', 'query authors { book { title } }', 'mutation { __typename }', '{', ''];

/** The usual contents of a property, by its name. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  source: ['default', 'default', 'default', 'nothing'],
  schema: ['public', 'public', 'pergola', 'pg_catalog'],
  role: ['reader', 'writer', 'anonymous', 'admin', 'new'],
  role_name: ['new', 'reader', 'admin'],
  column: COLUMNS,
  relationship: ['books', 'author', 'nothing'],
  sql: [
    'select 1',
    'select * from author; select 2',
    'alter table book rename to tome',
    'alter table author rename column name to title',
    'alter table author add column books int',
    'drop table mood cascade',
    'drop function search_author',
    'create table x (id int primary key, "" text)',
    'create table x (id int primary key); drop table x; create table "X""" (id int)',
    'create or replace function search_author(search text) returns int language sql as $$ select 1 $$',
    'begin',
    'commit',
    'rollback; select 1',
    'begin; commit; create table y ()',
    'copy author to stdout',
    'copy author from stdin',
    'set role nobody',
    'set search_path = nowhere; create table z ()',
    "select pg_notify('pergola_metadata', '9/9/9')",
    'select pg_terminate_backend(pg_backend_pid())',
    'listen x; notify x',
    'declare c cursor for select 1; fetch c',
    'insert into author (name) values (null)',
    'alter type nothing add value 1',
    'prepare p as select $1::int; execute p(1)',
    'savepoint attempt; release savepoint attempt',
    '--',
    '',
    ';;',
  ],
  database_url: [
    'postgres://x@127.0.0.1:9/x',
    'postgres://x:y@127.0.0.1:9/x?sslmode=require',
    'postgres://',
    'postgres://x@127.0.0.1:9,127.0.0.1:8/x?target_session_attrs=read-write',
    "host=127.0.0.1 port=9 user=x password='y z'",
    "host='",
    'http://127.0.0.1:9',
    '%',
    '',
  ],
  from_env: [
    'PATH',
    'NOTHING',
    'ENGINE_GRAPHQL_ADMIN_SECRET',
    'ENGINE_GRAPHQL_DATABASE_URL',
    'PGPASSWORD',
    '',
  ],
  value_from_env: ['PATH', 'NOTHING', 'ENGINE_GRAPHQL_ADMIN_SECRET', 'PGPASSWORD', ''],
  webhook_from_env: ['PATH', 'NOTHING', 'ENGINE_GRAPHQL_ADMIN_SECRET'],
  url_from_env: ['PATH', 'NOTHING', 'ENGINE_GRAPHQL_ADMIN_SECRET'],
  dynamic_from_file: ['/proc/self/environ', '/etc/passwd', '../x', '/', ''],
  url: [NOWHERE, 'authors/:id', ':a/:a', '{{NOTHING}}', 'file:///etc/passwd', 'http://[', ''],
  webhook: [NOWHERE, '{{NOTHING}}', 'http://127.0.0.1:99999/', ''],
  handler: [NOWHERE, '{{NOTHING}}', '/relative'],
  host: ['127.0.0.1', ''],
  query: QUERIES,
  template: [
    '{{range $a := $body}}{{range $b := $body}}{{range $c := $body}}{{$c}}{{end}}{{end}}{{end}}',
    '{{$body.x}}',
    '{{ if true }} 1 {{ end }}',
    '{{range',
    '{{$body.a[?].b}}',
    '"',
  ],
  request_transform: ['{{$body}}'],
  order_by: ['asc', 'desc'],
};

/** Integers around the limits of `int`, `bigint`, timers and exact JavaScript numbers. */
const HOSTILE_INTEGERS: readonly unknown[] = [
  -1,
  1.5,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  9_999_999_999,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 63),
  1e21,
  ...['9223372036854775807', '12345678901234567890', '1.0', '1e400'].map(numberFrom),
];

export function valueFor(schema: JsonSchema, choices: Choices, key = '', depth = 0): unknown {
  if (choices.chance(depth === 0 ? 2 : 6)) return anyJson(choices);
  const inner = (of: JsonSchema, name = key) => valueFor(of, choices, name, depth + 1);
  if (schema.anyOf) return inner(choices.of(schema.anyOf));
  if (schema.const !== undefined) return schema.const;
  switch (schema.type) {
    case 'string':
      return textFor(key, choices);
    case 'integer':
      return choices.of(choices.chance(50) ? HOSTILE_INTEGERS : [0, 1, 2, 10]);
    case 'boolean':
      return choices.chance(50);
    case 'null':
      return null;
    case 'array':
      return choices.times(choices.below(4), () => inner(schema.items ?? {}, key));
    case 'object':
      return objectOf(schema, choices, inner);
    default:
      return anyJson(choices);
  }
}

function objectOf(
  { properties = {}, required = [], patternProperties = {}, additionalProperties }: JsonSchema,
  choices: Choices,
  inner: (schema: JsonSchema, key: string) => unknown,
): unknown {
  const chosen = Object.entries(properties).filter(([key]) =>
    choices.chance(required.includes(key) ? 97 : 30),
  );
  const known = chosen.map(([key, schema]) => [key, inner(schema, key)]);
  const patterned = Object.values(patternProperties).flatMap((schema) =>
    choices.times(choices.below(3), () => [textFor('column', choices), inner(schema, 'name')]),
  );
  if (additionalProperties === true) return condition(choices, 0);
  return Object.fromEntries([...known, ...patterned]);
}

/** Generates a boolean expression, valid or not. */
function condition(choices: Choices, depth: number): unknown {
  const inner = () => condition(choices, depth + 1);
  const value = () =>
    choices.of([1, 'X-Engine-User-Id', 'X-Engin-User-Id', 'x-hasura-user-id', null, ['a'], '$', {}]) ??
    anyJson(choices);
  switch (choices.below(depth > 4 ? 2 : 7)) {
    case 0:
      return {};
    case 2:
      return { [choices.of(['_and', '_or', '$and'])]: choices.times(choices.below(3), inner) };
    case 3:
      return { _not: inner() };
    case 4:
      return { _exists: { _table: { schema: 'public', name: choices.of(NAMES) }, _where: inner() } };
    case 5:
      return { [choices.of(['books', 'author', 'books_aggregate'])]: inner() };
    default: {
      const operator = choices.of([
        '_eq',
        '_in',
        '_gt',
        '_like',
        '_is_null',
        '_ceq',
        '_contains',
        '_cast',
        '_none',
      ]);
      return { [choices.of(COLUMNS)]: { [operator]: value() } };
    }
  }
}

function textFor(key: string, choices: Choices): string {
  if (choices.chance(8)) return anyText(choices);
  return choices.of(TEXTS[key] ?? (key.endsWith('name') || key === '' ? NAMES : [...NAMES, ...COLUMNS]));
}
