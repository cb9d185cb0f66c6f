/** Tests thousands of Table resources on one engine: the first sync, one change, the operator's memory, and its load when idle, each
 *  with a limit. The steps are one story and run in order; they print their measurements.
 *  The time limits are for a machine whose API server creates a resource in five milliseconds; on a slower one they are longer in
 *  proportion. `npm run scale` breaks the times down without a cluster.
 *  Not here: creating and watching the resources (testing/scale.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, type Transport } from '../../operator/kubernetes/transport.ts';
import { ManyTables, percentile, schemaOf } from '../../testing/scale.ts';
import { apply, kubectl } from './cluster.ts';
import { Door } from './door.ts';
import { ENGINE } from './examples.ts';
import { CHART, createNamespace, createPostgres, install, removeAll, uniqueName } from './release.ts';

const TABLES = 5000;
const EDITS = 100;
const IDLE_SECONDS = 120;
/** The time to create a resource on an otherwise idle machine. */
const CREATION_MS = 5;
/** The pause before the idle measurement, in which the operator collects its garbage. */
const SETTLING_SECONDS = 20;
const LIMITS = {
  // 50 to 58 on an idle machine; the API server needs most of it to write statuses.
  firstSyncSeconds: 75,
  medianMs: 1000,
  p99Ms: 3000,
  // About 200 when it was set.
  memoryMb: 250,
  idlePercent: 1,
  requestsPerMinute: 6,
};

const namespace = uniqueName('pergola-scale');
let transport: Transport;
let tables: ManyTables;
let door: Door;
let slowness = 1;

describe('thousands of resources', () => {
  beforeAll(async () => {
    const config = new KubeConfig();
    config.loadFromDefault();
    transport = await connect(config);
    await createNamespace(namespace);
    await createPostgres(namespace);
    await install(
      namespace,
      CHART,
      '--set',
      'engine.replicas=1,operator.replicas=0,engine.resources.limits.memory=1Gi',
    );
    door = new Door(namespace, 'service/pergola-engine');
    for (const sql of schemaOf(TABLES))
      await door.admin('run_sql', { sql, check_metadata_consistency: false });
  });

  afterAll(async () => {
    await tables?.stop();
    await transport?.close();
    door?.close();
    // It takes half a minute to delete thousands of resources, and this is the last story.
    if (process.env['E2E_DISPOSABLE'] === undefined) await removeAll(namespace);
  });

  test(`${TABLES} resources become Ready within ${LIMITS.firstSyncSeconds} s of the operator's start`, async () => {
    tables = new ManyTables(transport, namespace);
    await apply(ENGINE, '-n', namespace);
    const createdIn = await timed(() => tables.create(TABLES));
    slowness = Math.max(1, createdIn / (TABLES * CREATION_MS));
    say('the API server takes a resource in ms', createdIn / TABLES);
    const began = performance.now();
    await kubectl('-n', namespace, 'scale', 'deployment/pergola-operator', '--replicas=1');
    const reporting = setInterval(() => say('Ready so far', tables.readyCount), 10_000);
    await tables.ready(TABLES);
    clearInterval(reporting);
    const seconds = (performance.now() - began) / 1000;
    say('first sync s', seconds);
    expect(seconds / slowness).toBeLessThan(LIMITS.firstSyncSeconds);
  });

  test('a single change becomes Ready quickly', async () => {
    const times: number[] = [];
    for (let i = 0; i < EDITS; i++) times.push(await tables.edit((i * 37) % TABLES));
    const [median, p99] = [percentile(times, 50), percentile(times, 99)];
    say('one change, median ms', median);
    say('one change, 99th percentile ms', p99);
    expect(median / slowness).toBeLessThan(LIMITS.medianMs);
    expect(p99 / slowness).toBeLessThan(LIMITS.p99Ms);
  });

  test('an idle operator uses almost no CPU and sends few requests', async () => {
    await sleep(SETTLING_SECONDS * 1000);
    const before = await numbers();
    await sleep(IDLE_SECONDS * 1000);
    const after = await numbers();
    const percent = ((after.cpuSeconds - before.cpuSeconds) / IDLE_SECONDS) * 100;
    const requests = after.requests - before.requests;
    say('idle, percent of a core', percent);
    say('idle, requests to the engine', requests);
    expect(percent).toBeLessThan(LIMITS.idlePercent);
    // One more request may fall on the edge of the interval.
    expect(requests).toBeLessThanOrEqual((LIMITS.requestsPerMinute * IDLE_SECONDS) / 60 + 1);
  });

  test(`the operator's memory stays below ${LIMITS.memoryMb} MB`, async () => {
    const { peakMb } = await numbers();
    say('memory at most MB', peakMb);
    expect(peakMb).toBeLessThan(LIMITS.memoryMb);
  });
});

type Numbers = { readonly peakMb: number; readonly cpuSeconds: number; readonly requests: number };

/** A script that prints numbers of the operator's process, the first in its container, from the kernel and its metrics. */
const LOOK = `
  import { readFileSync } from 'node:fs';
  const peakMb = Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/1/status', 'utf8'))[1]) / 1024;
  const fields = readFileSync('/proc/1/stat', 'utf8').split(') ')[1].split(' ');
  const page = await (await fetch('http://127.0.0.1:8081/metrics')).text();
  const lines = page.split('\\n').filter((line) => line.startsWith('pergola_engine_requests_total{'));
  const requests = lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  console.log(JSON.stringify({ peakMb, cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100, requests }));
`;

async function numbers(): Promise<Numbers> {
  const inside = ['exec', 'deployment/pergola-operator', '--', 'node', '--input-type=module', '--eval', LOOK];
  return JSON.parse(await kubectl('-n', namespace, ...inside));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function say(what: string, value: number): void {
  process.stdout.write(`  ${what}: ${value.toFixed(1)}\n`);
}
