/** An OCI registry in this process, for tests: it answers GET and HEAD of manifests and blobs, with no authentication, Basic, or a token of
 *  its own token service, and can be hostile. It follows the distribution specification 1.1 ("Pull", "Push"), whose remaining parts it leaves out:
 *  chunks, ranges, listing tags, referrers, deletion. Functions add artifacts in the forms of `oras push` and `flux push artifact`.
 *  Not here: what the operator makes of them (operator/artifacts/). */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';

export const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
export const OCI_INDEX = 'application/vnd.oci.image.index.v1+json';
export const FLUX_LAYER = 'application/vnd.cncf.flux.content.v1.tar+gzip';
export const TAR_LAYER = 'application/vnd.oci.image.layer.v1.tar';

export type RegistryRequest = {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
};

export type PushedLayer = {
  readonly mediaType: string;
  readonly content: Buffer;
  readonly annotations?: Readonly<Record<string, string>>;
};

export type TestRegistry = {
  /** `127.0.0.1:5000`. */
  readonly host: string;
  readonly requests: readonly RegistryRequest[];
  /** Answers a request instead of the registry if it returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Adds an artifact and returns the digest of its manifest. */
  readonly push: (name: string, tag: string, layers: readonly PushedLayer[]) => string;
  /** Adds any manifest and returns its digest. */
  readonly pushManifest: (name: string, tag: string, manifest: object | Buffer, mediaType: string) => string;
  readonly pushBlob: (content: Buffer) => { readonly digest: string; readonly size: number };
  readonly close: () => Promise<void>;
};

export type TestRegistryOptions = {
  readonly authentication?: 'basic' | 'bearer';
  readonly username?: string;
  readonly password?: string;
  /** The certificate and its key, in PEM. Absent: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
};

export function sha256(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** Returns an archive of files, or of entries with the given headers. */
export async function tarOf(
  files: Readonly<Record<string, string>>,
  others: readonly (Header & { readonly content?: string })[] = [],
): Promise<Buffer> {
  const archive = pack();
  for (const [name, content] of Object.entries(files)) archive.entry({ name }, content);
  for (const { content = '', ...header } of others) archive.entry(header, content);
  archive.finalize();
  return buffer(archive);
}

/** Returns the only layer that `flux push artifact` writes. */
export async function fluxLayer(files: Readonly<Record<string, string>>): Promise<PushedLayer> {
  return { mediaType: FLUX_LAYER, content: gzipSync(await tarOf(files)) };
}

/** Returns the layers that `oras push` writes for files. */
export function orasLayers(files: Readonly<Record<string, string>>): readonly PushedLayer[] {
  return Object.entries(files).map(([title, content]) => ({
    mediaType: TAR_LAYER,
    content: Buffer.from(content),
    annotations: { 'org.opencontainers.image.title': title },
  }));
}

export async function startRegistry({
  authentication,
  username = 'reader',
  password = 'secret-word',
  tls,
}: TestRegistryOptions = {}): Promise<TestRegistry> {
  const blobs = new Map<string, Buffer>();
  const manifests = new Map<string, { readonly content: Buffer; readonly mediaType: string }>();
  const requests: RegistryRequest[] = [];
  const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const token = `token-of-${username}`;
  const allowed = { basic, bearer: `Bearer ${token}` };

  const onRequest: RequestListener = (request, response) => {
    const path = request.url ?? '';
    const { authorization } = request.headers;
    requests.push({ method: request.method ?? '', path, authorization });
    if (registry.intercept(request, response)) return;
    const send = (status: number, headers: Record<string, string>, content = '') =>
      void response.writeHead(status, headers).end(request.method === 'HEAD' ? '' : content);
    if (path.startsWith('/token?')) {
      const isKnown = authorization === basic && path.includes('scope=repository%3A');
      return send(isKnown ? 200 : 401, { 'content-type': 'application/json' }, JSON.stringify({ token }));
    }
    if (authentication && authorization !== allowed[authentication]) {
      const realm = `Bearer realm="http${tls ? 's' : ''}://${registry.host}/token",service="test",scope="x"`;
      return send(401, { 'www-authenticate': authentication === 'basic' ? 'Basic realm="test"' : realm });
    }
    if (request.method === 'POST' || request.method === 'PUT') return void receive(request, response);
    const [, name, kind, version = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(path) ?? [];
    const manifest = manifests.get(`${name}:${version}`);
    const content = kind === 'blobs' ? blobs.get(version) : manifest?.content;
    if (!content) {
      return send(404, { 'content-type': 'application/json' }, '{"errors":[{"code":"MANIFEST_UNKNOWN"}]}');
    }
    response.writeHead(200, {
      'content-type': manifest?.mediaType ?? 'application/octet-stream',
      'content-length': content.length,
      'docker-content-digest': sha256(content),
    });
    response.end(request.method === 'HEAD' ? undefined : content);
  };

  /** A blob is announced by POST and follows by PUT; a manifest is put under its tag. */
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '';
    const content = await buffer(request);
    const [, name = '', tag = ''] = /^\/v2\/(.+)\/manifests\/([^/]+)$/.exec(path) ?? [];
    if (request.method === 'POST') {
      response.writeHead(202, { location: `${path.split('?')[0]}upload` }).end();
    } else if (name !== '') {
      const digest = pushManifest(name, tag, content, request.headers['content-type'] ?? OCI_MANIFEST);
      response.writeHead(201, { location: path, 'docker-content-digest': digest }).end();
    } else {
      const { digest } = pushBlob(content);
      response.writeHead(201, { location: path, 'docker-content-digest': digest }).end();
    }
  };
  const pushBlob = (content: Buffer) => {
    blobs.set(sha256(content), content);
    return { digest: sha256(content), size: content.length };
  };
  const pushManifest = (name: string, tag: string, manifest: object | Buffer, mediaType: string) => {
    const content = Buffer.isBuffer(manifest) ? manifest : Buffer.from(JSON.stringify(manifest));
    const digest = sha256(content);
    for (const version of [tag, digest]) manifests.set(`${name}:${version}`, { content, mediaType });
    return digest;
  };
  const server = tls ? createTlsServer(tls, onRequest) : createServer(onRequest);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const registry: TestRegistry = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    intercept: () => false,
    pushBlob,
    pushManifest,
    push: (name, tag, layers) => {
      const config = { mediaType: 'application/vnd.oci.empty.v1+json', ...pushBlob(Buffer.from('{}')) };
      const described = layers.map(({ content, ...rest }) => ({ ...rest, ...pushBlob(content) }));
      const manifest = { schemaVersion: 2, mediaType: OCI_MANIFEST, config, layers: described };
      return pushManifest(name, tag, manifest, OCI_MANIFEST);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return registry;
}

/** Returns the content of a Secret of type kubernetes.io/dockerconfigjson. */
export function dockerConfigOf(host: string, username = 'reader', password = 'secret-word'): string {
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  return JSON.stringify({ auths: { [host]: { auth } } });
}
