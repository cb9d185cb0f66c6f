/** Tests the connection that an Engine resource describes. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import { EngineConnections } from './engine-connections.ts';
import type { References } from './references.ts';

test.each([undefined, 'x-hasura-'])('the admin secret is sent with the prefix %s', async (headerPrefix) => {
  let received: IncomingHttpHeaders = {};
  const server = createServer((request, response) => {
    received = request.headers;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ resource_version: 7, state_version: 'a' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const connections = new EngineConnections({
    references: {} as References,
    nowMs: () => 0,
    onRequest: () => {},
    resolve: async () => [],
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const engine = {
    metadata: { name: 'main', namespace: 'a' },
    spec: { endpoint: { url }, ...(headerPrefix && { headerPrefix }) },
  } as unknown as CustomResource;
  expect(await connections.portOf('a/main', engine, 'hush').version()).toBe(7);
  const expected = `${headerPrefix ?? 'x-engine-'}admin-secret`;
  expect(Object.keys(received).filter((name) => name.endsWith('-admin-secret'))).toEqual([expected]);
  expect(received[expected]).toBe('hush');
  await connections.stop();
  server.close();
});

describe('the endpoint of an Engine', () => {
  /** The paths that a server on this machine was requested for, which stands for every address after the decision. */
  const requested: string[] = [];
  let port: number;
  beforeAll(async () => {
    const server = createServer((request, response) => {
      requested.push(request.url!);
      response
        .setHeader('content-type', 'application/json')
        .end('{"resource_version":7,"state_version":"a"}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
    return () => {
      server.close();
      server.closeAllConnections();
    };
  });

  /** Requests the version of the engine at a host that resolves to the address. Returns it, or the message of the error. */
  async function versionAt(
    host: string,
    {
      address = host,
      hosts = ['*'],
      more = '',
      replicas,
    }: { address?: string; hosts?: string[]; more?: string; replicas?: string } = {},
  ): Promise<unknown> {
    requested.length = 0;
    const connections = new EngineConnections({
      references: {} as References,
      nowMs: () => 0,
      onRequest: () => {},
      resolve: async () => [replicas ?? ''],
      hosts,
      network: {
        lookup: (_, __, callback) => callback(null, [{ address, family: isIP(address) }]),
        routed: () => '127.0.0.1',
      },
    });
    const endpoint = {
      url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}${more}`,
      ...(replicas === undefined ? {} : { replicas: { name: 'pods', port } }),
    };
    const engine = { metadata: { name: 'main', namespace: 'team' }, spec: { endpoint } };
    const client = connections.portOf('team/main', engine as unknown as CustomResource, 'hush');
    const answer = await client.version().catch((error: Error) => error.message);
    const lagging = replicas === undefined ? answer : await client.laggingReplicas(7);
    connections.stop();
    return lagging;
  }

  const NEVER = ['169.254.169.254', '0.0.0.0', 'fd00:ec2::254', '::', 'fe80::1', '::ffff:169.254.169.254'];

  test.each(NEVER)('is never %s, nor a name of it', async (address) => {
    const hosts = ['*', address, `[${address}]`, 'engine.example'];
    expect(await versionAt(address, { hosts })).toMatch(/the address of .* is refused/);
    expect(await versionAt('engine.example', { address, hosts })).toMatch(/the address of .* is refused/);
    expect(requested).toEqual([]);
  });

  test.each(['2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518'])(
    'is never %s, which is read as a link-local address',
    async (host) => {
      expect(await versionAt(host)).toMatch(/the address of 169.254.169.254 is refused/);
      expect(requested).toEqual([]);
    },
  );

  test('may be a Service, which has a private address', async () => {
    for (const address of ['10.96.0.7', '192.168.3.4', 'fd00::7']) {
      expect(await versionAt('engine.team.svc', { address, hosts: ['*.svc'] })).toBe(7);
    }
    expect(await versionAt('10.96.0.7')).toBe(7);
  });

  test('is on the machine of the operator only if its options name the host in full', async () => {
    for (const [host, address] of [
      ['localhost', '127.0.0.1'],
      ['127.0.0.1'],
      ['rebound.example', '127.0.0.1'],
      ['::1'],
    ] as const) {
      expect(await versionAt(host, { address: address ?? host })).toMatch(/the address of .* is refused/);
      expect(requested).toEqual([]);
    }
    expect(await versionAt('127.0.0.1', { hosts: ['127.0.0.1'] })).toBe(7);
    expect(await versionAt('localhost', { address: '127.0.0.1', hosts: ['*', 'localhost'] })).toBe(7);
  });

  test('is at a host that the options of the operator list', async () => {
    const address = '10.0.0.7';
    expect(await versionAt('admin.other.svc', { address, hosts: ['*.team.svc'] })).toContain(
      '--engine-hosts',
    );
    expect(requested).toEqual([]);
  });

  test('is requested at the path of an engine, whatever follows the host', async () => {
    const options = { address: '10.0.0.7' };
    for (const more of ['/latest/meta-data/#', '/#', '?', '/?a=']) {
      expect(await versionAt('engine.example', { ...options, more })).toContain('does not answer');
      expect(requested).toEqual([]);
    }
    expect(await versionAt('engine.example', { ...options, more: '/api/' })).toBe(7);
    expect(requested).toEqual(['/api/v1alpha1/config']);
  });

  test('has replicas at addresses that are checked, too', async () => {
    const options = { address: '10.0.0.7', hosts: ['engine.example', 'pods.team.svc.example', '*.svc'] };
    expect(await versionAt('engine.example', { ...options, replicas: '10.0.0.8' })).toEqual([]);
    for (const replicas of ['169.254.169.254', '127.0.0.1']) {
      expect(await versionAt('engine.example', { ...options, replicas })).toEqual([
        { replica: replicas, problem: 'does not answer' },
      ]);
      expect(requested).toHaveLength(1);
    }
    expect(
      await versionAt('engine.example', { ...options, hosts: ['engine.example'], replicas: '10.0.0.8' }),
    ).toEqual([{ replica: 'pods.team.svc', problem: expect.stringContaining('--engine-hosts') }]);
  });
});
