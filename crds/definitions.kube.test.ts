/** The definitions on a real API server: accepted and served, every rule refusing with its message, the birth status, columns
 *  and field selectors. A rule without a case here fails the last test. */
import { join } from 'node:path';
import { KINDS, type KindRow } from '@pergola/operator/kinds';
import { beforeAll, expect, test } from 'vitest';
import { describeKube, type TestKube } from '../testing/kube.ts';
import { definition } from './generate.ts';

type Spec = Record<string, unknown>;

const engineRef = { name: 'main' };
const table = { schema: 'public', name: 'article' };

/** A good spec of every kind. */
const GOOD: Readonly<Record<string, Spec>> = {
  Engine: {
    endpoint: { service: { name: 'engine', port: 8080 } },
    allowedNamespaces: { from: 'Selector', selector: { matchLabels: { graphql: 'yes' } } },
  },
  Source: { engineRef, name: 'default', connection: { urlFrom: { env: 'PG_URL' } } },
  Table: {
    engineRef,
    source: 'default',
    table,
    arrayRelationships: [{ name: 'comments', foreignKey: { columns: ['article_id'], table } }],
    objectRelationships: [{ name: 'author', foreignKey: { columns: ['author_id'] } }],
    permissions: [
      { role: 'user', select: { columns: ['id'], filter: { owner: { _eq: 'X-Engine-User-Id' } } } },
    ],
  },
  TablePermission: { engineRef, source: 'default', table, role: 'user', delete: { filter: {} } },
  QueryCollection: {
    engineRef,
    name: 'mobile',
    queries: [{ name: 'a', query: '{ a }' }],
    allowlist: { scope: { roles: ['user'] } },
  },
};

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
  ['Source', 'no place for the URL', { connection: { urlFrom: {} } }, 'urlFrom has exactly one of'],
  [
    'Source',
    'two places for the URL',
    { connection: { urlFrom: { env: 'A', file: '/b' } } },
    'urlFrom has exactly one of',
  ],
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
    { delete: undefined },
    'spec: a permission without select, insert',
  ],
  [
    'QueryCollection',
    'a scope that is both',
    { allowlist: { scope: { global: true, roles: [] } } },
    'scope has either global: true or roles',
  ],
  [
    'QueryCollection',
    'a scope that is nothing',
    { allowlist: { scope: {} } },
    'scope has either global: true or roles',
  ],
];

/** What must not change later. */
const REFUSED_LATER: readonly (readonly [string, Spec, string])[] = [
  ['Source', { engineRef: { name: 'other' } }, 'spec.engineRef is immutable; create a new Source'],
  ['Source', { name: 'other' }, 'spec.name is immutable; create a new Source'],
  ['Table', { engineRef: { name: 'other' } }, 'spec.engineRef is immutable; create a new Table'],
  ['Table', { source: 'other' }, 'spec.source is immutable; create a new Table'],
  ['Table', { table: { schema: 'public', name: 'other' } }, 'spec.table is immutable; create a new Table'],
  [
    'TablePermission',
    { engineRef: { name: 'other' } },
    'spec.engineRef is immutable; create a new TablePermission',
  ],
  ['TablePermission', { source: 'other' }, 'spec.source is immutable; create a new TablePermission'],
  [
    'TablePermission',
    { table: { schema: 'public', name: 'other' } },
    'spec.table is immutable; create a new TablePermission',
  ],
  ['TablePermission', { role: 'other' }, 'spec.role is immutable; create a new TablePermission'],
  [
    'QueryCollection',
    { engineRef: { name: 'other' } },
    'spec.engineRef is immutable; create a new QueryCollection',
  ],
  ['QueryCollection', { name: 'other' }, 'spec.name is immutable; create a new QueryCollection'],
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

  test.each(REFUSED_LATER)('%s: %j is refused later', async (kind, change, message) => {
    const spec = { ...GOOD[kind], ...change };
    await expect(kube().apply(cr(kind, 'good', spec))).rejects.toThrow(message);
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

  test('columns say whether, why, where and what', async () => {
    const shown = await kube().kubectl(['get', 'gqlt', 'good']);
    expect(
      shown
        .split('\n')[0]!
        .split(/\s{2,}/)
        .map((s) => s.trim())
        .filter(Boolean),
    ).toEqual(['NAME', 'READY', 'REASON', 'ENGINE', 'TARGET', 'DRIFT', 'AGE']);
    expect(shown.split('\n')[1]).toMatch(/^good +True +Applied +main +default\/public\.article +\d+/);
    const wide = await kube().kubectl(['get', 'gqlt', 'good', '-o', 'wide']);
    expect(wide).toMatch(/MESSAGE +LAST-APPLIED +SOURCE/);
    expect(wide).toContain('3 objects applied');
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
    expect(await kube().kubectl(['explain', 'table.spec.engineRef'])).toContain('without a namespace');
  });
});

test('every rule has a case that it refuses', () => {
  const shown = [
    ...REFUSED_AT_BIRTH.map(([kind, , , text]) => [kind, text]),
    ...REFUSED_LATER.map(([kind, , text]) => [kind, text]),
  ];
  const uncovered = KINDS.flatMap((row: KindRow) =>
    messagesOf(row.spec)
      .filter((message) => !shown.some(([kind, text]) => kind === row.kind && message.includes(text!)))
      .map((message) => `${row.kind}: ${message}`),
  );
  expect(uncovered).toEqual([]);
});

async function install(kube: TestKube): Promise<void> {
  await kube.kubectl(['apply', '--server-side', '-f', join(import.meta.dirname, 'generated')]);
  const names = KINDS.map((row: KindRow) => `crd/${definition(row).metadata.name}`);
  await kube.kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...names]);
}

async function stored(
  kube: TestKube,
  plural: string,
  name: string,
): Promise<{ metadata: { generation: number }; spec: unknown; status: unknown }> {
  return JSON.parse(await kube.kubectl(['get', `${plural}.pergola.dev`, name, '-o', 'json']));
}

function messagesOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const rules = (schema as { 'x-kubernetes-validations'?: readonly { message: string }[] })[
    'x-kubernetes-validations'
  ];
  return [...(rules ?? []).map(({ message }) => message), ...Object.values(schema).flatMap(messagesOf)];
}
