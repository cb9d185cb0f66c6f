/** Tests downloads from a registry: every form of an artifact, authentication, and what a hostile registry or author can try. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import {
  dockerConfigOf,
  FLUX_LAYER,
  fluxLayer,
  OCI_INDEX,
  OCI_MANIFEST,
  orasLayers,
  sha256,
  startRegistry,
  TAR_LAYER,
  type TestRegistry,
  type TestRegistryOptions,
  tarOf,
} from '../../testing/registry.ts';
import { resource } from '../testing/resources.ts';
import { type ArtifactRequest, artifactRequestOf } from './artifact-request.ts';
import type { AddressPolicy } from './download.ts';
import { type DownloadOptions, download } from './download.ts';
import { LIMITS } from './limits.ts';

const BOOK = { '1_book.sql': 'create table book (id int)', '2_shelf.sql': 'create table shelf (id int)' };
const FILES = Object.entries(BOOK).map(([name, sql]) => ({ name, sql }));
const NAME = 'acme/library';
const ANYWHERE: AddressPolicy = { hosts: ['*'], allowsLoopback: true };

const open: TestRegistry[] = [];
afterEach(async () => {
  for (const registry of open.splice(0)) await registry.close();
});

async function start(options?: TestRegistryOptions): Promise<TestRegistry> {
  const registry = await startRegistry(options);
  open.push(registry);
  return registry;
}

function requestFor(
  { host }: Pick<TestRegistry, 'host'>,
  spec: object = { tag: 'v1' },
  secret?: string,
): ArtifactRequest {
  const ociArtifact = {
    ...{ repository: `${host}/${NAME}`, plainHttp: true, ...spec },
    ...(secret === undefined ? {} : { secretRef: { name: 'pull' } }),
  };
  const references = { secret: () => secret, configMap: () => undefined };
  const request = artifactRequestOf(resource('Migration', 'library', { ociArtifact }), references);
  if ('reason' in request) throw new Error(request.message);
  return request;
}

const get = (request: ArtifactRequest, options: Partial<DownloadOptions> = {}) =>
  download(request, {
    policy: ANYWHERE,
    previous: undefined,
    signal: new AbortController().signal,
    ...options,
  });

const problem = async (request: ArtifactRequest, options?: Partial<DownloadOptions>) => {
  const result = await get(request, options).catch((error: unknown) => error);
  expect(result).toBeInstanceOf(Error);
  return (result as Error).message;
};

describe('the forms of an artifact', () => {
  test.each([
    ['an archive of flux', async () => [await fluxLayer(BOOK)]],
    [
      'an archive of an image',
      async () => [{ mediaType: `${TAR_LAYER}+gzip`, content: gzipSync(await tarOf(BOOK)) }],
    ],
    ['an archive that is not compressed', async () => [{ mediaType: TAR_LAYER, content: await tarOf(BOOK) }]],
    ['one file in each layer', async () => orasLayers(BOOK)],
    [
      'a folder, beside other files',
      async () => [
        await fluxLayer({
          './1_book.sql': BOOK['1_book.sql'],
          '2_shelf/up.sql': BOOK['2_shelf.sql'],
          '2_shelf/down.sql': 'x',
          'README.md': 'x',
          '1_book.down.sql': 'x',
        }),
      ],
    ],
    [
      'two layers, of which the second replaces a file',
      async () => [
        await fluxLayer({ ...BOOK, '2_shelf.sql': 'select 1' }),
        await fluxLayer({ '2_shelf.sql': BOOK['2_shelf.sql'] }),
      ],
    ],
    [
      'layers of unknown types beside it',
      async () => [
        await fluxLayer(BOOK),
        { mediaType: 'application/vnd.example+json', content: Buffer.from('{}') },
      ],
    ],
  ])('%s', async (_, layers) => {
    const registry = await start();
    const digest = registry.push(NAME, 'v1', await layers());
    expect(await get(requestFor(registry))).toEqual({ digest, files: FILES });
    expect(await get(requestFor(registry, { digest }))).toEqual({ digest, files: FILES });
  });

  test('a folder of the artifact, as oras pushes one', async () => {
    const registry = await start();
    const inFolder = Object.fromEntries(
      Object.entries(BOOK).map(([name, sql]) => [`migrations/default/${name}`, sql]),
    );
    registry.push(NAME, 'v1', [
      {
        mediaType: `${TAR_LAYER}+gzip`,
        content: gzipSync(await tarOf({ ...inFolder, 'migrations/other/1_x.sql': 'x' })),
        annotations: {
          'org.opencontainers.image.title': 'migrations',
          'io.deis.oras.content.unpack': 'true',
        },
      },
    ]);
    for (const path of ['migrations/default', './migrations/default/']) {
      expect((await get(requestFor(registry, { tag: 'v1', path }))).files).toEqual(FILES);
    }
    expect(await problem(requestFor(registry))).toBe(
      'the artifact has no migrations at its top; name the folder in spec.ociArtifact.path: migrations/default, migrations/other',
    );
    expect(await problem(requestFor(registry, { tag: 'v1', path: 'x' }))).toContain('no migrations in x;');
  });

  test('an index with one manifest, beside an attestation', async () => {
    const registry = await start();
    const inner = registry.push(NAME, 'inner', [await fluxLayer(BOOK)]);
    const [first] = registry.requests;
    expect(first).toBeUndefined();
    const size = (digest: string) => ({ mediaType: OCI_MANIFEST, digest, size: sizes.get(digest)! });
    const other = registry.push(NAME, 'other', [await fluxLayer({ '1_x.sql': 'x' })]);
    const sizes = new Map<string, number>();
    for (const digest of [inner, other]) {
      const response = await fetch(`http://${registry.host}/v2/${NAME}/manifests/${digest}`);
      sizes.set(digest, (await response.arrayBuffer()).byteLength);
    }
    const attestation = {
      ...size(other),
      annotations: { 'vnd.docker.reference.type': 'attestation-manifest' },
    };
    const index = (...manifests: object[]) => ({ schemaVersion: 2, mediaType: OCI_INDEX, manifests });
    const digest = registry.pushManifest(NAME, 'v1', index(size(inner), attestation), OCI_INDEX);
    expect(await get(requestFor(registry))).toEqual({ digest, files: FILES });
    registry.pushManifest(NAME, 'v1', index(size(inner), size(other)), OCI_INDEX);
    expect(await problem(requestFor(registry))).toContain('the index has 2 manifests and must have one');
    const nested = {
      ...size(inner),
      digest,
      size: Buffer.byteLength(JSON.stringify(index(size(inner), attestation))),
    };
    registry.pushManifest(NAME, 'v1', index(nested), OCI_INDEX);
    expect(await problem(requestFor(registry))).toContain('names another index');
  });

  test('the same digest is not downloaded twice, and a tag that has moved is', async () => {
    const registry = await start();
    const previous = registry.push(NAME, 'v1', [await fluxLayer(BOOK)]);
    expect(await get(requestFor(registry), { previous })).toEqual({ digest: previous });
    expect(registry.requests.map(({ method }) => method)).toEqual(['HEAD']);
    const digest = registry.push(NAME, 'v1', orasLayers({ '1_a.sql': 'a' }));
    expect(await get(requestFor(registry), { previous })).toEqual({
      digest,
      files: [{ name: '1_a.sql', sql: 'a' }],
    });
  });
});

describe('authentication', () => {
  test.each(['basic', 'bearer'] as const)('%s credentials of the Secret', async (authentication) => {
    const registry = await start({ authentication });
    const digest = registry.push(NAME, 'v1', [await fluxLayer(BOOK)]);
    const answer = await get(
      requestFor(registry, { tag: 'v1' }, dockerConfigOf(`https://${registry.host}/v1/`)),
    );
    expect(answer).toEqual({ digest, files: FILES });
    if (authentication === 'bearer') {
      const [asked] = registry.requests.filter(({ path }) => path.startsWith('/token'));
      expect(asked!.path).toBe('/token?service=test&scope=repository%3Aacme%2Flibrary%3Apull');
      const others = registry.requests.filter(({ path }) => !path.startsWith('/token'));
      expect(others.some(({ authorization }) => authorization?.startsWith('Basic'))).toBe(false);
    }
  });

  test.each(['basic', 'bearer'] as const)(
    '%s: a denial says what is missing, and no secret',
    async (authentication) => {
      const registry = await start({ authentication });
      expect(await problem(requestFor(registry))).toMatch(
        /there are no credentials for 127.*spec\.ociArtifact\.secretRef/,
      );
      const wrong = dockerConfigOf(registry.host, 'reader', 'wrong-word');
      const message = await problem(requestFor(registry, { tag: 'v1' }, wrong));
      expect(message).toContain('the credentials of the Secret are wrong, or may not read it');
      expect(message).not.toContain('wrong-word');
      // Each attempt ends: an answer of 401 is followed by one more request, not by a loop.
      expect(registry.requests.length).toBeLessThanOrEqual(6);
    },
  );

  test('credentials for other hosts and repositories are not used', async () => {
    const registry = await start({ authentication: 'basic' });
    const { host } = registry;
    for (const key of ['other.example.com', `${host}/acme/other`, `${host.replace(/\d+$/, '1')}`]) {
      expect(await problem(requestFor(registry, { tag: 'v1' }, dockerConfigOf(key)))).toContain(
        'there are no credentials',
      );
    }
    expect(registry.requests.every(({ authorization }) => authorization === undefined)).toBe(true);
    registry.push(NAME, 'v1', [await fluxLayer(BOOK)]);
    const entries = {
      ...{ [host]: { auth: 'eDp5' } },
      [`${host}/acme`]: { username: 'reader', password: 'secret-word' },
    };
    const config = JSON.stringify({ auths: entries });
    expect((await get(requestFor(registry, { tag: 'v1' }, config))).files).toEqual(FILES);
  });

  test.each([
    ['no JSON', 'secret-word'],
    ['another form', '{"auths":"secret-word"}'],
    ['an identity token', '{"auths":{"HOST":{"identitytoken":"secret-word"}}}'],
  ])('a Secret with %s is refused without its text', async (_, text) => {
    const registry = await start({ authentication: 'basic' });
    const message = await problem(requestFor(registry, { tag: 'v1' }, text.replace('HOST', registry.host)));
    expect(message).toMatch(/not a JSON object|no field auths|not supported/);
    expect(message).not.toContain('secret-word');
  });

  test('a token service in another domain does not receive the credentials of the registry', async () => {
    const registry = await start();
    const service = await start();
    const realm = `http://${service.host.replace('127.0.0.1', 'localhost')}/token`;
    registry.intercept = (_, response) => challenge(response, `Bearer realm="${realm}",service="x"`);
    const message = await problem(requestFor(registry, { tag: 'v1' }, dockerConfigOf(registry.host)));
    expect(message).toContain('which is in another domain; add credentials for localhost:');
    expect(service.requests).toEqual([]);
  });

  test('a registry over HTTPS may not name a token service over HTTP', async () => {
    const tls = certificate();
    const registry = await start({ tls });
    const service = await start();
    registry.intercept = (_, response) => challenge(response, `Bearer realm="http://${service.host}/token"`);
    const request = requestFor(
      registry,
      { tag: 'v1', plainHttp: false, ca: { value: tls.cert } },
      dockerConfigOf(registry.host),
    );
    expect(await problem(request)).toContain('is not at an https URL');
    expect(service.requests).toEqual([]);
  });

  test.each([
    ['Digest realm="x"', 'neither Basic nor Bearer'],
    ['Bearer service="x"', 'neither Basic nor Bearer'],
    ['Bearer realm="ftp://x/token"', 'is not at an https URL'],
    ['Bearer realm="http://u:p@x/token"', 'has credentials'],
  ])('the challenge %s is refused', async (header, text) => {
    const registry = await start();
    registry.intercept = (_, response) => challenge(response, header);
    expect(await problem(requestFor(registry))).toContain(text);
  });

  test.each([['{}'], ['not JSON'], ['{"token":"a\\nb"}'], ['{"token":7}']])(
    'a token service that answers %s',
    async (body) => {
      const registry = await start();
      registry.intercept = (request, response) => {
        if (!request.url!.startsWith('/token'))
          return challenge(response, `Bearer realm="http://${registry.host}/token"`);
        response.end(body);
        return true;
      };
      expect(await problem(requestFor(registry))).toBe('the answer of the token service has no token');
    },
  );
});

describe('TLS', () => {
  test('the certificate of the registry is verified, by the authority of the resource', async () => {
    const tls = certificate();
    const registry = await start({ tls, authentication: 'bearer' });
    const digest = registry.push(NAME, 'v1', [await fluxLayer(BOOK)]);
    const secret = dockerConfigOf(registry.host);
    const request = (ca?: string) =>
      requestFor(
        registry,
        { tag: 'v1', plainHttp: false, ...(ca === undefined ? {} : { ca: { value: ca } }) },
        secret,
      );
    expect(await get(request(tls.cert))).toEqual({ digest, files: FILES });
    const count = registry.requests.length;
    expect(await problem(request())).toMatch(/does not answer: DEPTH_ZERO_SELF_SIGNED_CERT/);
    expect(await problem(request(certificate().cert))).toMatch(
      /does not answer: DEPTH_ZERO_SELF_SIGNED_CERT/,
    );
    expect(registry.requests).toHaveLength(count);
  });
});

describe('a hostile registry', () => {
  test.each(['manifests', 'blobs'])('wrong bytes in %s', async (kind) => {
    const registry = await start();
    const digest = registry.push(NAME, 'v1', [await fluxLayer(BOOK)]);
    registry.intercept = (request, response) => {
      if (!request.url!.includes(`/${kind}/`)) return false;
      const other = Buffer.alloc(300, ' ');
      response.writeHead(200, { 'content-type': OCI_MANIFEST }).end(other);
      return true;
    };
    expect(await problem(requestFor(registry, { digest }))).toMatch(
      /does not have its digest or size|longer than \d+ bytes/,
    );
  });

  test('a manifest that is not the one of the header of its digest', async () => {
    const registry = await start();
    registry.intercept = (_, response) => {
      response
        .writeHead(200, { 'content-type': OCI_MANIFEST, 'docker-content-digest': sha256(Buffer.from('x')) })
        .end('{}');
      return true;
    };
    expect(await problem(requestFor(registry))).toContain('does not have its digest or size');
  });

  test('a blob that is larger than its size, and one with another size', async () => {
    const registry = await start();
    const layer = await fluxLayer(BOOK);
    const described = { mediaType: FLUX_LAYER, ...registry.pushBlob(layer.content) };
    const manifest = (size: number) => ({
      schemaVersion: 2,
      mediaType: OCI_MANIFEST,
      layers: [{ ...described, size }],
    });
    registry.pushManifest(NAME, 'v1', manifest(described.size - 1), OCI_MANIFEST);
    expect(await problem(requestFor(registry))).toContain(`longer than ${described.size - 1} bytes`);
    registry.pushManifest(NAME, 'v1', manifest(described.size + 1), OCI_MANIFEST);
    expect(await problem(requestFor(registry))).toContain('does not have its digest or size');
    registry.pushManifest(NAME, 'v1', manifest(LIMITS.blobBytes + 1), OCI_MANIFEST);
    expect(await problem(requestFor(registry))).toContain('the layers are larger than');
  });

  test.each(['manifest', 'blob'])('an endless %s', async (what) => {
    const registry = await start();
    registry.push(NAME, 'v1', [await fluxLayer(BOOK)]);
    let sent = 0;
    registry.intercept = (request, response) => {
      if (!request.url!.includes(`/${what}s/`)) return false;
      response.writeHead(200, { 'content-type': OCI_MANIFEST });
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      response.on('drain', more);
      more();
      return true;
    };
    expect(await problem(requestFor(registry))).toMatch(/longer than \d+ bytes/);
    expect(sent).toBeLessThan(16 * LIMITS.manifestBytes);
  });

  test('a registry that never answers, and one that stops in the middle', async () => {
    const registry = await start();
    registry.intercept = () => true;
    const took = performance.now();
    expect(await problem(requestFor(registry), { downloadMs: 200 })).toContain('takes longer than');
    expect(performance.now() - took).toBeLessThan(5000);
    registry.intercept = (_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{');
      setTimeout(() => response.destroy(), 50);
      return true;
    };
    expect(await problem(requestFor(registry))).toContain('does not answer');
  });

  test('a redirect to another host receives no authorization, and its challenge is not answered', async () => {
    const tls = certificate();
    const registry = await start({ authentication: 'basic' });
    const storage = await start({ tls });
    const layer = await fluxLayer(BOOK);
    const digest = registry.push(NAME, 'v1', [layer]);
    registry.intercept = (request, response) => {
      if (!request.url!.includes('/blobs/')) return false;
      response
        .writeHead(307, { location: `https://${storage.host}/v2/${NAME}/blobs/${sha256(layer.content)}` })
        .end();
      return true;
    };
    storage.pushBlob(layer.content);
    const ca = { value: tls.cert };
    const request = requestFor(registry, { tag: 'v1', ca }, dockerConfigOf(registry.host));
    expect(await get(request)).toEqual({ digest, files: FILES });
    expect(storage.requests.map(({ authorization }) => authorization)).toEqual([undefined]);
    storage.intercept = (_, response) => challenge(response, 'Basic realm="x"');
    expect(await problem(request)).toContain('redirects, answers 401');
    expect(storage.requests.every(({ authorization }) => authorization === undefined)).toBe(true);
  });

  test.each([
    [
      'redirects',
      (response: ServerResponse, url: string) => response.writeHead(307, { location: url }).end(),
    ],
    [
      'names a token service',
      (response: ServerResponse, url: string) => challenge(response, `Bearer realm="${url}"`),
    ],
  ])('a registry without TLS that %s over plain HTTP leads to no other server', async (_, answer) => {
    const registry = await start();
    const inside = await start();
    registry.intercept = (_request, response) => {
      answer(response, `http://${inside.host}/latest/meta-data`);
      return true;
    };
    expect(await problem(requestFor(registry))).toMatch(/ https( URL)?$/);
    expect(inside.requests).toEqual([]);
  });

  test.each([
    ['endlessly', () => '/v2/again', 'redirects more than 5 times'],
    ['from HTTPS to HTTP', ({ host }: TestRegistry) => `http://${host}/x`, 'to a URL that is not https'],
    ['to a file', () => 'file:///etc/passwd', 'to a URL that is not https'],
    ['with credentials', ({ host }: TestRegistry) => `https://a:b@${host}/x`, 'to a URL with credentials'],
    [
      'to the metadata service of a cloud',
      () => 'https://169.254.169.254/latest',
      'is not one of a registry',
    ],
  ])('a registry that redirects %s', async (_, location, text) => {
    const tls = certificate();
    const registry = await start({ tls });
    registry.intercept = (_request, response) => {
      response.writeHead(302, { location: location(registry) }).end();
      return true;
    };
    expect(
      await problem(requestFor(registry, { tag: 'v1', plainHttp: false, ca: { value: tls.cert } })),
    ).toContain(text);
  });

  test.each([
    [429, 'limits the rate of requests (429)'],
    [503, 'answers 503 to the request for the manifest v1'],
    [404, 'has no manifest v1 in acme/library'],
    [403, 'denies access to the repository'],
  ])('an answer with status %s, whose text is not repeated', async (status, text) => {
    const registry = await start();
    registry.intercept = (_, response) => {
      response.writeHead(status, { 'retry-after': '120' }).end('{"errors":[{"message":"planted"}]}');
      return true;
    };
    const error = await get(requestFor(registry)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: expect.stringContaining(text) });
    expect((error as Error).message).not.toContain('planted');
    if (status === 429) expect(error).toMatchObject({ retryAfterMs: 120_000 });
  });

  test.each([
    ['no JSON', Buffer.from('planted'), OCI_MANIFEST, 'not a JSON object'],
    ['another type', { schemaVersion: 2 }, 'text/planted', 'a media type that is not supported'],
    ['no layers', { schemaVersion: 2, layers: [] }, OCI_MANIFEST, 'no layer with files'],
    [
      'a wrong digest',
      { layers: [{ mediaType: FLUX_LAYER, digest: 'md5:planted', size: 1 }] },
      OCI_MANIFEST,
      'neither sha256',
    ],
    [
      'a path as digest',
      { layers: [{ mediaType: FLUX_LAYER, digest: '../../x', size: 1 }] },
      OCI_MANIFEST,
      'neither sha256',
    ],
    [
      'a wrong size',
      { layers: [{ mediaType: FLUX_LAYER, digest: sha256(Buffer.from('')), size: -1 }] },
      OCI_MANIFEST,
      'an invalid size',
    ],
  ])('a manifest with %s', async (_, manifest, mediaType, text) => {
    const registry = await start();
    registry.pushManifest(NAME, 'v1', manifest, mediaType);
    const message = await problem(requestFor(registry));
    expect(message).toContain(text);
    expect(message).not.toContain('planted');
  });
});

describe('a hostile archive', () => {
  const archive = (others: Parameters<typeof tarOf>[1]) => tarOf(BOOK, others);
  test.each([
    [
      'a path above the folder',
      () => archive([{ name: '../1_a.sql', content: 'x' }]),
      'is a path outside of the artifact',
    ],
    [
      'a path above it inside',
      () => archive([{ name: 'a/../../1_a.sql', content: 'x' }]),
      'is a path outside of the artifact',
    ],
    [
      'an absolute path',
      () => archive([{ name: '/etc/1_a.sql', content: 'x' }]),
      'is a path outside of the artifact',
    ],
    [
      'a path of Windows',
      () => archive([{ name: 'a\\1_a.sql', content: 'x' }]),
      'is a path outside of the artifact',
    ],
    [
      'a symbolic link',
      () => archive([{ name: '3_a.sql', type: 'symlink', linkname: '/etc/passwd' }]),
      'is a symlink',
    ],
    ['a hard link', () => archive([{ name: '3_a.sql', type: 'link', linkname: '1_book.sql' }]), 'is a link'],
    ['a device', () => archive([{ name: '3_a.sql', type: 'character-device' }]), 'is a character-device'],
    [
      'a deletion of another layer',
      () => archive([{ name: '.wh.1_book.sql' }]),
      'deletes a file of another layer',
    ],
    [
      'text that is not UTF-8',
      async () => Buffer.concat([(await tarOf({ '1_a.sql': '\u00ff' })).map((b) => (b === 0xc3 ? 0xff : b))]),
      'is not UTF-8 text',
    ],
    ['a cut end', async () => (await tarOf(BOOK)).subarray(0, 700), 'not a valid tar archive'],
    ['no archive', async () => Buffer.alloc(2048, 'x'), 'not a valid tar archive'],
  ])('%s', async (_, content, text) => {
    const registry = await start();
    registry.push(NAME, 'v1', [{ mediaType: FLUX_LAYER, content: gzipSync(await content()) }]);
    expect(await problem(requestFor(registry))).toContain(text);
  });

  test('content that is not compressed', async () => {
    const registry = await start();
    registry.push(NAME, 'v1', [{ mediaType: FLUX_LAYER, content: await tarOf(BOOK) }]);
    expect(await problem(requestFor(registry))).toBe('a layer is not valid gzip');
  });

  test('a gzip bomb in one layer, and in several', async () => {
    const registry = await start();
    const bomb = gzipSync(Buffer.alloc(LIMITS.unpackedBytes + 1));
    expect(bomb.length).toBeLessThan(100_000);
    registry.push(NAME, 'v1', [{ mediaType: FLUX_LAYER, content: bomb }]);
    expect(await problem(requestFor(registry))).toContain('larger than 16777216 bytes when it is unpacked');
    const half = gzipSync(Buffer.alloc(LIMITS.unpackedBytes / 2 + 1024));
    const layers = [half, Buffer.concat([half, gzipSync(' ')])].map((content) => ({
      mediaType: FLUX_LAYER,
      content,
    }));
    registry.push(NAME, 'v1', layers);
    expect(await problem(requestFor(registry))).toContain('larger than 16777216 bytes when it is unpacked');
  });

  test('a gzip bomb is not decompressed to its end', async () => {
    const registry = await start();
    const part = gzipSync(Buffer.alloc(LIMITS.unpackedBytes));
    registry.push(NAME, 'v1', [{ mediaType: FLUX_LAYER, content: Buffer.concat(Array(64).fill(part)) }]);
    const before = process.resourceUsage().maxRSS;
    expect(await problem(requestFor(registry))).toContain('when it is unpacked');
    expect((process.resourceUsage().maxRSS - before) / 1024).toBeLessThan(200);
  });

  test('too many files, too many migrations, and too much SQL', async () => {
    const registry = await start();
    const many = (count: number, sql: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}_a.sql`, sql]));
    registry.push(NAME, 'v1', [await fluxLayer(many(LIMITS.entries + 1, ''))]);
    expect(await problem(requestFor(registry))).toContain('more than 10000 files and folders');
    registry.push(NAME, 'v1', [await fluxLayer(many(LIMITS.files + 1, ''))]);
    expect(await problem(requestFor(registry))).toContain('more than 2000 migrations');
    registry.push(NAME, 'v1', [await fluxLayer(many(9, ' '.repeat(LIMITS.fileBytes / 8)))]);
    expect(await problem(requestFor(registry))).toContain('the migrations are larger than 8388608 bytes');
    registry.push(NAME, 'v1', orasLayers(many(LIMITS.layers + 1, '')));
    expect(await problem(requestFor(registry))).toContain('more than 2000 layers');
  }, 90_000);
});

describe('addresses', () => {
  const policy = (...hosts: string[]): Partial<DownloadOptions> => ({
    policy: { hosts, allowsLoopback: false },
  });

  test('hosts that the operator does not list are not requested', async () => {
    const registry = await start();
    expect(await problem(requestFor(registry), policy('ghcr.io', '*.example.com'))).toContain('--registries');
    expect(registry.requests).toEqual([]);
  });

  test('this machine is requested only if the operator lists the host in full', async () => {
    const registry = await start();
    registry.push(NAME, 'v1', [await fluxLayer(BOOK)]);
    const byName = { host: registry.host.replace('127.0.0.1', 'localhost') };
    for (const at of [registry, byName]) {
      expect(await problem(requestFor(at), policy('*'))).toContain('is not one of a registry');
      expect(await problem(requestFor(at), policy(`${at.host.slice(0, -1)}*`))).toContain(
        'is not one of a registry',
      );
      expect((await get(requestFor(at), policy('ghcr.io', at.host))).files).toEqual(FILES);
    }
  });

  test.each([
    '169.254.169.254',
    '[::ffff:169.254.169.254]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '0.0.0.0',
    '[::]',
    '2852039166',
    '0xa9.254.43518',
    '100.100.100.200',
  ])('%s is never requested', async (host) => {
    const { reference, ...rest } = requestFor({ host: 'example.com' });
    expect(await problem({ ...rest, reference: { ...reference, host } }, { downloadMs: 3000 })).toContain(
      'is not one of a registry',
    );
  });
});

function challenge(response: ServerResponse<IncomingMessage>, header: string): true {
  response.writeHead(401, { 'www-authenticate': header }).end();
  return true;
}

/** Returns a self-signed certificate for 127.0.0.1, with its key. */
function certificate(): { readonly cert: string; readonly key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-registry-'));
  try {
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const subject = ['-subj', '/CN=registry', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const form = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ];
    execFileSync('openssl', [...form, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
