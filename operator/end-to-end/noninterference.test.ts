/** Tests that hostile resources do not affect a hundred good ones: their objects in the engine and their conditions are unchanged, and
 *  they need no more passes. A hundred and fifty hostile forms, written by hand and generated from the schemas of KINDS, are applied one by one,
 *  in pairs, and all at once, against the real engine. HOSTILE_SEED chooses other generated forms. */
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import type { CustomResource } from '../kinds.ts';
import { GoodWorld } from '../testing/good-world.ts';
import { hostileResources } from '../testing/hostile-forms.ts';

const FORMS = 150;
const SEED = Number(process.env['HOSTILE_SEED'] ?? 20261122);

const CLASH = `
  type Query { author: author, login: String, quote: Quote, searchArticles: [Int], billing: Int, article_by_pk: Int, invoices: Int }
  type Mutation { login: LoginOutput, insert_author: Int }
  type author { id: Int }
  type Quote { other: Int }
  type LoginOutput { other: Int }
`;

let world: GoodWorld;
let clash: RemoteService;
let forms: readonly CustomResource[];
let baseline: ReadonlyMap<string, string>;

beforeAll(async () => {
  [world, clash] = await Promise.all([GoodWorld.start(), startRemote(CLASH)]);
  forms = hostileResources(clash.url, FORMS, SEED);
  await world.pass();
  baseline = await world.state();
}, 120_000);
afterAll(async () => {
  await world?.close();
  await clash?.close();
});

/** Returns the differences from the baseline, as `key: now`. */
async function harm(): Promise<readonly string[]> {
  const state = await world.state();
  const keys = new Set([...baseline.keys(), ...state.keys()]);
  return [...keys]
    .filter((key) => baseline.get(key) !== state.get(key))
    .map((key) => `${key}: ${excerpt(state.get(key))} instead of ${excerpt(baseline.get(key))}`);
}

const excerpt = (text = 'nothing') => text.slice(0, 200);
const told = (cr: CustomResource) =>
  `${cr.metadata.name} ${cr.kind} ${inspect(cr.spec, { depth: 6, breakLength: Infinity }).slice(0, 300)}`;

/** Applies each group of hostile resources in turn and returns its effects on the good ones. */
async function harmBy(groups: readonly (readonly CustomResource[])[]): Promise<readonly string[]> {
  const harms: string[] = [];
  for (const group of groups) {
    const { problem } = await world.pass(group);
    const found = [...(problem ? [`problem: ${problem.message}`] : []), ...(await harm())];
    if (found.length === 0) continue;
    harms.push(`${group.map(told).slice(0, 3).join(' AND ')}\n    ${found.slice(0, 3).join('\n    ')}`);
    await world.restart();
    await world.pass();
  }
  return harms;
}

test('a hundred good resources are Ready', () => {
  expect(world.resources.length).toBeGreaterThanOrEqual(100);
  expect(world.resources.map((cr) => world.readiness(cr)).filter((text) => !text.startsWith('True'))).toEqual(
    [],
  );
});

test('no single hostile form affects the good resources', async () => {
  expect(await harmBy(forms.map((form) => [form]))).toEqual([]);
  expect((await world.pass()).problem).toBeUndefined();
}, 300_000);

test('no pair of hostile forms affects the good resources', async () => {
  const pairs = Array.from({ length: 40 }, (_, i) => [forms[i * 3]!, forms[(i * 53 + 17) % forms.length]!]);
  expect(await harmBy(pairs.filter(([a, b]) => a !== b))).toEqual([]);
}, 300_000);

test('all hostile forms together do not affect the good resources, and further passes write nothing', async () => {
  expect(await harmBy([forms])).toEqual([]);
  for (let i = 0; i < 3; i++) await world.pass(forms);
  expect((await world.pass(forms)).wasWritten).toBe(false);
  expect(await harm()).toEqual([]);
}, 120_000);

test('one pass applies the good resources when hostile ones are created at the same time', async () => {
  const groups = [forms, ...Array.from({ length: 5 }, (_, i) => [forms[i * 29]!])];
  for (const group of groups) {
    await world.restart();
    await world.pass(group);
    expect([group.map(told).slice(0, 2), await harm()]).toEqual([group.map(told).slice(0, 2), []]);
  }
}, 300_000);
