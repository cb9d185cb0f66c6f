/** Every kind over a real engine: the examples that documents show become Ready, do what they say, and nothing more; what an
 *  engine cannot serve is told with its reason. The tests are one story: each starts from what the one before left. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EVERY_KIND } from '../testing/examples.ts';
import { engineClient } from './engine-client.ts';
import { systemClock } from './folder/clock.ts';
import { folderOptions } from './folder/flags.ts';
import { FolderSource } from './folder/folder-source.ts';
import { KINDS } from './kinds.ts';
import type { CrSnapshot } from './ports.ts';
import { type Report, reconcile } from './reconcile.ts';
import { type EveryKind, startEveryKind } from './testing/every-kind.ts';
import { resource } from './testing/resources.ts';

let world: EveryKind;
const folder = new FolderSource(EVERY_KIND);
/** Changes what the folder says. */
let edit: (snapshot: CrSnapshot) => CrSnapshot = (snapshot) => snapshot;

beforeAll(async () => {
  world = await startEveryKind();
}, 60_000);
afterAll(() => world?.close());

async function pass(): Promise<Report> {
  const { url, adminSecret } = world.engine;
  const source = { snapshot: async () => edit(await folder.snapshot()) };
  const engine = engineClient({ url, adminSecret });
  return reconcile({ engine, source, sink: folder, clock: systemClock }, folderOptions(folder));
}

/** `Kind name: Reason message` of whatever is not applied. */
function troubles(report: Report): readonly string[] {
  return report.resources.flatMap((cr) => {
    const { outcome } = report.verdicts.get(cr.metadata.uid)!;
    return outcome.reason === 'Applied'
      ? []
      : [`${cr.kind} ${cr.metadata.name}: ${outcome.reason} ${outcome.message}`];
  });
}

const asReader = (query: string) => world.engine.graphql(query, { role: 'reader' });

test('examples of every kind are applied in one write, and a second pass writes nothing', async () => {
  const report = await pass();
  expect(folder.problems).toEqual([]);
  expect(troubles(report)).toEqual([]);
  const shown = new Set(report.resources.map(({ kind }) => kind));
  expect(KINDS.map(({ kind }) => kind).filter((kind) => !shown.has(kind))).toEqual(['Engine']);
  expect((await pass()).wasWritten).toBe(false);
});

test('the API is what the examples say, and no more', async () => {
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
  const editor = await world.engine.graphql('{ article { id } }', { role: 'editor' });
  expect(editor.data?.['article']).toHaveLength(2);
  for (const hidden of [
    '{ author { country } }',
    '{ article { isPublished } }',
    '{ archive_author { id } }',
  ]) {
    expect((await asReader(hidden)).errors?.[0]?.extensions.code).toBe('validation-failed');
  }
  const rest = await world.engine.fetch('/api/rest/articles/1', { headers: { 'x-engine-role': 'reader' } });
  expect(await rest.json()).toEqual({ article_by_pk: { id: 1, title: 'On maps' } });
});

test('a change by hand is drift, of these kinds too, and is put right', async () => {
  await world.engine.admin('drop_rest_endpoint', { name: 'article' });
  await world.engine.admin('drop_remote_schema_permissions', { remote_schema: 'billing', role: 'reader' });
  const report = await pass();
  expect(report.wasWritten).toBe(true);
  expect(troubles(report)).toEqual([]);
  const corrected = report.plan!.decisions.filter(({ action }) => action === 'correct').map(({ key }) => key);
  expect(corrected).toEqual(['remote_schema_permission/billing/reader', 'rest_endpoint/article']);
});

test('an object there is one of belongs to the older resource, and an entry for nothing waits', async () => {
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
    'ApiLimits second: Conflict api limits belongs to ApiLimits default/limits; remove it here or there (key api_limits)',
    'AllowListEntry missing: DependencyNotReady allowlist nowhere waits for query collection nowhere, which the engine does not have',
  ]);
  edit = (snapshot) => snapshot;
});

test('a resource that says something the engine refuses is told so alone', async () => {
  edit = (snapshot) => ({
    ...snapshot,
    resources: snapshot.resources.map((cr) => {
      if (cr.kind !== 'EventTrigger') return cr;
      return { ...cr, spec: { ...cr.spec, update: { columns: ['no_such_column'] } } };
    }),
  });
  const [trouble, ...others] = troubles(await pass());
  expect(trouble).toMatch(
    /^EventTrigger article-changed: (DependencyNotReady|RejectedByEngine) .*no_such_column/,
  );
  expect(others).toEqual([]);
  edit = (snapshot) => snapshot;
  expect(troubles(await pass())).toEqual([]);
});

test('a remote schema that does not answer waits, keeps its metadata, and takes nothing along', async () => {
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

test('what the folder no longer says goes, kind by kind, and nothing else does', async () => {
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
