/** Tests reading the configuration for the Kubernetes API, in its own process as the operator does. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'pergola-kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Prints the server, and the number of loaded library modules that describe types of the API. */
const PROGRAM = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
const { defaultKubeConfig } = await import(process.argv[1]);
const config = await defaultKubeConfig();
const classes = loaded.filter((url) => url.includes('/client-node/dist/gen/models/'));
console.log(JSON.stringify({ server: config.getCurrentCluster()?.server, classes: classes.length }));
`;

test('the configuration is read without loading the classes for the types of the API', () => {
  const kubeconfig = join(folder, 'config');
  const clusters = [{ name: 'a', cluster: { server: 'https://a.example:6443' } }];
  const contexts = [{ name: 'a', context: { cluster: 'a', user: 'a' } }];
  const users = [{ name: 'a', user: { token: 't' } }];
  writeFileSync(kubeconfig, JSON.stringify({ clusters, contexts, users, 'current-context': 'a' }));
  const module = new URL('./kube-config.ts', import.meta.url).href;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', PROGRAM, module], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    encoding: 'utf8',
  });
  expect(JSON.parse(printed)).toEqual({ server: 'https://a.example:6443', classes: 0 });
});
