/** Tests what the Dockerfiles must say, and the health check of the image. Not here: the image itself (deploy/e2e/image.e2e.ts). */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const DOCKERFILE = readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8').replaceAll(/ \\\n\s*/g, ' ');

test.each(globSync(['deploy/**/Dockerfile*', '.ci/Dockerfile*'], { cwd: ROOT }))(
  '%s pins the digest of every image, under a name by which a build can replace it',
  (file) => {
    const stages = [
      ...readFileSync(join(ROOT, file), 'utf8').matchAll(/^FROM (?:--\S+ )?(\S+)(?: AS (\S+))?$/gm),
    ];
    const names = stages.map(([, , name]) => name);
    for (const [, image, name] of stages) {
      if (names.includes(image)) continue;
      expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
      expect(name).toBeDefined();
    }
  },
);

test('it runs as a user that is a number and not root', () => {
  const users = [...DOCKERFILE.matchAll(/^USER (\S+)$/gm)].map(([, user]) => user);
  expect(users.at(-1)).toBe('1000:1000');
  expect(DOCKERFILE.lastIndexOf('USER ')).toBeGreaterThan(DOCKERFILE.lastIndexOf('FROM '));
});

test.each(['title', 'description', 'version', 'licenses', 'revision', 'source'])(
  'it has the label %s',
  (name) => {
    expect(DOCKERFILE).toMatch(new RegExp(`^LABEL .*\\borg\\.opencontainers\\.image\\.${name}=`, 'm'));
  },
);

/** Runs the health check beside a server that answers with the status, and returns the exit code. */
async function check(path: string, status: number, variable: string): Promise<number> {
  const server = createServer((request, response) => {
    response.statusCode = request.url === path ? status : 404;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { ENGINE_GRAPHQL_SERVER_PORT: '1', PERGOLA_HEALTH_PORT: '1', [variable]: String(port) };
  try {
    const [code] = await once(
      execFile(process.execPath, [join(import.meta.dirname, 'healthcheck.mjs')], { env }),
      'exit',
    );
    return code;
  } finally {
    server.close();
  }
}

test('the health check follows the engine or the operator', async () => {
  expect(await check('/healthz', 200, 'ENGINE_GRAPHQL_SERVER_PORT')).toBe(0);
  expect(await check('/healthz', 503, 'ENGINE_GRAPHQL_SERVER_PORT')).toBe(1);
  expect(await check('/readyz', 200, 'PERGOLA_HEALTH_PORT')).toBe(0);
  expect(await check('/readyz', 503, 'PERGOLA_HEALTH_PORT')).toBe(1);
});
