/** Tests that a release is built and published by the commands of docs/guides/releasing.md where people look for it, by a registry of charts and one of
 *  packages on this machine, and again after a failure; and that a trial publishes nothing. `gh` is a program that writes down its arguments, because there is no forge here. */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeHelm } from '../../testing/helm.ts';
import { startRegistry, type TestRegistry } from '../../testing/registry.ts';
import { commandsOf } from '../e2e/guide.ts';
import { version } from './version.ts';

const NAME = version();
const TAG = `v${NAME}`;
const [, BUILD = '', PUBLISH = ''] = commandsOf('releasing.md', 'Make a release');
const TIMEOUT_MS = 300_000;
const run = promisify(execFile);

type Packument = { readonly versions: Readonly<Record<string, { readonly dist: { tarball: string } }>> };
type Published = Packument & { readonly _attachments: Readonly<Record<string, { readonly data: string }>> };

/** A registry of packages that keeps what `npm publish` sends. */
type Packages = { readonly url: string; readonly published: Published[]; readonly server: Server };

async function startPackages(): Promise<Packages> {
  const published: Published[] = [];
  const server = createServer(async (request, response) => {
    if (request.method === 'PUT') {
      published.push((await json(request)) as Published);
      return void response.writeHead(201).end('{}');
    }
    const last = published.at(-1);
    if (request.url?.endsWith('.tgz') && last) {
      return void response.end(Buffer.from(Object.values(last._attachments)[0]!.data, 'base64'));
    }
    response.writeHead(last ? 200 : 404, { 'content-type': 'application/json' });
    response.end(last ? JSON.stringify(last) : '{"error":"not found"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, published, server };
}

describeHelm('a release is published', (helm) => {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-publish-'));
  const release = join(folder, 'release');
  const said = join(folder, 'gh.txt');
  let charts: TestRegistry;
  let packages: Packages;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    [charts, packages] = await Promise.all([startRegistry(), startPackages()]);
    const gh = join(folder, 'gh');
    writeFileSync(gh, `#!/bin/sh\necho "$@" >> ${said}\n[ "$2" != view ]\n`);
    chmodSync(gh, 0o755);
    // As `npm login` writes it.
    const npmrc = join(folder, 'npmrc');
    writeFileSync(npmrc, `${packages.url.replace('http:', '')}:_authToken=token\n`);
    const programs = [folder, dirname(helm.program), dirname(process.execPath), process.env['PATH']];
    env = {
      ...process.env,
      PATH: programs.join(delimiter),
      npm_config_userconfig: npmrc,
      IMAGE_REPOSITORY: `${charts.host}/team/pergola`,
      CHART_REPOSITORY: `${charts.host}/charts`,
      NPM_REGISTRY: packages.url,
    };
    // The second argument is another folder than dist/release.
    await run('bash', ['-c', BUILD.replace(/(?=\s+#|$)/, ` ${release}`)], { env });
  }, TIMEOUT_MS);
  const publish = (command: string) =>
    run('bash', ['-c', `${command.replace('dist/release', release)} --plain-http`], { env });
  const REAL = PUBLISH.replace(' --dry-run', '');
  afterAll(async () => {
    packages?.server.close();
    await charts?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('a trial checks everything and publishes nothing', { timeout: TIMEOUT_MS }, async () => {
    await publish(PUBLISH);
    expect(packages.published).toEqual([]);
    expect(charts.requests).toEqual([]);
    expect(existsSync(said)).toBe(false);
  });

  test('package, charts and files are there', { timeout: TIMEOUT_MS }, async () => {
    await publish(REAL);
    const [sent] = packages.published;
    expect(Object.keys(sent!.versions)).toEqual([NAME]);
    const archive = readFileSync(join(release, `npm/pergola-${NAME}.tgz`));
    const packed = ['pack', `pergola@${NAME}`, '--registry', packages.url, '--pack-destination', folder];
    await run('npm', packed, { env });
    expect(readFileSync(join(folder, `pergola-${NAME}.tgz`)).equals(archive)).toBe(true);
    for (const chart of ['pergola', 'pergola-crds']) {
      const shown = await helm.run([
        'show',
        'chart',
        `oci://${charts.host}/charts/${chart}`,
        '--version',
        NAME,
        '--plain-http',
      ]);
      expect(shown).toContain(`\nversion: ${NAME}\n`);
    }
    const pulled = ['template', 'pergola', `oci://${charts.host}/charts/pergola`, '--plain-http'];
    expect(await helm.run([...pulled, '--version', NAME])).toContain(`/team/pergola:${NAME}`);
    expect(readFileSync(said, 'utf8')).toMatch(
      new RegExp(
        `^release view ${TAG}\\nrelease create ${TAG} --verify-tag --notes-file notes.md SHA256SUMS `,
      ),
    );
  });

  test('a second run leaves the package as it is, and replaces the rest', {
    timeout: TIMEOUT_MS,
  }, async () => {
    await publish(REAL);
    expect(packages.published).toHaveLength(1);
  });

  test('files that were changed are not published', async () => {
    writeFileSync(join(release, 'notes.md'), 'other notes');
    await expect(publish(PUBLISH)).rejects.toThrow('sha256sum');
  });
});
