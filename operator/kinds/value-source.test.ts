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
const context: TranslateContext = {
  valueFrom: ({ secretKeyRef }) => (secretKeyRef ? { from_value: 'team/keys/token' } : 'https://map'),
};

/** Where a value stands in the spec of a kind, and the path in the definition of its object: as fields, as an object, or as a template. */
type Position = readonly [
  kind: string,
  spec: (source: ValueSource) => object,
  at: string,
  form: 'fields' | 'object' | 'template' | 'url',
];
const trigger = { table: 'a', name: 'a', insert: {} };
const cron = { name: 'a', schedule: '* * * * *' };
const PARAMETERS = { host: 'a', port: 5432, database: 'a', username: 'a' };
const sdl = 'type Query { a: String }';
const POSITIONS: readonly Position[] = [
  ['RemoteSchema', (url) => ({ name: 'a', url }), 'definition', 'fields'],
  ['EventTrigger', (webhook) => ({ ...trigger, webhook }), '', 'fields'],
  ['CronTrigger', (webhook) => ({ ...cron, webhook }), 'webhook', 'object'],
  ['Action', (handler) => ({ sdl, handler }), 'definition.handler', 'template'],
  [
    'Action',
    (source) => ({ sdl, handler: { value: 'http://a' }, headers: [{ name: 'a', ...source }] }),
    'definition.headers.0',
    'fields',
  ],
  [
    'EngineSettings',
    (traces) => ({ openTelemetry: { traces } }),
    'exporter_otlp.otlp_traces_endpoint',
    'template',
  ],
  [
    'Source',
    (url) => ({ name: 'a', connection: { url } }),
    'configuration.connection_info.database_url',
    'url',
  ],
  [
    'Source',
    (password) => ({ name: 'a', connection: { parameters: { ...PARAMETERS, password } } }),
    'configuration.connection_info.database_url.connection_parameters.password',
    'object',
  ],
  [
    'Source',
    (rootCertificate) => ({
      name: 'a',
      connection: { url: { env: 'A' }, tls: { mode: 'VerifyFull', rootCertificate } },
    }),
    'configuration.connection_info.ssl_configuration.sslrootcert',
    'object',
  ],
];

const CASES = POSITIONS.flatMap((position, i) =>
  MEMBERS.map(
    ([source, value]) => [position[0], i, Object.keys(source)[0]!, position, source, value] as const,
  ),
);

test.each(CASES)('%s %i takes %s', (kind, _i, _member, [, spec, at, form], source, value) => {
  const row = kindOf(kind)!;
  expect(problemsOf(row, spec(source))).toEqual([]);
  const [object] = row.translate(spec(source), context) as readonly MetadataObject[];
  const actual = valueAt(JSON.parse(JSON.stringify(object!.definition)), at);
  expect(actual).toEqual(
    form === 'fields' ? expect.objectContaining(fieldsFor(actual, value)) : inForm(form, value),
  );
});

test.each(POSITIONS.map((position, i) => [position[0], i, position[1]] as const))(
  '%s %i refuses no member, two members and unknown ones',
  (kind, _i, spec) => {
    const row = kindOf(kind)!;
    for (const source of [{}, { value: 'a', env: 'A' }, { urlFromEnv: 'A' }]) {
      expect(problemsOf(row, spec(source as ValueSource))).not.toEqual([]);
    }
  },
);

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

function inForm(form: Position[3], value: unknown): unknown {
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
