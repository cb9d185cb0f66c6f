/** No secret of a random document is in its objects without secrets, or in a message about them; and every text of the model is either marked
 *  as a secret, a name, or listed here as one that everybody who looks at the metadata may read. */
import '../../testing/seed.ts';
import { assert, constantFrom, property, subarray } from 'fast-check';
import { expect, test } from 'vitest';
import { FULL, replaced, VARIANTS } from '../../testing/metadata-variants.ts';
import { OBJECT_KINDS, OBJECTS, objectsOf } from './objects.ts';
import { parseMetadata } from './parse.ts';
import { KEY_MARK, NAME_MARK, SECRET_MARK } from './schema/marks.ts';
import { type DatabaseUrl, SslConfiguration } from './schema/source.ts';
import { plantedDocument, SECRETS } from './testing/planted-secrets.ts';
import { asJsonSchema, type JsonSchema } from './walk-schema.ts';
import { concealerOf, HIDDEN, withoutSecrets } from './without-secrets.ts';

test('no secret of a random document is shown', () => {
  let planted = 0;
  assert(
    property(
      subarray([...VARIANTS], { minLength: 0, maxLength: 4 }),
      constantFrom(...SECRETS),
      (variants, form) => {
        const document = variants.reduce(replacedBy, FULL);
        const given = plantedDocument(document, form);
        planted += given.secrets.length;
        const objects = [...objectsOf(parseMetadata(given.document)).values()];
        const conceal = concealerOf(objects);
        for (const object of objects) {
          const text = JSON.stringify(withoutSecrets(object));
          for (const secret of given.secrets) expect(text).not.toContain(secret);
        }
        for (const text of given.texts) {
          for (const secret of given.secrets)
            expect(conceal(`found ${text} ${JSON.stringify(text)}`)).not.toContain(secret);
        }
      },
    ),
    { numRuns: 50 },
  );
  expect(planted).toBeGreaterThan(500);
});

/** Makes a change, unless an earlier one has removed the place of it. */
function replacedBy(document: unknown, { path, value }: (typeof VARIANTS)[number]): unknown {
  try {
    return replaced(document, path, value);
  } catch {
    return document;
  }
}

/** The members whose text is no secret and no name that a mark describes: names that have no mark, references to what holds a secret, SQL and
 *  GraphQL documents, comments. `url` is the path of a REST endpoint, `template` that of connections, and `.*` the keys of a record. */
const SHOWN = `
  add_headers.* arguments.* array backend_configs.* code comment conflict_indexes custom_column_names custom_name database
  delete delete_by_pk description dynamic_from_file extensions_schema form_template.* from_env from_file from_value
  function function_aggregate host ignored_client_headers insert insert_one insertion_order mapping mapping.* method name
  namespace parent_type prefix query query_params.* remove_headers root_fields_namespace scalar schedule schedule_at
  select select_aggregate select_by_pk select_stream session_argument sql sslcert sslrootcert suffix table_argument
  template timezone type type_name unique_params update update_by_pk update_many url url_from_env url_from_file
  url_from_value username value_from_env value_from_file value_from_value webhook_from_env webhook_from_file
  webhook_from_value
`
  .trim()
  .split(/\s+/);

test('every text that may hold a secret is marked', () => {
  const texts = new Set(
    OBJECT_KINDS.flatMap((kind) => [...textsOf(asJsonSchema(OBJECTS[kind].schema), kind)]),
  );
  expect([...texts].sort()).toEqual(SHOWN);
});

/** Returns the members of a schema with a free text or any value. */
function* textsOf(schema: JsonSchema, name: string): Generator<string> {
  const marks = schema as { readonly [key: symbol]: unknown };
  if (marks[SECRET_MARK] || marks[NAME_MARK]) return;
  const { anyOf, items, properties, patternProperties } = schema;
  for (const branch of anyOf ?? []) yield* textsOf(branch, name);
  if (items) yield* textsOf(items, name);
  for (const [key, member] of Object.entries(properties ?? {})) yield* textsOf(member, key);
  for (const member of Object.values(patternProperties ?? {})) {
    if (!marks[KEY_MARK]) yield `${name}.*`;
    yield* textsOf(member, name);
  }
  const isAny = schema.type === undefined && !anyOf && schema.const === undefined;
  if (isAny || (schema.type === 'string' && schema.const === undefined)) yield name;
}

test.each([
  ['https://hooks.example.test/T1/secret', 'https://hooks.example.test…'],
  ['https://example.test?key=secret', 'https://example.test…'],
  ['https://user:secret@example.test/', HIDDEN],
  ['https://example.test\\@secret', HIDDEN],
  ['https://example.test', 'https://example.test'],
  ['https://{{HOST}}/secret', 'https://{{HOST}}…'],
  ['{{BASE}}/secret', '{{BASE}}…'],
  ['{{ BASE }}', '{{ BASE }}'],
  ['{{ "secret" }}', HIDDEN],
  ['Bearer {{TOKEN}}', HIDDEN],
  ['', HIDDEN],
])('the URL or header %s is shown as %s', (handler, shown) => {
  const definition = { name: 'a', definition: { handler, output_type: 'A' } };
  expect(withoutSecrets({ kind: 'action', definition })).toEqual({
    name: 'a',
    definition: { handler: shown, output_type: 'A' },
  });
});

test('connections show where secrets are, and none of them', () => {
  const of = (database_url: typeof DatabaseUrl | object | string) =>
    withoutSecrets({
      kind: 'source',
      definition: { name: 's', kind: 'postgres', configuration: { connection_info: { database_url } } },
    });
  const shown = (database_url: object | string) => ({
    name: 's',
    kind: 'postgres',
    configuration: { connection_info: { database_url } },
  });
  expect(of('postgres://user:secret@db/app')).toEqual(shown(HIDDEN));
  expect(of({ from_env: 'URL' })).toEqual(shown({ from_env: 'URL' }));
  const parameters = { username: 'u', database: 'd', host: 'h', port: 5432 };
  expect(of({ connection_parameters: { ...parameters, password: 'secret' } })).toEqual(
    shown({ connection_parameters: { ...parameters, password: HIDDEN } }),
  );
  expect(SslConfiguration.properties.sslkey).not.toEqual(SslConfiguration.properties.sslcert);
});

test('a source that the engine cannot serve is reduced to its name and kind', () => {
  const definition = { name: 's', kind: 'mssql', configuration: { password: 'secret-of-it' } };
  expect(withoutSecrets({ kind: 'source', definition })).toEqual({ name: 's', kind: 'mssql' });
  const object = { key: 'source/s', kind: 'source', parent: null, definition } as const;
  expect(concealerOf([object])('it says secret-of-it')).toBe(`it says ${HIDDEN}`);
});
