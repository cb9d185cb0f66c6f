/** Tests every kind with a real engine: the documented examples become Ready and permit what they declare, nothing more; resources that
 *  the engine cannot serve report the reason. Each test continues from the state that the previous one left. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { EVERY_KIND } from '../../testing/examples.ts';
import { engineClient } from '../engine/client.ts';
import { folderOptions } from '../folder/flags.ts';
import { FolderSource } from '../folder/folder-source.ts';
import { KINDS } from '../kinds.ts';
import { systemClock } from '../pass/clock.ts';
import { reconcile } from '../pass/reconcile.ts';
import type { EnginePort } from '../ports/engine.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import type { Report } from '../status/report.ts';
import { type EveryKind, environmentFor, startEveryKind } from '../testing/every-kind.ts';
import { resource } from '../testing/resources.ts';

let world: EveryKind;
const folder = new FolderSource(EVERY_KIND);
/** Changes the resources of the folder. */
let edit: (snapshot: CrSnapshot) => CrSnapshot = (snapshot) => snapshot;

beforeAll(async () => {
  world = await startEveryKind();
}, 180_000);
afterAll(() => world?.close());

function clientOf({ url, adminSecret }: TestEngine): EnginePort {
  return engineClient({ url, adminSecret });
}

async function pass(engine = clientOf(world.engine)): Promise<Report> {
  const source = { snapshot: async () => edit(await folder.snapshot()) };
  return reconcile({ engine, source, sink: folder, clock: systemClock }, folderOptions(folder));
}

/** Returns `Kind name: Reason message` of each resource that is not applied. */
function troubles(report: Report): readonly string[] {
  return report.resources.flatMap((cr) => {
    const { outcome } = report.verdicts.get(cr.metadata.uid)!;
    return outcome.reason === 'Applied'
      ? []
      : [`${cr.kind} ${cr.metadata.name}: ${outcome.reason} ${outcome.message}`];
  });
}

/** Puts the query on the allow list, which is enforced, and runs it. */
async function ask(query: string, role: string) {
  const [collection_name, query_name] = ['probes', `q${probes++}`];
  if (query_name === 'q0') {
    await world.engine.admin('create_query_collection', {
      name: collection_name,
      definition: { queries: [] },
    });
    await world.engine.admin('add_collection_to_allowlist', { collection: collection_name });
  }
  await world.engine.admin('add_query_to_collection', { collection_name, query_name, query });
  return world.engine.graphql(query, { role });
}
let probes = 0;
const asReader = (query: string) => ask(query, 'reader');

test('one write applies the examples of every kind, and a second pass writes nothing', async () => {
  const report = await pass();
  expect(folder.problems).toEqual([]);
  expect(troubles(report)).toEqual([]);
  const shown = new Set(report.resources.map(({ kind }) => kind));
  expect(KINDS.map(({ kind }) => kind).filter((kind) => !shown.has(kind))).toEqual(['Engine']);
  expect((await pass()).wasWritten).toBe(false);
});

test('the API has what the examples declare and nothing more', async () => {
  expect(await asReader('{ article(order_by: {id: asc}) { id excerpt } }')).toEqual({
    data: {
      article: [
        { id: 1, excerpt: 'Every map is a story.' },
        { id: 3, excerpt: 'They never are.' },
      ],
    },
  });
  expect(await asReader('{ searchArticles(args: {search: "ma"}) { title } }')).toEqual({
    data: { searchArticles: [{ title: 'On maps' }] },
  });
  expect(await asReader('{ author_by_pk: author(where: {id: {_eq: 1}}) { name invoices { id } } }')).toEqual({
    data: { author_by_pk: [{ name: 'Ursula', invoices: [{ id: 'i1' }] }] },
  });
  const editor = await ask('{ article { id } }', 'editor');
  expect(editor.data?.['article']).toHaveLength(2);
  for (const hidden of [
    '{ author { country } }',
    '{ article { isPublished } }',
    '{ archive_author { id } }',
  ]) {
    expect((await asReader(hidden)).errors?.[0]?.message).toContain('not found in type');
  }
  const rest = await world.engine.fetch('/api/rest/articles/1', { headers: { 'x-engine-role': 'reader' } });
  expect(await rest.json()).toEqual({ article_by_pk: { id: 1, title: 'On maps' } });
  await world.engine.admin('drop_query_collection', { collection: 'probes', cascade: true });
});

test('drift of REST endpoints and remote schema permissions is corrected', async () => {
  await world.engine.admin('drop_rest_endpoint', { name: 'article' });
  await world.engine.admin('drop_remote_schema_permissions', { remote_schema: 'billing', role: 'reader' });
  const report = await pass();
  expect(report.wasWritten).toBe(true);
  expect(troubles(report)).toEqual([]);
  const corrected = report.plan!.decisions.filter(({ action }) => action === 'correct').map(({ key }) => key);
  expect(corrected).toEqual(['remote_schema_permission/billing/reader', 'rest_endpoint/article']);
});

test('an entry of an allow list that is not enforced is not Ready and names the missing option', async () => {
  const off = await startTestEngine({
    databaseUrl: world.database.url,
    adminSecret: world.engine.adminSecret,
    env: environmentFor(world.database, world.billing),
  });
  const client = clientOf(off);
  for (const report of [await pass(client), await pass(client)]) {
    expect(report.wasWritten).toBe(false);
    expect(troubles(report)).toEqual([
      'AllowListEntry legacy: NotEnforced allowlist legacy_queries: the allow list is declared, not enforced: ' +
        'start the engine with --enable-allowlist, or remove the entry',
      'QueryCollection mobile: NotEnforced allowlist mobile at spec.allowlist: the allow list is declared, ' +
        'not enforced: start the engine with --enable-allowlist, or remove the entry',
    ]);
  }
  await off.close();
  expect(troubles(await pass())).toEqual([]);
});

test('declarations without effect are not Ready, and say what to correct', async () => {
  const webhook = { value: 'http://hooks.example.org' };
  const sdl = (name: string) => `type Mutation { ${name}: String }`;
  const permissions = [{ role: 'admin' }];
  const added = [
    resource('Action', 'of-admin', { sdl: sdl('of_admin'), handler: webhook, permissions }),
    resource('Action', 'open-template', {
      sdl: sdl('open_template'),
      handler: webhook,
      requestTransform: { url: '{{$base_url' },
    }),
    resource('CronTrigger', 'header', {
      name: 'header',
      schedule: '0 0 * * *',
      webhook,
      headers: [{ name: 'two words', value: 'a' }],
    }),
    resource('InheritedRole', 'of-admin', { role: 'admin', roles: ['reader'] }),
  ];
  edit = (snapshot) => ({ ...snapshot, resources: [...snapshot.resources, ...added] });
  const found = troubles(await pass());
  expect(found.map((text) => text.split(' ', 3).join(' '))).toEqual([
    'Action of-admin: NotEnforced',
    'Action open-template: NotEnforced',
    'CronTrigger header: NotEnforced',
    'InheritedRole of-admin: NotEnforced',
  ]);
  expect(found[0]).toContain('has no effect, because the role admin has every permission');
  expect(found[1]).toContain('the template request_transform.url cannot be parsed');
  expect(found[2]).toContain('no request can have the header "two words"');
  expect(found[3]).toContain('nothing restricts the role admin');
  edit = (snapshot) => snapshot;
  expect(troubles(await pass())).toEqual([]);
});

test('a remote schema without a URL is rejected and hides no query that does not fit', async () => {
  const queries = [{ name: 'q', query: '{ article { no_such_field } }' }];
  const added = [
    resource('RemoteSchema', 'nope', { name: 'nope', url: { value: 'nope' } }),
    resource('QueryCollection', 'unfit', { name: 'unfit', queries }),
    resource('Action', 'reserved', {
      sdl: 'type Mutation { __reserved: String }',
      handler: { value: 'http://hooks.example.org' },
    }),
  ];
  edit = (snapshot) => ({ ...snapshot, resources: [...snapshot.resources, ...added] });
  const found = troubles(await pass());
  expect(found.map((text) => text.split(' ', 3).join(' ')).sort()).toEqual([
    'Action reserved: NotEnforced',
    'QueryCollection unfit: RejectedByEngine',
    'RemoteSchema nope: RejectedByEngine',
  ]);
  expect(found.join('\n')).toContain("field 'no_such_field' not found");
  expect(found.join('\n')).toContain('"nope" is no URL that begins with http:// or https://');
  edit = (snapshot) => snapshot;
  expect(troubles(await pass())).toEqual([]);
});

test('a remote schema with permissions that are not enforced is not Ready and not written', async () => {
  const off = await startTestEngine({
    databaseUrl: world.database.url,
    adminSecret: world.engine.adminSecret,
    env: environmentFor(world.database, world.billing),
    enableAllowlist: true,
    enableRemoteSchemaPermissions: false,
  });
  const client = clientOf(off);
  const [trouble] = troubles(await pass(client)).filter((text) => text.startsWith('RemoteSchema'));
  expect(trouble).toMatch(/^RemoteSchema billing: RejectedByEngine .*--enable-remote-schema-permissions/);
  expect((await off.graphql('{ billing { invoices { id } } }', { role: 'anyone' })).errors).toBeDefined();
  await off.close();
});

test('a singleton object belongs to the older resource, and an entry for a missing collection waits', async () => {
  edit = (snapshot) => ({
    ...snapshot,
    resources: [
      ...snapshot.resources,
      resource(
        'ApiLimits',
        'second',
        { depth: { global: 3 } },
        { creationTimestamp: '2099-01-01T00:00:00Z' },
      ),
      resource('AllowListEntry', 'missing', { collection: 'nowhere' }),
    ],
  });
  expect(troubles(await pass())).toEqual([
    'ApiLimits second: Conflict api limits belongs to ApiLimits default/limits, which is older; delete this resource, or delete ApiLimits default/limits (key api_limits)',
    'AllowListEntry missing: DependencyNotReady allowlist nowhere waits for query collection nowhere, which the engine does not have',
  ]);
  edit = (snapshot) => snapshot;
});

test('a resource that needs something that does not exist waits for it', async () => {
  const webhook = { value: 'http://hooks.example.org' };
  const query = { collection: 'mobile', name: 'absent' };
  const toSource = { source: 'absent', table: 'a', relationshipType: 'Object', fieldMapping: { id: 'id' } };
  const added = [
    resource('Action', 'typeless', { sdl: 'type Query { typeless: Absent }', handler: webhook }),
    resource('EventTrigger', 'late', {
      name: 'late',
      table: 'article',
      update: { columns: ['absent'] },
      webhook,
    }),
    resource('LogicalModel', 'late', { name: 'late', fields: [{ name: 'a', type: 'absent' }] }),
    resource('NativeQuery', 'late', { name: 'late', sql: 'SELECT 1', returns: 'absent' }),
    resource('RemoteRelationship', 'late', { table: 'author', name: 'late', toSource }),
    resource('RestEndpoint', 'late', { name: 'late', url: 'late', methods: ['GET'], query }),
  ];
  edit = (snapshot) => ({ ...snapshot, resources: [...snapshot.resources, ...added] });
  const found = troubles(await pass());
  expect(found.map((text) => text.split(' ', 3).join(' ')).sort()).toEqual([
    'Action typeless: DependencyNotReady',
    'EventTrigger late: DependencyNotReady',
    'LogicalModel late: DependencyNotReady',
    'NativeQuery late: DependencyNotReady',
    'RemoteRelationship late: DependencyNotReady',
    'RestEndpoint late: DependencyNotReady',
  ]);
  edit = (snapshot) => snapshot;
  expect(troubles(await pass())).toEqual([]);
});

test('only the resource that the engine rejects reports the error', async () => {
  edit = (snapshot) => ({
    ...snapshot,
    resources: snapshot.resources.map((cr) => {
      if (cr.kind !== 'EventTrigger') return cr;
      return { ...cr, spec: { ...cr.spec, update: { columns: ['no_such_column'] } } };
    }),
  });
  const [trouble, ...others] = troubles(await pass());
  expect(trouble).toMatch(/^EventTrigger article-changed: DependencyNotReady .*no_such_column/);
  expect(others).toEqual([]);
  edit = (snapshot) => snapshot;
  expect(troubles(await pass())).toEqual([]);
});

test('a remote schema that does not respond waits, keeps its metadata, and affects only its relationships', async () => {
  world.billing.misbehave((request) => request.destroy());
  await world.engine.admin('reload_remote_schema', { name: 'billing' });
  await world.engine.admin('reload_metadata', { reload_remote_schemas: true });
  const report = await pass();
  expect(report.wasWritten).toBe(false);
  expect(troubles(report).map((text) => text.replace(/ remote.*/, ''))).toEqual([
    'RemoteRelationship author-invoices: RemoteUnavailable',
    'RemoteSchema billing: RemoteUnavailable',
  ]);
  world.billing.misbehave(null);
  await world.engine.admin('reload_metadata', { reload_remote_schemas: true });
  expect(troubles(await pass())).toEqual([]);
});

test('objects of every kind are deleted with their resources, and all other objects remain', async () => {
  await world.engine.admin('create_query_collection', { name: 'by_hand', definition: { queries: [] } });
  edit = (snapshot) => ({
    ...snapshot,
    resources: snapshot.resources.filter(({ kind }) => kind === 'Source'),
  });
  const held = await pass();
  const { hash } = held.plan!.pruneHold!;
  const { url, adminSecret } = world.engine;
  const source = { snapshot: async () => edit(await folder.snapshot()) };
  const released = { ...folderOptions(folder), confirmPrune: hash };
  await reconcile(
    { engine: engineClient({ url, adminSecret }), source, sink: folder, clock: systemClock },
    released,
  );
  const { body } = await world.engine.admin<Record<string, unknown>>('export_metadata', {});
  const { sources, ...rest } = body as { sources: { name: string; tables: unknown[] }[] };
  expect(rest).toEqual({ version: 3, query_collections: [{ name: 'by_hand', definition: { queries: [] } }] });
  expect(sources.map(({ name, tables }) => [name, tables])).toEqual([
    ['default', []],
    ['archive', []],
  ]);
});
