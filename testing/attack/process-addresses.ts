/** Gives addresses that must not be connected to: to an engine by its options (JWKS, the authentication hook), and to the operator by an
 *  Engine and by a Migration. Runs as a process of its own with network.mjs loaded, and starts the engines with it.
 *  In: ENGINE_GRAPHQL_DATABASE_URL. Out: what is wrong, as JSON, to the parent process. Not here: the metadata of the engine (addresses.ts). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { artifactRequestOf } from '../../operator/artifacts/artifact-request.ts';
import { download } from '../../operator/artifacts/download.ts';
import type { CustomResource } from '../../operator/kinds.ts';
import { EngineConnections } from '../../operator/kubernetes/engine-connections.ts';
import type { References } from '../../operator/kubernetes/references.ts';
import { certificate } from '../../operator/kubernetes/testing/certificate.ts';
import { resource } from '../../operator/testing/resources.ts';
import { ANY_PORT, healthyUrl } from '../engine-process.ts';
import { FEW_HOSTS, METADATA_HOSTS, startRedirector } from './addresses.ts';

const NETWORK = new URL('network.mjs', import.meta.url).href;
const problems: string[] = [];
const redirector = await startRedirector();

/** The hosts by themselves and by a redirect. */
function urlsOf(hosts: readonly string[], by: string): readonly string[] {
  const urls = hosts.map((host) => `http://${host}/${by}`);
  return [...urls, ...urls.map((url) => redirector.urlTo(url, by))];
}

function startWith(flags: readonly string[]) {
  const command = ['--import', NETWORK, 'bin/pergola.mjs', 'serve', ...ANY_PORT, ...flags];
  const engine = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] });
  return { engine, url: healthyUrl(engine, 'ignore') };
}

async function jwks(url: string): Promise<void> {
  const { engine, url: healthy } = startWith(['--jwt-secret', JSON.stringify({ jwk_url: url })]);
  const said = await healthy.catch((error: Error) => error.message);
  engine.kill('SIGKILL');
  if (said.startsWith('http')) problems.push(`JWKS at ${url}: the engine has started`);
}

async function authHook(url: string): Promise<void> {
  const { engine, url: healthy } = startWith(['--auth-hook', url]);
  const headers = { 'content-type': 'application/json' };
  const body = '{"query":"{ __typename }"}';
  const answer = await fetch(`${await healthy}/v1/graphql`, { method: 'POST', headers, body });
  const said = await answer.text();
  engine.kill('SIGKILL');
  if (said.includes('"data":{')) problems.push(`an authentication hook at ${url}: ${said}`);
}

async function engineResource(url: string): Promise<void> {
  const connections = new EngineConnections({
    references: {} as References,
    nowMs: () => 0,
    onRequest: () => {},
    resolve: async () => FEW_HOSTS.map((host) => host.replace(/^\[|\]$/g, '')),
    hosts: ['*', '127.0.0.1'],
  });
  const endpoint = { url, replicas: { name: 'pods', port: 80 } };
  const engine = { metadata: { name: 'main', namespace: 'team' }, spec: { endpoint } };
  const client = connections.portOf('team/main', engine as unknown as CustomResource, 'hush');
  const said = await client.version().catch((error: Error) => error.message);
  await client.laggingReplicas!(7).catch(() => {});
  await connections.stop();
  const isRedirect = url.includes(redirector.host);
  if (!isRedirect && !/is refused|not that of an engine|ERR_ADDRESS_REFUSED/.test(String(said)))
    problems.push(`an Engine at ${url}: ${said}`);
}

/** The certificate of registries over TLS, which the Migration names as their authority. */
const TLS = certificate();

/** Downloads from a registry, over HTTP and over TLS, that leads to the URL: by a redirect, and as the place of tokens. */
async function leadingArtifact(url: string): Promise<void> {
  const answers: readonly (readonly [number, Readonly<Record<string, string>>])[] = [
    [302, { location: url }],
    [401, { 'www-authenticate': `Bearer realm="${url}",service="registry"` }],
  ];
  const registries = [true, false].flatMap((isPlain) =>
    answers.map((answer) => [isPlain, ...answer] as const),
  );
  for (const [isPlain, status, headers] of registries) {
    let requests = 0;
    const answer: RequestListener = (_, response) => {
      requests++;
      response.writeHead(status, headers).end();
    };
    const registry = isPlain ? createServer(answer) : createTlsServer(TLS, answer);
    await once(registry.listen(0, '127.0.0.1'), 'listening');
    const host = `127.0.0.1:${(registry.address() as AddressInfo).port}`;
    const said = await downloaded(host, isPlain, ['*', host]);
    if (said === 'downloaded' || requests === 0)
      problems.push(`an artifact of a registry ${isPlain ? '' : 'over TLS '}that leads to ${url}: ${said}`);
    registry.close();
    registry.closeAllConnections();
  }
}

async function artifact(host: string, isPlain: boolean): Promise<void> {
  const said = await downloaded(host, isPlain, ['*']);
  if (!said.includes('is not one of a registry')) problems.push(`an artifact of ${host}: ${said}`);
}

async function downloaded(host: string, isPlain: boolean, hosts: readonly string[]): Promise<string> {
  const repository = 'registry.example/acme/library';
  const ca = { value: TLS.cert };
  const ociArtifact = { repository, tag: 'v1', plainHttp: isPlain, ...(isPlain ? {} : { ca }) };
  const request = artifactRequestOf(resource('Migration', 'library', { ociArtifact }), {
    secret: () => undefined,
    configMap: () => undefined,
  });
  if ('reason' in request) throw new Error(request.message);
  const { signal } = new AbortController();
  const policy = { hosts, allowsLoopback: false };
  const reference = { ...request.reference, host };
  return download({ ...request, reference }, { policy, previous: undefined, signal, downloadMs: 3_000 }).then(
    () => 'downloaded',
    (error: Error) => error.message,
  );
}

for (const url of urlsOf(METADATA_HOSTS, 'engine')) await engineResource(url);
for (const host of METADATA_HOSTS) for (const isPlain of [true, false]) await artifact(host, isPlain);
for (const host of METADATA_HOSTS)
  for (const scheme of ['http', 'https']) await leadingArtifact(`${scheme}://${host}/`);
for (const url of urlsOf(FEW_HOSTS, 'jwks')) await jwks(url);
for (const url of urlsOf(FEW_HOSTS, 'hook')) await authHook(url);
redirector.close();
process.send!(problems);
process.disconnect();
