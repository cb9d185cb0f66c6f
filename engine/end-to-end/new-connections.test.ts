/** Read replicas and members of a connection set are tried when a source is added or changed, as its primary is.
 *  Reference: docs/reference/behaviour/metadata.md, "Sources". */
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import { openProxy } from '../wire/testing/proxy.ts';

const primary = testDatabase();
const replica = testDatabase();
let engine: TestEngine;
let mute: Server;

beforeAll(async () => {
  for (const database of [primary, replica]) await database.sql('create table note (id serial primary key)');
  engine = await startTestEngine({
    databaseUrl: primary.url,
    env: { SECRET_REPLICA: urlTo('secret', 'u', 1) },
  });
  mute = createServer(() => {});
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await engine?.close();
  mute?.close();
});
beforeEach(async () => {
  await engine.admin('pg_drop_source', { name: 'shop', cascade: true });
});

const urlTo = (password: string, user: string, port: number) =>
  `postgres://${user}:${password}@127.0.0.1:${port}/planted`;

function changed(url: string, change: (url: URL) => void): string {
  const copy = new URL(url);
  change(copy);
  return copy.href;
}

/** The parts of a configuration that hold a connection, with the path of that connection. */
const PARTS = [
  [
    'read_replicas',
    'read_replicas[1]',
    (info: object) => ({ read_replicas: [{ database_url: replica.url }, info] }),
  ],
  [
    'connection_set',
    'connection_set[0].connection_info',
    (info: object) => ({ connection_set: [{ name: 'm', connection_info: info }] }),
  ],
] as const;

/** Connections that do not answer, with a part of the error. */
const FAULTS: readonly [string, () => object, RegExp][] = [
  ['a closed port', () => ({ database_url: urlTo('x', 'u', 1) }), /ECONNREFUSED/],
  [
    'a variable, whose text is masked',
    () => ({ database_url: { from_env: 'SECRET_REPLICA' } }),
    /ECONNREFUSED/,
  ],
  [
    'a missing database',
    () => ({ database_url: changed(replica.url, (url) => (url.pathname = '/nowhere')) }),
    /"nowhere" does not exist/,
  ],
  [
    'an unknown role',
    () => ({ database_url: changed(replica.url, (url) => (url.username = 'nobody_here')) }),
    /"nobody_here" does not exist/,
  ],
  [
    'TLS that the server lacks',
    () => ({ database_url: replica.url, ssl_configuration: { sslmode: 'require' } }),
    /TLS|SSL/i,
  ],
  [
    'another state than the wanted',
    () => ({ database_url: `${replica.url}?target_session_attrs=standby` }),
    /standby/,
  ],
  [
    'a server that stays silent',
    () => ({
      database_url: `${urlTo('x', 'u', (mute.address() as { port: number }).port)}?connect_timeout=1`,
    }),
    /./,
  ],
];

type Refusal = { readonly path: string; readonly error: string; readonly code: string };

const configurationOf = (part: object, database_url: unknown = primary.url) => ({
  connection_info: { database_url },
  ...part,
});

async function sourceNames(): Promise<readonly string[]> {
  const { body } = await engine.admin<{ sources: { name: string }[] }>('export_metadata', {});
  return body.sources.map(({ name }) => name);
}

describe.each(PARTS)('%s', (_, path, partOf) => {
  test.each(FAULTS)('%s refuses the source that is added', async (_, infoOf, text) => {
    const configuration = configurationOf(partOf(infoOf()));
    const { status, body } = await engine.admin<Refusal>('pg_add_source', { name: 'shop', configuration });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid-configuration' });
    expect(body.error).toMatch(text);
    expect(body.path).toBe(`$.args.configuration.${path}`);
    expect(JSON.stringify(body)).not.toMatch(/secret|planted/);
    expect(await sourceNames()).toEqual(['default']);
  });

  test.each(FAULTS.slice(0, 3))('%s refuses the update, and the source is as before', async (_, infoOf) => {
    const before = configurationOf({});
    await engine.admin('pg_add_source', { name: 'shop', configuration: before });
    const configuration = configurationOf(partOf(infoOf()));
    const { status } = await engine.admin('pg_update_source', { name: 'shop', configuration });
    expect(status).toBe(400);
    const { body } = await engine.admin<{ sources: object[] }>('export_metadata', {});
    expect(body.sources).toMatchObject([{ name: 'default' }, { name: 'shop', configuration: before }]);
    expect((body.sources[1] as { configuration: object }).configuration).toEqual(before);
  });

  test('connections that answer are accepted', async () => {
    const configuration = configurationOf(partOf({ database_url: replica.url }));
    const { status, body } = await engine.admin('pg_add_source', { name: 'shop', configuration });
    expect({ status, body }).toEqual({ status: 200, body: { message: 'success' } });
  });

  test('a dry run reports it, and a document that may be inconsistent is accepted and served without it', async () => {
    const { body } = await engine.admin<{ sources: object[] }>('export_metadata', {});
    const configuration = configurationOf(partOf({ database_url: urlTo('x', 'u', 1) }));
    const shop = { name: 'shop', kind: 'postgres', configuration, tables: [{ table: 'note' }] };
    const metadata = { ...body, sources: [...body.sources, shop] };
    const replace = (options: object) =>
      engine.admin('replace_metadata', { metadata, ...options }, { version: 2 });
    const reported = { is_consistent: false, inconsistent_objects: [{ type: 'source' }] };
    expect(await replace({ dry_run: true })).toMatchObject({ status: 200, body: reported });
    expect(await replace({})).toMatchObject({ status: 400 });
    const accepted = await replace({ allow_inconsistent_metadata: true });
    expect(accepted).toMatchObject({ status: 200, body: reported });
    expect((await engine.admin('get_inconsistent_metadata', {})).body).toMatchObject(reported);
    expect(await engine.graphql('{ note { id } }')).toEqual({ data: { note: [] } });
    await engine.must('drop_inconsistent_metadata', {});
    expect(await sourceNames()).toEqual(['default', 'shop']);
  });
});

test('a replica that does not answer is left out, and taken in when it does, without a request', async () => {
  const away = await openProxy(replica.url);
  const { port } = new URL(away.url);
  await away.close();
  const { body: document } = await engine.admin<{ sources: object[] }>('export_metadata', {});
  const configuration = configurationOf({ read_replicas: [{ database_url: away.url }] });
  const shop = { name: 'shop', kind: 'postgres', configuration, tables: [{ table: 'note' }] };
  const metadata = { ...document, sources: [...document.sources, shop] };
  const accepted = await engine.admin<{ inconsistent_objects: object[] }>(
    'replace_metadata',
    { metadata, allow_inconsistent_metadata: true },
    { version: 2 },
  );
  expect(accepted.body.inconsistent_objects).toMatchObject([
    { type: 'source', reason: expect.stringMatching(/cannot connect to shop replica 1: .*ECONNREFUSED/) },
  ]);
  expect(await engine.graphql('{ note { id } }')).toEqual({ data: { note: [] } });
  const back = await openProxy(replica.url, Number(port));
  await vi.waitFor(
    async () => {
      const { body } = await engine.admin('get_inconsistent_metadata', {});
      expect(body).toEqual({ is_consistent: true, inconsistent_objects: [] });
    },
    { timeout: 15_000, interval: 100 },
  );
  await engine.graphql('{ note { id } }');
  expect(back.accepted).toBeGreaterThan(0);
  await back.close();
});

test('a replica that is in use already and fails for a moment does not refuse another change', async () => {
  const proxy = await openProxy(replica.url);
  const replicas = { read_replicas: [{ database_url: proxy.url }] };
  const added = await engine.admin('pg_add_source', {
    name: 'shop',
    configuration: configurationOf(replicas),
  });
  expect(added.status).toBe(200);
  await proxy.close();
  const configuration = configurationOf({
    ...replicas,
    connection_set: [{ name: 'm', connection_info: { database_url: replica.url } }],
  });
  const { status, body } = await engine.admin('pg_update_source', { name: 'shop', configuration });
  expect({ status, body }).toEqual({ status: 200, body: { message: 'success' } });
});

describe.each(PARTS)('%s that do not answer any more', (_, path, partOf) => {
  test.each(['an engine that starts', 'an engine that follows another'])(
    '%s names them, serves without them, and takes them in',
    async (who) => {
      const own = await createDatabase();
      await own.sql('create table note (id serial primary key)');
      const proxy = await openProxy(replica.url);
      const first = await startTestEngine({ databaseUrl: own.url });
      const following =
        who === 'an engine that follows another'
          ? await startTestEngine({ databaseUrl: own.url })
          : undefined;
      if (following) proxy.isSilent = true;
      const configuration = configurationOf(
        partOf({ database_url: `${proxy.url}?connect_timeout=1` }),
        own.url,
      );
      const { body } = await first.admin<{ sources: object[] }>('export_metadata', {});
      const shop = { name: 'shop', kind: 'postgres', configuration, tables: [{ table: 'note' }] };
      const customization = { root_fields: { prefix: 'shop_' }, type_names: { prefix: 'shop_' } };
      const metadata = { ...body, sources: [{ ...shop, customization }] };
      await first.admin('replace_metadata', { metadata, allow_inconsistent_metadata: true }, { version: 2 });
      if (!following) {
        proxy.isSilent = true;
        await first.close();
      }
      const began = performance.now();
      const next = following ?? (await startTestEngine({ databaseUrl: own.url }));
      if (!following) expect(performance.now() - began).toBeLessThan(3000);
      const reported = async () => {
        const args = { include_keys: true };
        type Report = {
          inconsistent_objects: { type: string; served?: boolean; reason: string; path: unknown }[];
        };
        return (await next.admin<Report>('get_inconsistent_metadata', args)).body.inconsistent_objects;
      };
      await vi.waitFor(
        async () => expect(await reported()).toMatchObject([{ type: 'source', served: true }]),
        {
          timeout: 8000,
          interval: 100,
        },
      );
      const [found] = await reported();
      expect(JSON.stringify(found)).toContain(JSON.stringify(path.match(/\w+/)![0]).slice(1, -1));
      expect(await next.graphql('{ shop_note { id } }')).toEqual({ data: { shop_note: [] } });
      proxy.isSilent = false;
      await vi.waitFor(async () => expect(await reported()).toEqual([]), { timeout: 15_000, interval: 100 });
      await next.close();
      if (following) await first.close();
      await proxy.close();
      await own.drop();
    },
    40_000,
  );
});
