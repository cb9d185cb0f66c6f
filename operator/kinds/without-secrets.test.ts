/** Tests that nothing that may be a secret is left of a spec, with the examples of every kind and the fields that may have one. */
import { type MetadataObject, withoutSecrets } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { examples } from '../../testing/examples.ts';
import { KINDS, type KindRow, kindOf } from '../kinds.ts';
import { specWithoutSecrets } from './without-secrets.ts';

const without = (kind: string, spec: object) => specWithoutSecrets(kindOf(kind)!.spec, spec);

/** Specs of which every text with the word hush is a secret. */
const SECRETS: readonly (readonly [kind: string, spec: object])[] = [
  ['Source', { name: 's', connection: { url: { value: 'postgres://app:hush@db/shop' } } }],
  ['Source', { name: 's', connection: { parameters: { host: 'db', password: { value: 'hush' } } } }],
  [
    'Source',
    { name: 's', connection: { url: { env: 'URL' }, tls: { mode: 'Require', key: { value: 'hush' } } } },
  ],
  ['Source', { name: 's', readReplicas: [{ name: 'one', url: { value: 'postgres://hush@db' } }] }],
  [
    'RemoteSchema',
    { name: 'r', url: { value: 'https://host/hush' }, permissions: [{ role: 'r', sdl: 'hush' }] },
  ],
  ['RemoteSchema', { name: 'r', url: { env: 'URL' }, headers: [{ name: 'authorization', value: 'hush' }] }],
  ['Action', { sdl: 'type Query { a: Int }', handler: { value: '{{URL}}/hush' } }],
  ['Action', { requestTransform: { url: 'hush', body: { template: 'hush', formTemplate: { a: 'hush' } } } }],
  ['Action', { requestTransform: { queryParams: { key: 'hush' }, requestHeaders: { add: { a: 'hush' } } } }],
  [
    'Action',
    { requestTransform: { queryParamsTemplate: 'hush' }, responseTransform: { body: { template: 'hush' } } },
  ],
  ['CronTrigger', { name: 'c', webhook: { value: 'https://host/?key=hush' }, payload: { key: 'hush' } }],
  ['ScheduledEvent', { name: 'c', webhook: { env: 'URL' }, payload: 'hush' }],
  ['EventTrigger', { name: 'e', webhook: { value: 'https://user:hush@host' } }],
  ['TablePermission', { role: 'r', insert: { check: {}, set: { token: 'hush' } } }],
  ['TablePermission', { role: 'r', update: { validateInput: { url: { value: 'https://host/hush' } } } }],
  ['Table', { table: 't', permissions: [{ role: 'r', insert: { check: {}, set: { token: 'hush' } } }] }],
  ['RemoteRelationship', { toRemoteSchema: { remoteField: { a: { arguments: { key: 'hush' } } } } }],
  ['EngineSettings', { openTelemetry: { resourceAttributes: [{ name: 'a', value: 'hush' }] } }],
  ['EngineSettings', { openTelemetry: { headers: [{ name: 'a', value: 'hush' }] } }],
  ['MetadataBundle', { objects: [{ key: 'k', definition: { a: 'hush' } }], metadata: { a: 'hush' } }],
  ['Migration', { files: [{ name: '1_a.sql', sql: "create role app password 'hush'" }] }],
  [
    'PermissionTest',
    { sessionVariables: { a: 'hush' }, variables: { a: 'hush' }, expect: { data: { a: 'hush' } } },
  ],
];

test.each(SECRETS)('no secret of a %s is left: %o', (kind, spec) => {
  const shown = without(kind, spec);
  expect(JSON.stringify(shown)).not.toContain('hush');
  expect(Object.keys(shown as object)).toEqual(Object.keys(spec));
});

test('session variables among presets are shown, and the names of columns', () => {
  const insert = { check: {}, set: { owner: 'X-Engine-User-Id', token: 'hush', more: { a: 'hush' } } };
  const shown = { check: {}, set: { owner: 'X-Engine-User-Id', token: '(hidden)', more: '(hidden)' } };
  expect(without('TablePermission', { role: 'r', insert })).toEqual({ role: 'r', insert: shown });
  expect(without('Table', { table: 't', permissions: [{ role: 'r', insert }] })).toEqual({
    table: 't',
    permissions: [{ role: 'r', insert: shown }],
  });
});

test('what the metadata hides of the objects of an example, its spec hides as well', () => {
  for (const { kind, spec } of examples()) {
    const row = kindOf(kind);
    if (!row || row.purpose || kind === 'MetadataBundle') continue;
    const hidden = objectsOf(row, spec).flatMap((object) =>
      hiddenIn(object.definition, withoutSecrets(object)),
    );
    const shown = JSON.stringify(specWithoutSecrets(row.spec, spec));
    for (const secret of hidden) expect([kind, shown]).not.toContain(JSON.stringify(secret));
  }
});

test('the rest of an example is as it was written', () => {
  for (const { kind, spec } of examples()) {
    if (!KINDS.some((row) => row.kind === kind) || kind === 'MetadataBundle') continue;
    expect(leavesOf(without(kind, spec)).length).toBeGreaterThan(0);
  }
  const spec = {
    engineRef: { name: 'main' },
    table: 'book',
    permissions: [{ role: 'r', select: { filter: { a: 1 } } }],
  };
  expect(without('Table', spec)).toEqual(spec);
});

test('references are shown, and what is in a wrong place is not', () => {
  const url = { secretKeyRef: { name: 'db', key: 'uri' } };
  expect(without('Source', { name: 's', connection: { url } })).toEqual({ name: 's', connection: { url } });
  const wrong = {
    name: 's',
    connection: 'postgres://app:hush@db',
    pasword: 'hush',
    readReplicas: { a: 'hush' },
  };
  expect(without('Source', wrong)).toEqual({
    name: 's',
    connection: '(hidden)',
    pasword: '(hidden)',
    readReplicas: '(hidden)',
  });
});

function objectsOf(row: KindRow, spec: unknown): readonly MetadataObject[] {
  return row.translate(spec, { valueFrom: () => ({ from_value: 'x' }) });
}

/** Returns the texts that are in the first value and not in the second. */
function hiddenIn(given: unknown, shown: unknown): readonly unknown[] {
  const left = new Set(leavesOf(shown));
  return leavesOf(given).filter((leaf) => typeof leaf === 'string' && !left.has(leaf));
}

function leavesOf(value: unknown): readonly unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [value];
}
