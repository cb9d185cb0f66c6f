/** Tests the cluster name, under which objects are owned: it is the same whatever the state of the API server. */
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { nameOfCluster } from './cluster-name.ts';
import { systemTimers } from './timers.ts';
import { ApiProblem, type Transport } from './transport.ts';

const quick = { ...systemTimers, after: (ms: number, run: () => void) => systemTimers.after(ms / 1000, run) };

/** Returns the name when the API server gives each response once and repeats the last one. */
function nameAfter(answers: readonly (Error | string)[], cluster: object = { caData: 'one' }) {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'c', server: 'https://api', ...cluster } as never, { name: 'u' });
  const left = [...answers];
  const problems: string[] = [];
  const send = async () => {
    const answer = left.length > 1 ? left.shift()! : left[0]!;
    if (answer instanceof Error) throw answer;
    return { metadata: { uid: answer } };
  };
  const transport = { send } as unknown as Transport;
  const onProblem = (problem: Error) => problems.push(problem.message);
  const end = AbortSignal.timeout(10_000);
  return nameOfCluster({ transport, timers: quick, config, onProblem }, end).then((name) => ({
    name,
    problems,
  }));
}

const forbidden = new ApiProblem(403, 'namespaces "kube-system" is forbidden');

test('the cluster name is the uid of kube-system, however long the API server is unavailable', async () => {
  const away = [
    new Error('connect ECONNREFUSED'),
    new ApiProblem(503, 'starting'),
    new ApiProblem(404, 'not yet'),
  ];
  expect(await nameAfter([...away, 'uid-1'])).toEqual({
    name: 'uid-1',
    problems: ['connect ECONNREFUSED', 'starting', 'not yet'],
  });
});

test('without access to kube-system, the cluster name depends on the certificate authority, not on its file name', async () => {
  const named = async (cluster: object) => (await nameAfter([forbidden], cluster)).name;
  const file = join(tmpdir(), `pergola-authority-${process.pid}.crt`);
  await writeFile(file, 'first');
  const first = await named({ caFile: file });
  await writeFile(file, 'second');
  expect(first).toMatch(/^[0-9a-f]{24}$/);
  expect(await named({ caFile: file })).not.toBe(first);
  expect(await named({ caData: 'Zmlyc3Q=' })).toBe(first);
});
