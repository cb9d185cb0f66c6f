/** The definitions on a real API server: accepted and served, every rule refusing with its message, the birth status, columns
 *  and field selectors. A rule without a case here fails the last test. */
import { join } from 'node:path';
import { GROUP_VERSION, KINDS, type KindRow, type Rule } from '@pergola/operator/kinds';
import { beforeAll, expect, test } from 'vitest';
import { exampleSpec } from '../testing/examples.ts';
import { describeKube, type TestKube } from '../testing/kube.ts';
import { definition } from './generate.ts';

type Spec = Record<string, unknown>;

/** A good spec of every kind: what documents show. */
const GOOD: Readonly<Record<string, Spec>> = Object.fromEntries(
  KINDS.map(({ kind }) => [kind, exampleSpec(kind)]),
);

const KEY = { name: 'a', key: 'b' };

/** What is wrong on creation: the spec's change, and what the API server must say. */
const REFUSED_AT_BIRTH: readonly (readonly [string, string, Spec, string])[] = [
  [
    'Engine',
    'two endpoints',
    { endpoint: { service: { name: 'a', port: 1 }, url: 'http://a' } },
    'endpoint has either service or url',
  ],
  ['Engine', 'no endpoint', { endpoint: {} }, 'endpoint has either service or url'],
  [
    'Engine',
    'a selector with All',
    { allowedNamespaces: { from: 'All', selector: { matchLabels: {} } } },
    'goes with from: Selector',
  ],
  ['Engine', 'no selector', { allowedNamespaces: { from: 'Selector' } }, 'goes with from: Selector'],
  [
    'Engine',
    'a grant for names and for labels',
    { grants: [{ name: 'a', namespaces: ['a'], namespaceSelector: { matchLabels: { a: 'b' } } }] },
    'a grant has at most one of',
  ],
  ['Source', 'no URL at all', { connection: {} }, 'a connection has exactly one of'],
  ['Source', 'no place for the URL', { connection: { url: {} } }, 'a value has exactly one of'],
  [
    'Source',
    'two places for the URL',
    { connection: { url: { env: 'A', file: '/b' } } },
    'a value has exactly one of',
  ],
  ['Migration', 'a file without statements', { files: [{ name: '1_a.sql' }] }, 'a file has exactly one of'],
  [
    'Migration',
    'an artifact with a tag and a digest',
    {
      files: undefined,
      ociArtifact: { repository: 'ghcr.io/a', tag: 'a', digest: `sha256:${'a'.repeat(64)}` },
    },
    'ociArtifact has exactly one of',
  ],
  [
    'Migration',
    'an authority without certificates',
    { files: undefined, ociArtifact: { repository: 'ghcr.io/a', tag: 'a', ca: {} } },
    'ca has exactly one of',
  ],
  ['Migration', 'no files', { source: 'a', files: undefined }, 'a Migration has exactly one of'],
  [
    'Table',
    'an object relationship without columns',
    { objectRelationships: [{ name: 'a' }] },
    'either foreignKey or manual',
  ],
  [
    'Table',
    'an array relationship without columns',
    { arrayRelationships: [{ name: 'a' }] },
    'either foreignKey or manual',
  ],
  [
    'Table',
    'an inline permission for nothing',
    { permissions: [{ role: 'user' }] },
    'a permission without select, insert',
  ],
  [
    'Table',
    'the same role twice',
    {
      permissions: [
        { role: 'u', delete: { filter: {} } },
        { role: 'u', delete: { filter: {} } },
      ],
    },
    'duplicate entries for key [role="u"]',
  ],
  ['Table', 'no table', { table: undefined }, 'spec.table: Required value'],
  [
    'Table',
    'a drift policy there is none of',
    { driftPolicy: 'Sometimes' },
    'supported values: "Correct", "Report", "Ignore"',
  ],
  [
    'TablePermission',
    'a permission for nothing',
    { select: undefined },
    'spec: a permission without select, insert',
  ],
  [
    'Table',
    'a manual relationship to two things',
    {
      objectRelationships: [
        { name: 'a', manual: { table: 'other', nativeQuery: 'b', columnMapping: { a: 'b' } } },
      ],
    },
    'manual has exactly one of table and nativeQuery',
  ],
  ['RemoteSchema', 'two URLs', { url: { value: 'http://a', env: 'A' } }, 'a value has exactly one of'],
  [
    'RemoteSchema',
    'two values of a header',
    { headers: [{ name: 'a', value: 'b', env: 'C' }] },
    'a header has exactly one of value, env, file, secretKeyRef and configMapKeyRef',
  ],
  [
    'RemoteSchema',
    'a URL from two places',
    { url: { secretKeyRef: KEY, configMapKeyRef: KEY } },
    'a value has exactly one of value, env, file, secretKeyRef and configMapKeyRef',
  ],
  [
    'RemoteRelationship',
    'two beginnings',
    { remoteSchema: 'a', typeName: 'B' },
    'a remote relationship begins at a table, or at remoteSchema and typeName',
  ],
  [
    'Table',
    'a schema without a table',
    { objectRelationships: [{ name: 'a', foreignKey: { columns: ['a'], schema: 'b' } }] },
    'schema is the schema of a table; add table',
  ],
  [
    'Table',
    'an input validation without a URL',
    { permissions: [{ role: 'a', delete: { filter: {}, validateInput: { url: {} } } }] },
    'a value has exactly one of value',
  ],
  [
    'Table',
    'an input validation with a header without value',
    {
      permissions: [
        {
          role: 'a',
          delete: { filter: {}, validateInput: { url: { env: 'A' }, headers: [{ name: 'a' }] } },
        },
      ],
    },
    'a header has exactly one of value',
  ],
  [
    'TablePermission',
    'an input validation with two URLs',
    { insert: { check: {}, validateInput: { url: { env: 'A', value: 'http://a' } } } },
    'a value has exactly one of value',
  ],
  [
    'TablePermission',
    'an input validation with a header without value',
    { insert: { check: {}, validateInput: { url: { env: 'A' }, headers: [{ name: 'a' }] } } },
    'a header has exactly one of value',
  ],
  [
    'LogicalModel',
    'a field of two types',
    { fields: [{ name: 'a', type: 'integer', logicalModel: 'b' }] },
    'a field has exactly one of type and logicalModel',
  ],
  [
    'NativeQuery',
    'a relationship to two things',
    {
      objectRelationships: [
        { name: 'a', manual: { table: 'b', nativeQuery: 'c', columnMapping: { a: 'b' } } },
      ],
    },
    'manual has exactly one of table and nativeQuery',
  ],
  [
    'NativeQuery',
    'a relationship to a schema',
    {
      arrayRelationships: [
        { name: 'a', manual: { schema: 'b', nativeQuery: 'c', columnMapping: { a: 'b' } } },
      ],
    },
    'schema is the schema of a table; add table',
  ],
  [
    'Function',
    'a schema without a table',
    { configuration: { response: { type: 'Table', schema: 'b' } } },
    'schema is the schema of a table; add table',
  ],
  [
    'RemoteRelationship',
    'no end',
    { toRemoteSchema: undefined },
    'spec has exactly one of toSource and toRemoteSchema',
  ],
  ['Action', 'no handler', { handler: undefined }, 'spec.handler: Required value'],
  ['Action', 'a handler from nowhere', { handler: {} }, 'a value has exactly one of'],
  ['Action', 'a header without value', { headers: [{ name: 'a' }] }, 'a header has exactly one of value'],
  [
    'EventTrigger',
    'a trigger for nothing',
    { insert: undefined, update: undefined },
    'an event trigger without insert, update, delete and enableManual never fires',
  ],
  [
    'EventTrigger',
    'two webhooks',
    { webhook: { value: 'http://a', env: 'A' } },
    'a value has exactly one of',
  ],
  [
    'EventTrigger',
    'an empty payload of all columns',
    { insert: { payload: [] } },
    'an empty payload needs a list of columns',
  ],
  ['EventTrigger', 'a name that is no name', { name: 'bad name!' }, 'should match'],
  ['EventTrigger', 'a webhook from nowhere', { webhook: {} }, 'a value has exactly one of'],
  [
    'EventTrigger',
    'a header without value',
    { headers: [{ name: 'a' }] },
    'a header has exactly one of value',
  ],
  [
    'ScheduledEvent',
    'two webhooks',
    { webhook: { value: 'http://a', env: 'A' } },
    'a value has exactly one of',
  ],
  [
    'ScheduledEvent',
    'a header with two values',
    { headers: [{ name: 'a', value: 'b', env: 'A' }] },
    'a header has exactly one of',
  ],
  [
    'PermissionTest',
    'an expectation of data and an error',
    { expect: { data: {}, error: {} } },
    'expect has either error, or data, rows or both',
  ],
  [
    'PermissionTest',
    'an expectation of nothing',
    { expect: {} },
    'expect has either error, or data, rows or both',
  ],
  [
    'PermissionTest',
    'a mutation that runs after apply',
    { runAfterApply: true, query: 'mutation{ delete_article(where: {}) { affected_rows } }' },
    'a test that runs after apply must not change data',
  ],
  [
    'PermissionTest',
    'a gate that does not run',
    { gate: { kind: 'Engine' } },
    'has no effect on a test that the operator does not run',
  ],
  [
    'PermissionTest',
    'a gate of a Table without its name',
    { runAfterApply: true, gate: { kind: 'Table' } },
    'of kind Engine names nothing; add or remove name',
  ],
  [
    'PermissionTest',
    'rows that expect nothing',
    { expect: { rows: [{ path: 'article' }] } },
    'an item of rows has no count',
  ],
  ['CronTrigger', 'two webhooks', { webhook: { value: 'http://a', env: 'A' } }, 'a value has exactly one of'],
  ['CronTrigger', 'a webhook from nowhere', { webhook: {} }, 'a value has exactly one of'],
  [
    'CronTrigger',
    'a header without value',
    { headers: [{ name: 'a' }] },
    'a header has exactly one of value',
  ],
  [
    'QueryCollection',
    'a scope that is both',
    { allowlist: { scope: { global: true, roles: [] } } },
    'scope has either global: true or roles',
  ],
  [
    'AllowListEntry',
    'a scope that is both',
    { scope: { global: true, roles: [] } },
    'scope has either global: true or roles',
  ],
  [
    'RestEndpoint',
    'a method there is none of',
    { methods: ['FETCH'] },
    'supported values: "GET", "POST", "PUT", "PATCH", "DELETE"',
  ],
  [
    'EngineSettings',
    'two URLs of a collector',
    { openTelemetry: { traces: { value: 'http://a', env: 'A' }, metrics: {}, logs: {} } },
    'a value has exactly one of',
  ],
  [
    'EngineSettings',
    'a header of a collector without value',
    { openTelemetry: { headers: [{ name: 'a' }] } },
    'a header has exactly one of',
  ],
  ['MetadataBundle', 'nothing', { objects: undefined }, 'a bundle without from, metadata and objects'],
  ['MetadataBundle', 'a bundle from nowhere', { from: [{}] }, 'spec.from[0].configMapKeyRef: Required value'],
];

const cr = (kind: string, name: string, spec: Spec) => ({
  apiVersion: 'pergola.dev/v1alpha1',
  kind,
  metadata: { name, namespace: 'default' },
  spec,
});
const slug = (text: string) => text.toLowerCase().replaceAll(/[^a-z]+/g, '-');

await describeKube('the definitions', (kube) => {
  beforeAll(() => install(kube()));

  test('the API server keeps every definition as it is written: what it drops is a difference for ever to Argo CD', async () => {
    for (const row of KINDS as readonly KindRow[]) {
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${row.plural}.pergola.dev`;
      expect((await kube().request('GET', path)).body.spec).toMatchObject(definition(row).spec as object);
    }
  });

  test('every kind has a good resource, and the API server takes it as it is', async () => {
    for (const { kind, plural } of KINDS as readonly KindRow[]) {
      await kube().apply(cr(kind, 'good', GOOD[kind]!));
      expect((await stored(kube(), plural, 'good')).spec).toEqual(GOOD[kind]);
    }
  });

  test.each(REFUSED_AT_BIRTH)('%s: %s is refused', async (kind, what, change, message) => {
    const spec = { ...GOOD[kind], ...change };
    await expect(kube().apply(cr(kind, slug(what), spec))).rejects.toThrow(message);
  });

  test('a field that does not exist is said by its path', async () => {
    const spec = { ...GOOD['TablePermission'], select: { columns: ['id'], filter: {}, limits: 3 } };
    const applied = kube().apply(cr('TablePermission', 'unknown-field', spec));
    await expect(applied).rejects.toThrow('.spec.select.limits');
  });

  test('a resource is born with a status nobody can take for a current one', async () => {
    const born = await stored(kube(), 'tables', 'good');
    expect(born.metadata.generation).toBe(1);
    expect(born.status).toEqual({ observedGeneration: -1 });
  });

  test('writing a status changes neither generation nor spec', async () => {
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'Applied',
      message: '3 objects applied',
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const status = { observedGeneration: 1, target: 'default/public.article', conditions: [condition] };
    const patch = ['--type=merge', '--subresource=status', '-p', JSON.stringify({ status })];
    await kube().kubectl(['patch', 'gqlt', 'good', ...patch]);
    const after = await stored(kube(), 'tables', 'good');
    expect(after.metadata.generation).toBe(1);
    expect(after.status).toEqual(status);
    expect(after.spec).toEqual(GOOD['Table']);
  });

  test('a status may have a type and a reason that the definitions do not list', async () => {
    const condition = {
      type: 'SomethingNewer',
      status: 'True',
      reason: 'KnownLater',
      message: '',
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const patch = (conditions: object[]) =>
      kube().kubectl([
        ...['patch', 'gqlf', 'good', '--type=merge', '--subresource=status'],
        ...['-p', JSON.stringify({ status: { observedGeneration: 1, conditions } })],
      ]);
    await patch([condition]);
    expect((await stored(kube(), 'functions', 'good')).status).toMatchObject({ conditions: [condition] });
    await expect(patch([{ ...condition, reason: 'two words' }])).rejects.toThrow(/reason/);
  });

  test('columns say whether, why, where and what', async () => {
    const shown = await kube().kubectl(['get', 'gqlt', 'good']);
    expect(
      shown
        .split('\n')[0]!
        .split(/\s{2,}/)
        .map((s) => s.trim())
        .filter(Boolean),
    ).toEqual(['NAME', 'READY', 'REASON', 'DRIFT', 'AGE']);
    expect(shown.split('\n')[1]).toMatch(/^good +True +Applied +\d+/);
    const wide = await kube().kubectl(['get', 'gqlt', 'good', '-o', 'wide']);
    expect(wide).toMatch(/TARGET +ENGINE +LAST-APPLIED +MESSAGE +SOURCE/);
    expect(wide).toMatch(/default\/public\.article +main/);
    expect(wide).toContain('3 objects applied');
  });

  test('a record that is emptied is empty, not null', async () => {
    for (const sessionVariables of [{ 'X-Engine-User-Id': '1' }, {}]) {
      const spec = { role: 'reader', query: '{ a }', sessionVariables, expect: { error: {} } };
      const object = {
        apiVersion: GROUP_VERSION,
        kind: 'PermissionTest',
        metadata: { name: 'emptied', namespace: 'default' },
        spec,
      };
      await kube().apply(object);
      expect((await stored(kube(), 'permissiontests', 'emptied')).spec).toEqual(spec);
    }
    await kube().kubectl(['delete', 'permissiontests.pergola.dev', 'emptied']);
  });

  test('an object that its author empties is empty, in every kind and by every author', async () => {
    const emptied: string[] = [];
    for (const row of KINDS as readonly KindRow[]) {
      const { versions } = definition(row).spec as {
        versions: readonly { schema: { openAPIV3Schema: Shape } }[];
      };
      const schema = versions[0]!.schema.openAPIV3Schema.properties!['spec']!;
      const spec = GOOD[row.kind]!;
      for (const path of objectsIn(schema, spec)) {
        for (const value of [{}, valueAt(spec, path), {}]) {
          await kube().apply(cr(row.kind, 'emptied', withValue(spec, path, value) as Spec));
          const { spec: found } = await stored(kube(), row.plural, 'emptied');
          expect([row.kind, path, valueAt(found, path)]).toEqual([row.kind, path, value]);
        }
        emptied.push(`${row.kind}.${path.join('.')}`);
        await kube().apply(cr(row.kind, 'emptied', spec));
      }
      await kube().kubectl(['delete', `${row.plural}.pergola.dev`, 'emptied', '--ignore-not-found']);
    }
    // Kinds whose examples have such an object.
    expect(emptied).toEqual(
      expect.arrayContaining(['Table.configuration', 'EventTrigger.retry', 'Engine.policies']),
    );
    expect(emptied.length).toBeGreaterThan(10);
  }, 180_000);

  test('a filter is applied as a whole: emptied, replaced, and by another field manager', async () => {
    const permission = (filter: object) =>
      JSON.stringify({
        apiVersion: GROUP_VERSION,
        kind: 'TablePermission',
        metadata: { name: 'whole', namespace: 'default' },
        spec: { table: 'note', role: 'reader', select: { columns: ['id'], filter } },
      });
    const apply = (filter: object, manager: string) =>
      kube().kubectl(
        ['apply', '--server-side', '--force-conflicts', `--field-manager=${manager}`, '-f', '-'],
        permission(filter),
      );
    const owner = { owner: { _eq: 'X-Engine-User-Id' } };
    for (const [filter, manager] of [
      [owner, 'first'],
      [{}, 'first'],
      [{ id: { _gt: 1 } }, 'first'],
      [owner, 'second'],
      [{}, 'second'],
    ] as const) {
      await apply(filter, manager);
      const { spec } = await stored(kube(), 'tablepermissions', 'whole');
      expect(spec).toMatchObject({ select: { columns: ['id'] } });
      expect((spec as { select: { filter: unknown } }).select.filter).toEqual(filter);
    }
    await kube().kubectl(['delete', 'tablepermissions.pergola.dev', 'whole']);
  });

  test('all kinds answer to one word, and resources are found by their engine', async () => {
    const all = await kube().kubectl(['get', 'pergola', '-o', 'name']);
    expect(all.split('\n')).toEqual(
      expect.arrayContaining(KINDS.map(({ singular }) => `${singular}.pergola.dev/good`)),
    );
    const find = (engine: string) =>
      kube().kubectl([
        'get',
        'tables.pergola.dev',
        '-o',
        'name',
        `--field-selector=spec.engineRef.name=${engine}`,
      ]);
    expect(await find('main')).toBe('table.pergola.dev/good\n');
    expect(await find('other')).toBe('');
  });

  test('kubectl explains a field', async () => {
    expect(await kube().kubectl(['explain', 'table.spec.engineRef'])).toContain('the only Engine of');
  });
});

test('every rule has a case that it refuses', () => {
  const shown = REFUSED_AT_BIRTH.map(([kind, , , text]) => [kind, text]);
  const uncovered = KINDS.flatMap((row: KindRow) =>
    rulesOf(row.spec)
      .map(({ message }) => message)
      .filter((message) => !shown.some(([kind, text]) => kind === row.kind && message.includes(text!)))
      .map((message) => `${row.kind}: ${message}`),
  );
  expect(uncovered).toEqual([]);
});

type Shape = {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly 'x-kubernetes-map-type'?: string;
};

/** Returns the paths of the objects with named fields in a value that may be empty. */
function objectsIn(
  schema: Shape,
  value: unknown,
  path: readonly string[] = [],
): readonly (readonly string[])[] {
  if (schema.properties === undefined || typeof value !== 'object' || value === null) return [];
  const own = schema['x-kubernetes-map-type'] === 'atomic' && Object.keys(value).length > 0 ? [path] : [];
  const inner = Object.entries(schema.properties).flatMap(([name, one]) =>
    objectsIn(one, (value as Spec)[name], [...path, name]),
  );
  return [...own, ...inner];
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, name) => (inner as Spec | undefined)?.[name], value);
}

function withValue(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by;
  return { ...(value as Spec), [name]: withValue((value as Spec)[name], rest, by) };
}

async function install(kube: TestKube): Promise<void> {
  await kube.kubectl(['apply', '--server-side', '-f', join(import.meta.dirname, 'generated')]);
  const names = KINDS.map((row: KindRow) => `crd/${definition(row).metadata.name}`);
  await kube.kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...names]);
}

async function stored(
  kube: TestKube,
  plural: string,
  name: string,
): Promise<{
  metadata: { generation: number };
  spec: unknown;
  status?: { conditions?: unknown };
}> {
  return JSON.parse(await kube.kubectl(['get', `${plural}.pergola.dev`, name, '-o', 'json']));
}

function rulesOf(schema: unknown): readonly Rule[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const rules = (schema as { 'x-kubernetes-validations'?: readonly Rule[] })['x-kubernetes-validations'];
  return [...(rules ?? []), ...Object.values(schema).flatMap(rulesOf)];
}
