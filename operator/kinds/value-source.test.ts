/** A value has the same five members wherever it stands, and each becomes what the metadata has for it. */
import type { MetadataObject } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { KINDS, kindOf } from '../kinds.ts';
import { OWN_SECRET, type TranslateContext, type ValueSource } from './kind.ts';
import { problemsOf } from './validate.ts';

const REF = { name: 'keys', key: 'token' };
/** Each member with the value of the metadata that it stands for. */
const MEMBERS: readonly (readonly [ValueSource, unknown])[] = [
  [{ value: 'https://a' }, 'https://a'],
  [{ env: 'A' }, { from_env: 'A' }],
  [{ file: '/run/a' }, { from_file: '/run/a' }],
  [{ secretKeyRef: REF }, { from_value: 'team/keys/token' }],
  [{ configMapKeyRef: REF }, 'https://map'],
];
/** The paths at which a translation has read a Secret or ConfigMap. */
const read: string[] = [];
const context: TranslateContext = {
  valueFrom: ({ secretKeyRef }, path) => {
    read.push(path);
    return secretKeyRef ? { from_value: 'team/keys/token' } : 'https://map';
  },
};

/** How the metadata has a value: as fields of an object (`url`, `url_from_env`), as an object, as a template, or as the URL of a database. */
type Form = 'fields' | 'object' | 'template' | 'url';
/** A position of a value: the rest of the spec, the kind of the object of the metadata, the path in its definition, and the form. */
type Position = {
  readonly rest: object;
  readonly object: string;
  readonly at: string;
  readonly form: Form;
};

const A = { value: 'http://a' };
const DATABASE = { env: 'A' };
const TLS = { mode: 'VerifyFull', certificate: DATABASE, key: DATABASE };
const PARAMETERS = { host: 'a', port: 5432, database: 'a', username: 'a' };

/** The values of a connection, by their path: the connection without it, the path in `connection_info`, and the form. */
const OF_CONNECTION: Readonly<Record<string, readonly [rest: object, at: string, form: Form]>> = {
  url: [{}, 'database_url', 'url'],
  'parameters.password': [
    { parameters: PARAMETERS },
    'database_url.connection_parameters.password',
    'object',
  ],
  'tls.rootCertificate': [{ url: DATABASE, tls: TLS }, 'ssl_configuration.sslrootcert', 'object'],
  'tls.certificate': [{ url: DATABASE, tls: TLS }, 'ssl_configuration.sslcert', 'object'],
  'tls.key': [{ url: DATABASE, tls: TLS }, 'ssl_configuration.sslkey', 'object'],
  'tls.keyPassword': [{ url: DATABASE, tls: TLS }, 'ssl_configuration.sslpassword', 'object'],
};
/** The connections of a Source, and where the metadata has each. */
const CONNECTIONS: Readonly<Record<string, readonly [rest: (connection: object) => object, at: string]>> = {
  connection: [(connection) => ({ connection }), 'configuration.connection_info'],
  'readReplicas[]': [
    (connection) => ({ connection: { url: DATABASE }, readReplicas: [{ name: 'a', ...connection }] }),
    'configuration.read_replicas.0',
  ],
  'connectionSet[]': [
    (connection) => ({ connection: { url: DATABASE }, connectionSet: [{ name: 'a', ...connection }] }),
    'configuration.connection_set.0.connection_info',
  ],
};
/** The operations whose input a webhook may validate, with the rest of their permission. */
const VALIDATED = { insert: { check: {} }, update: { columns: ['a'], filter: {} }, delete: { filter: {} } };

/** Returns the positions of a URL and of the headers beside it. */
function called(
  kind: string,
  field: string,
  rest: object,
  object: string,
  at: string,
  form: Form,
  headers: string,
): readonly (readonly [string, Position])[] {
  return [
    [`${kind}.${field}`, { rest, object, at, form }],
    [
      `${kind}.headers[]`,
      { rest: { ...rest, [field]: A, headers: [{ name: 'a' }] }, object, at: headers, form: 'fields' },
    ],
  ];
}

const PERMISSIONS = Object.entries(VALIDATED).flatMap(([operation, rule]) => {
  const object = `${operation}_permission`;
  const at = 'permission.validate_input.definition';
  const within = (validateInput: object) => ({ [operation]: { ...rule, validateInput } });
  const inTable = (validateInput: object) => ({
    table: 'a',
    permissions: [{ role: 'a', ...within(validateInput) }],
  });
  const alone = (validateInput: object) => ({ table: 'a', role: 'a', ...within(validateInput) });
  return (
    [
      [`Table.permissions[].${operation}.validateInput`, inTable],
      [`TablePermission.${operation}.validateInput`, alone],
    ] as const
  ).flatMap(([path, spec]): readonly (readonly [string, Position])[] => [
    [`${path}.url`, { rest: spec({}), object, at, form: 'fields' }],
    [
      `${path}.headers[]`,
      { rest: spec({ url: A, headers: [{ name: 'a' }] }), object, at: `${at}.headers.0`, form: 'fields' },
    ],
  ]);
});

const sdl = 'type Query { a: String }';
const POSITIONS: ReadonlyMap<string, Position> = new Map([
  ...Object.entries(CONNECTIONS).flatMap(([connection, [spec, at]]) =>
    Object.entries(OF_CONNECTION).map(([path, [rest, within, form]]): [string, Position] => [
      `Source.${connection}.${path}`,
      { rest: { name: 'a', ...spec(rest) }, object: 'source', at: `${at}.${within}`, form },
    ]),
  ),
  ...PERMISSIONS,
  ...called(
    'RemoteSchema',
    'url',
    { name: 'a' },
    'remote_schema',
    'definition',
    'fields',
    'definition.headers.0',
  ),
  ...called('Action', 'handler', { sdl }, 'action', 'definition.handler', 'template', 'definition.headers.0'),
  ...called(
    'EventTrigger',
    'webhook',
    { table: 'a', name: 'a', insert: {} },
    'event_trigger',
    '',
    'fields',
    'headers.0',
  ),
  ...called(
    'CronTrigger',
    'webhook',
    { name: 'a', schedule: '* * * * *' },
    'cron_trigger',
    'webhook',
    'object',
    'headers.0',
  ),
  ...called(
    'ScheduledEvent',
    'webhook',
    { name: 'a', scheduledAt: '2099-01-01T00:00:00Z' },
    'scheduled_event',
    'webhook',
    'object',
    'headers.0',
  ),
  ...['traces', 'metrics', 'logs'].map((signal): [string, Position] => [
    `EngineSettings.openTelemetry.${signal}`,
    {
      rest: { openTelemetry: {} },
      object: 'opentelemetry',
      at: `exporter_otlp.otlp_${signal}_endpoint`,
      form: 'template',
    },
  ]),
  [
    'EngineSettings.openTelemetry.headers[]',
    {
      rest: { openTelemetry: { headers: [{ name: 'a' }] } },
      object: 'opentelemetry',
      at: 'exporter_otlp.headers.0',
      form: 'fields',
    },
  ],
]);

/** Returns the spec of a position with the value there. A list has one item. */
function specWith(path: string, rest: object, source: object): object {
  const steps = path.replaceAll('[]', '.0').split('.').slice(1);
  const put = (value: unknown, [step, ...inner]: readonly string[]): unknown => {
    if (step === undefined) return { ...(value as object), ...source };
    const old = (value as Readonly<Record<string, unknown>>)[step];
    if (Array.isArray(value)) return value.with(Number(step), put(old, inner));
    return { ...(value as object), [step]: inner.length === 0 ? source : put(old, inner) };
  };
  return put(rest, steps) as object;
}

const ROWS = [...POSITIONS].map(([path, position]) => [path, position] as const);
const rowOf = (path: string) => kindOf(path.split('.', 1)[0]!)!;

test.each(ROWS)('%s takes a value from everywhere', (path, { rest, object, at, form }) => {
  for (const [source, value] of MEMBERS) {
    const spec = specWith(path, rest, source);
    expect(problemsOf(rowOf(path), spec)).toEqual([]);
    read.length = 0;
    const found = rowOf(path)
      .translate(spec, context)
      .find(({ kind }) => kind === object) as MetadataObject;
    const actual = valueAt(JSON.parse(JSON.stringify(found.definition)), at);
    expect(actual).toEqual(
      form === 'fields' ? expect.objectContaining(fieldsFor(actual, value)) : inForm(form, value),
    );
    const isReference = 'secretKeyRef' in source || 'configMapKeyRef' in source;
    const own = path.replace(/^\w+/, 'spec').replaceAll('[]', '[0]');
    expect(read).toEqual(isReference ? [own] : []);
  }
});

test.each(ROWS)('%s refuses no member, two members and unknown ones', (path, { rest }) => {
  for (const source of [{}, { value: 'a', env: 'A' }, { urlFromEnv: 'A' }]) {
    expect(problemsOf(rowOf(path), specWith(path, rest, source))).not.toEqual([]);
  }
});

type Shape = {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly additionalProperties?: Shape | boolean;
};

/** Returns the paths of all objects that may take a value from a variable or a file, with the members they have. */
function valuesIn(shape: Shape, path: string): readonly (readonly [string, readonly string[]])[] {
  const { properties = {}, items, additionalProperties } = shape;
  const names = Object.keys(properties);
  const own = names.includes('env') || names.includes('file') ? [[path, names] as const] : [];
  const inner = Object.entries(properties).flatMap(([name, field]) => valuesIn(field, `${path}.${name}`));
  const listed = items ? valuesIn(items, `${path}[]`) : [];
  const mapped = typeof additionalProperties === 'object' ? valuesIn(additionalProperties, `${path}.*`) : [];
  return [...own, ...inner, ...listed, ...mapped];
}

test('every value of every kind is a position of the table, with the same members, and a header with its name', () => {
  const found = KINDS.flatMap(({ kind, spec }) => valuesIn(spec as Shape, kind));
  const members = MEMBERS.map(([source]) => Object.keys(source)[0]!).sort();
  for (const [path, names] of found) {
    const expected = path.endsWith('headers[]') ? [...members, 'name'].sort() : members;
    expect([path, names.toSorted()]).toEqual([path, expected]);
  }
  expect(found.map(([path]) => path).sort()).toEqual([...POSITIONS.keys()].sort());
});

test('no kind has a field of the old forms', () => {
  const old = /"(?:\w+From|\w+FromEnv|fromEnv)":/;
  expect(KINDS.filter(({ spec }) => old.test(JSON.stringify(spec))).map(({ kind }) => kind)).toEqual([]);
});

function valueAt(definition: unknown, path: string): unknown {
  const steps = path.split('.').filter(Boolean);
  return steps.reduce((value, step) => (value as Readonly<Record<string, unknown>>)[step], definition);
}

/** Returns the fields that `actual` should have: `url_from_env` for `{from_env}`, for the field that is there. */
function fieldsFor(actual: unknown, value: unknown): object {
  const name = ['url', 'webhook', 'value'].find((field) =>
    Object.keys(actual as object).some((key) => key === field || key.startsWith(`${field}_from_`)),
  );
  if (typeof value === 'string') return { [name!]: value };
  const [[from, text] = ['', '']] = Object.entries(value as Record<string, string>);
  return { [`${name}_${from}`]: text };
}

function inForm(form: Form, value: unknown): unknown {
  const { from_env, from_value, from_file } = value as Record<string, string>;
  if (typeof value === 'string' || form === 'object') return value;
  if (form === 'url') return from_file === undefined ? value : { dynamic_from_file: from_file };
  if (from_env !== undefined) return `{{${from_env}}}`;
  return from_value === undefined ? `{{file:${from_file}}}` : `{{value:${from_value}}}`;
}

test('an imported text of a database goes to a Secret, and a variable stays one', () => {
  const source = (database_url: unknown): MetadataObject => ({
    key: 'source/a',
    kind: 'source',
    parent: null,
    definition: { name: 'a', kind: 'postgres', configuration: { connection_info: { database_url } } },
  });
  const described = (url: unknown) =>
    kindOf('Source')!.describe!({ all: () => [source(url)], under: () => [] })[0]!;
  expect(described('postgres://me:secret@db/app')).toMatchObject({
    spec: { connection: { url: { secretKeyRef: { name: OWN_SECRET, key: 'url' } } } },
    secrets: { url: 'postgres://me:secret@db/app' },
  });
  expect(described({ from_env: 'A' }).spec).toMatchObject({ connection: { url: { env: 'A' } } });
});
