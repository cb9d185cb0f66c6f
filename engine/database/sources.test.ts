import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import type { DatabaseUrl, Source } from '../metadata/schema/source.ts';
import { openProxy } from '../wire/testing/proxy.ts';
import { Sources } from './sources.ts';

const sourceAt = (url: DatabaseUrl, name = 'default', pool = {}): Source => ({
  name,
  kind: 'postgres',
  tables: [],
  configuration: { connection_info: { database_url: url, pool_settings: pool } },
});

describe('open databases', () => {
  let one: TestDatabase;
  let two: TestDatabase;

  beforeAll(async () => {
    [one, two] = await Promise.all([createDatabase(), createDatabase()]);
  });
  afterAll(() => Promise.all([one.drop(), two.drop()]));

  const nameOf = async (sources: Sources, source = 'default') =>
    (await sources.get(source).run({ name: '', text: 'select current_database()' }, []))[0];
  const ofUrl = (url: string) => new URL(url).pathname.slice(1);

  test('are found by the name of a published source, and by no other', async () => {
    const sources = new Sources({ env: {}, folders: [] });
    sources.publish([sourceAt(one.url), sourceAt(two.url, 'other')]);
    expect([await nameOf(sources), await nameOf(sources, 'other')]).toEqual([ofUrl(one.url), ofUrl(two.url)]);
    expect(() => sources.get('third')).toThrow('source "third" is not open');
    await sources.close();
  });

  test('stay open while their configuration stays, and are closed when it goes', async () => {
    const sources = new Sources({ env: {}, folders: [] });
    sources.publish([sourceAt(one.url)]);
    const before = sources.get('default');
    sources.publish([sourceAt(one.url)]);
    expect(sources.get('default')).toBe(before);
    sources.publish([sourceAt(one.url, 'default', { max_connections: 3 })]);
    expect(sources.get('default')).not.toBe(before);
    await expect(before.run({ name: '', text: 'select 1' }, [])).rejects.toThrow();
    await sources.close();
  });

  test('of a configuration only tried out leave the published one alone', async () => {
    const sources = new Sources({ env: {}, folders: [] });
    sources.publish([sourceAt(one.url)]);
    const before = sources.get('default');
    await sources.database(sourceAt(two.url)).run({ name: '', text: 'select 1' }, []);
    expect(sources.get('default')).toBe(before);
    sources.publish([sourceAt(one.url)]);
    expect(await nameOf(sources)).toBe(ofUrl(one.url));
    await sources.close();
  });

  describe('with several hosts', () => {
    const several = (url: string, more = '') => {
      const { username, password, host, pathname } = new URL(url);
      const credentials = `${username}${password && `:${password}`}`;
      return `postgres://${credentials}@127.0.0.1:1,${host}${pathname}${more}`;
    };
    const ask = async (url: string) => {
      const sources = new Sources({ env: {}, folders: [] }, { retries: 0 });
      try {
        sources.publish([sourceAt(url)]);
        return await nameOf(sources);
      } finally {
        await sources.close();
      }
    };

    test('go to the first that takes the connection', async () => {
      expect(await ask(several(one.url))).toBe(new URL(one.url).pathname.slice(1));
    });

    test.each(['any', 'primary', 'read-write', 'prefer-standby'])(
      'go to a primary with target_session_attrs=%s',
      async (session) => {
        const url = several(one.url, `?target_session_attrs=${session}`);
        expect(await ask(url)).toBe(new URL(one.url).pathname.slice(1));
      },
    );

    test.each(['standby', 'read-only'])('find none with target_session_attrs=%s', async (session) => {
      const url = several(one.url, `?target_session_attrs=${session}`);
      await expect(ask(url)).rejects.toThrow();
      await expect(ask(one.url + `?target_session_attrs=${session}`)).rejects.toThrow(
        `no server of the connection is ${session}`,
      );
    });
  });

  test('a keyword=value string is as good as a URL', async () => {
    const { username, hostname, port, pathname } = new URL(one.url);
    const sources = new Sources({ env: {}, folders: [] });
    sources.publish([
      sourceAt(`host=${hostname} port=${port} user=${username} dbname='${pathname.slice(1)}'`),
    ]);
    expect(await nameOf(sources)).toBe(pathname.slice(1));
    await sources.close();
  });

  test('follow a URL that changes in its file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pergola-url-'));
    const file = join(folder, 'url');
    await writeFile(file, one.url);
    const sources = new Sources({ env: {}, folders: [folder] });
    sources.publish([sourceAt({ dynamic_from_file: file })]);
    expect(await nameOf(sources)).toBe(ofUrl(one.url));
    await writeFile(file, two.url);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await nameOf(sources)).toBe(ofUrl(two.url));
    await sources.close();
    await rm(folder, { recursive: true });
  });

  test('have no more connections than either limit says', async () => {
    const sources = new Sources({ env: {}, folders: [] }, { maxConnections: 7 });
    const mostOf = (pool: object) => sources.database(sourceAt(one.url, 'default', pool)).state.most;
    expect(mostOf({})).toBe(7);
    expect(mostOf({ max_connections: 3 })).toBe(3);
    expect(mostOf({ total_max_connections: 5 })).toBe(5);
    expect(mostOf({ max_connections: 9, total_max_connections: 5 })).toBe(5);
    await sources.close();
  });

  test('try to connect again as often as they are told', async () => {
    const proxy = await openProxy(one.url);
    const tries = async (retries: number) => {
      let count = 0;
      const refuseOnce = createServer((client) => {
        if (count++ === 0) return client.destroy();
        const upstream = connect(Number(new URL(proxy.url).port), '127.0.0.1');
        client
          .on('error', () => {})
          .pipe(upstream.on('error', () => {}))
          .pipe(client);
      });
      await new Promise<void>((resolve) => refuseOnce.listen(0, '127.0.0.1', resolve));
      const url = new URL(proxy.url);
      url.port = String((refuseOnce.address() as AddressInfo).port);
      url.search = '?sslmode=disable';
      const sources = new Sources({ env: {}, folders: [] });
      const database = sources.database(sourceAt(url.href, 'default', { retries }));
      const answer = await database.run({ name: '', text: 'select 1' }, []).then(
        (row) => row[0],
        () => 'failed',
      );
      await sources.close();
      refuseOnce.close();
      return answer;
    };
    expect([await tries(0), await tries(1)]).toEqual(['failed', '1']);
    await proxy.close();
  });
});
