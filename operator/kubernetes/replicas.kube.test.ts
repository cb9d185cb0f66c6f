/** Tests two replicas of an engine, one of them suspended (SIGSTOP) while a resource is applied, with a real API server, real engines,
 *  and an operator that finds them by the name of their Service, which the test resolves.
 *  Not here: the effects of each kind of lag (engine/replica-sync.test.ts). */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openProxy } from '../../engine/wire/testing/proxy.ts';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { describeKube } from '../../testing/kube.ts';
import { GROUP_VERSION } from '../kinds.ts';
import { createRig, HOME, type Rig, readyOf } from './testing/rig.ts';

const SCHEMA = 'create table author (id serial primary key); create table book (id serial primary key)';
/** The rig's engine has the first address. */
const ADDRESSES = ['127.0.0.1', '127.0.0.2'];
const PATIENCE_MS = 60_000;

await describeKube('an engine with two replicas', (kube) => {
  let rig: Rig;
  let port: string;
  let second: ChildProcess;
  /** A database that the first replica reaches directly and the second through a proxy. */
  let far: TestDatabase;
  let proxy: Awaited<ReturnType<typeof openProxy>>;

  beforeAll(async () => {
    far = await createDatabase();
    await far.sql('create table star (id serial primary key)');
    proxy = await openProxy(far.url);
    rig = await createRig(kube(), SCHEMA);
    await rig.stopEngine();
    await rig.startEngine('first-secret', { env: { FAR_URL: far.url } });
    port = new URL(rig.engine().url).port;
    second = startReplica();
    const { spec } = await rig.get('Engine', 'main');
    const endpoint = { ...(spec['endpoint'] as object), replicas: { name: 'pods', port: Number(port) } };
    const metadata = { name: 'main', namespace: HOME };
    await rig.kube.apply({
      apiVersion: GROUP_VERSION,
      kind: 'Engine',
      metadata,
      spec: { ...spec, endpoint },
    });
    await vi.waitFor(servedBySecond, { timeout: PATIENCE_MS });
    await rig.startOperator([], async (host) => (host === `pods.${HOME}.svc` ? ADDRESSES : []));
  }, 120_000);
  afterAll(async () => {
    second?.kill('SIGKILL');
    await rig?.close();
    await proxy?.close();
    await far?.drop();
  }, 90_000);

  function startReplica(): ChildProcess {
    const bin = join(import.meta.dirname, '../../bin/pergola.mjs');
    const at = ['--server-host', ADDRESSES[1]!, '--server-port', port, '--source-check-interval', '1'];
    const env = {
      PATH: process.env['PATH'],
      ENGINE_GRAPHQL_ADMIN_SECRET: 'first-secret',
      ENGINE_GRAPHQL_DATABASE_URL: rig.database.url,
      FAR_URL: proxy.url,
    };
    return spawn(process.execPath, [bin, 'serve', ...at], { env, stdio: 'ignore' });
  }

  async function servedBySecond(): Promise<number> {
    const headers = { 'x-engine-admin-secret': 'first-secret' };
    const response = await fetch(`http://${ADDRESSES[1]}:${port}/v1alpha1/config`, { headers });
    return ((await response.json()) as { resource_version: number }).resource_version;
  }

  const track = (name: string, source = 'default') =>
    rig.kube.apply({
      apiVersion: GROUP_VERSION,
      kind: 'Table',
      metadata: { name, namespace: HOME },
      spec: { engineRef: { name: 'main' }, source, table: name },
    });

  const writtenVersion = async () => (await rig.get('Engine', 'main')).status!.resourceVersion!;

  test('both replicas serve a resource that is Ready', async () => {
    await track('author');
    await rig.ready('Table', 'author', 'Applied');
    const served = await servedBySecond();
    await vi.waitFor(async () => expect(await writtenVersion()).toBeGreaterThan(1), { timeout: PATIENCE_MS });
    expect(served).toBeGreaterThanOrEqual(await writtenVersion());
    const { status } = await rig.get('Engine', 'main');
    expect(status!.engineVersion).toMatch(/^v\d+\.\d+/);
    expect(status!.replicas).toEqual(
      ADDRESSES.map((address) => ({ address, engineVersion: status!.engineVersion })),
    );
  });

  test(
    'a written resource is not Ready and names the replica that hangs, and is Ready once that continues',
    async () => {
      second.kill('SIGSTOP');
      try {
        await track('book');
        await vi.waitFor(
          async () => {
            const { status } = await rig.get('Table', 'book');
            const said = `${readyOf(status)?.status} ${readyOf(status)?.message}`;
            expect(said).toMatch(/^Unknown 1 object applied; .*127\.0\.0\.2 does not answer\.$/);
          },
          { timeout: PATIENCE_MS, interval: 50 },
        );
        const written = await rig.engine().admin('export_metadata', {});
        expect(JSON.stringify(written.body)).toContain('"book"');
        expect(readyOf((await rig.get('Table', 'author')).status)?.status).toBe('True');
      } finally {
        second.kill('SIGCONT');
      }
      const { message } = await rig.ready('Table', 'book', 'Applied');
      expect(message).toBe('1 object applied.');
      expect(await servedBySecond()).toBeGreaterThanOrEqual(await writtenVersion());
    },
    3 * PATIENCE_MS,
  );

  test(
    'resources in a database that one replica cannot reach are not Ready, and the message names the replica',
    async () => {
      const configuration = { connection_info: { database_url: { from_env: 'FAR_URL' } } };
      await rig.engine().admin('pg_add_source', { name: 'far', configuration });
      await track('star', 'far');
      await rig.ready('Table', 'star', 'Applied');
      await proxy.close();
      const { message } = await rig.ready('Table', 'star', 'SourceUnavailable');
      expect(message).toContain('on replica 127.0.0.2');
      expect(readyOf((await rig.get('Table', 'author')).status)?.status).toBe('True');
      proxy = await openProxy(far.url, Number(new URL(proxy.url).port));
      await rig.ready('Table', 'star', 'Applied');
    },
    3 * PATIENCE_MS,
  );
});
