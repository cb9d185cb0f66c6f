/** Tests reading the configuration for the Kubernetes API, in its own process as the operator does. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'pergola-kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Prints the server, and the number of loaded modules that describe types of the API or belong to undici. */
const PROGRAM = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
const { defaultKubeConfig } = await import(process.argv[1]);
const config = await defaultKubeConfig();
await import(process.argv[2]);
const unused = loaded.filter((url) => url.includes('/client-node/dist/gen/models/') || url.includes('/undici/'));
console.log(JSON.stringify({ server: config.getCurrentCluster()?.server, unused }));
`;

test('the operator loads neither the classes for the types of the API nor undici', () => {
  const kubeconfig = join(folder, 'config');
  const clusters = [{ name: 'a', cluster: { server: 'https://a.example:6443' } }];
  const contexts = [{ name: 'a', context: { cluster: 'a', user: 'a' } }];
  const users = [{ name: 'a', user: { token: 't' } }];
  writeFileSync(kubeconfig, JSON.stringify({ clusters, contexts, users, 'current-context': 'a' }));
  const module = new URL('./kube-config.ts', import.meta.url).href;
  const operator = new URL('../main.ts', import.meta.url).href;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', PROGRAM, module, operator], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    encoding: 'utf8',
  });
  expect(JSON.parse(printed)).toEqual({
    server: 'https://a.example:6443',
    unused: [],
  });
});
