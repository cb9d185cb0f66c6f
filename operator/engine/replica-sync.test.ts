/** Tests which resources are Ready while replicas follow, lag and hang, with a scripted engine. Not here: real replicas
 *  (kubernetes/replicas.kube.test.ts). */
import { beforeEach, expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import { reconcile } from '../pass/reconcile.ts';
import { outcomeOfPass } from '../status/engine-status.ts';
import type { Report } from '../status/report.ts';
import { OPTIONS, table } from '../testing/resources.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';
import { haveReplicasChanged, nextReplicaCheckMs } from './replica-sync.ts';

const author = table('author');
const book = table('book');
const HUNG = { replica: '10.0.0.2', problem: 'does not answer' };
const SLOW = { replica: '10.0.0.3', problem: 'serves an older version' };

let ports: ScriptedPorts;
/** The versions that were checked. */
let asked: number[];
let behind: (typeof HUNG)[];
let last: Report | undefined;

beforeEach(() => {
  ports = new ScriptedPorts();
  [asked, behind, last] = [[], [], undefined];
  ports.engine.laggingReplicas = async (version) => {
    asked.push(version);
    return behind;
  };
});

async function pass(...resources: CustomResource[]) {
  ports.resources = resources;
  last = await reconcile(ports, OPTIONS, last);
}

function later(ms: number): void {
  ports.time = new Date(ports.time.getTime() + ms);
}

test('a resource is Ready when every replica serves it, and the replicas are checked once per version', async () => {
  await pass(author);
  await pass(author);
  expect(ports.readiness(author)).toBe('True Applied');
  expect(asked).toEqual([2]);
  expect(ports.slept).toEqual([]);
  await pass(author, book);
  expect(asked).toEqual([2, 3]);
});

test('no extra status is written when the replicas follow within the pass', async () => {
  let left = 3;
  ports.engine.laggingReplicas = async () => (left-- > 0 ? [SLOW] : []);
  await pass(author);
  expect(ports.readiness(author)).toBe('True Applied');
  expect(ports.message(author)).toBe('1 object applied.');
  expect(ports.slept).toEqual([50, 100, 200]);
});

test('a written resource is not Ready until a lagging replica serves it, and nothing is written twice', async () => {
  behind = [HUNG];
  await pass(author);
  expect(ports.readiness(author)).toBe('Unknown Applying');
  expect(ports.status(author)!.conditions.map(({ type }) => type)).toEqual(['Ready', 'Reconciling']);
  expect(ports.message(author)).toContain('10.0.0.2 does not answer');
  expect(outcomeOfPass(last!)).toMatchObject({
    reason: 'Applied',
    message: expect.stringContaining('10.0.0.2'),
  });
  later(2000);
  await pass(author);
  expect(ports.readiness(author)).toBe('Unknown Applying');
  behind = [];
  await pass(author);
  expect(ports.readiness(author)).toBe('True Applied');
  expect(ports.message(author)).toBe('1 object applied.');
  expect(ports.engine.writes).toHaveLength(1);
});

test('a lagging replica affects written resources only, and all others stay Ready', async () => {
  await pass(author);
  later(1000);
  behind = [HUNG];
  await pass(author, book);
  expect([ports.readiness(author), ports.readiness(book)]).toEqual(['True Applied', 'Unknown Applying']);
});

test('after half a minute the resource is Ready and its message names the replica until it follows', async () => {
  behind = [HUNG];
  await pass(author);
  later(30_000);
  await pass(author);
  expect(ports.readiness(author)).toBe('True Applied');
  expect(ports.message(author)).toBe(
    '1 object applied; not every replica serves it yet: 10.0.0.2 does not answer.',
  );
  later(15_000);
  await pass(author);
  expect(ports.published).toEqual([]);
  behind = [];
  await pass(author);
  expect(ports.message(author)).toBe('1 object applied.');
});

test('a replica that never follows delays no later resource, but another lagging replica does', async () => {
  behind = [HUNG];
  await pass(author);
  later(40_000);
  await pass(author, book);
  expect([ports.readiness(author), ports.readiness(book)]).toEqual(['True Applied', 'True Applied']);
  later(1000);
  behind = [HUNG, SLOW];
  const label = table('label');
  await pass(author, book, label);
  expect([book, label].map((cr) => ports.readiness(cr))).toEqual(['True Applied', 'Unknown Applying']);
});

test('a restarted operator continues to wait for a lagging replica', async () => {
  behind = [HUNG];
  await pass(author);
  later(5000);
  last = undefined;
  await pass(author);
  expect(ports.readiness(author)).toBe('Unknown Applying');
});

test('a failed resource reports its error whatever the replicas do', async () => {
  behind = [HUNG];
  const wrong = table('wrong', { spec: { table: 7 } });
  await pass(wrong, author);
  expect([ports.readiness(wrong), ports.readiness(author)]).toEqual([
    'False InvalidSpec',
    'Unknown Applying',
  ]);
});

test('a lagging replica is checked after a quarter of a second, later every two, and then at the usual interval', async () => {
  const next = () => nextReplicaCheckMs(last?.replicaSync, ports.time);
  await pass(author);
  expect(next()).toBeUndefined();
  behind = [HUNG];
  await pass(author, book);
  const waits = [0, 1000, 9000].map((ms) => {
    later(ms);
    return next();
  });
  expect(waits).toEqual([250, 500, 2000]);
  later(20_000);
  await pass(author, book);
  expect(next()).toBeUndefined();
});

test('a check starts a pass when all replicas follow, and once when the deadline has passed', async () => {
  const isNews = () => haveReplicasChanged(ports.engine, ports.clock, last!.replicaSync!);
  behind = [HUNG];
  await pass(author);
  expect(await isNews()).toBe(false);
  later(30_000);
  expect(await isNews()).toBe(true);
  await pass(author);
  expect(await isNews()).toBe(false);
  behind = [];
  expect(await isNews()).toBe(true);
  await pass(author);
  asked = [];
  expect(await isNews()).toBe(false);
  expect(asked).toEqual([]);
});
