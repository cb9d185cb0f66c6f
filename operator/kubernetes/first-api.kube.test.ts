/** Follows the part of docs/guides/first-api.md for a cluster with a real API server and the real engine: the files of the page are applied, become Ready, and
 *  the request has the answer of the page. The commands of the page, with the image, the chart and Argo CD, run in a cluster (deploy/e2e/first-api.e2e.ts).
 *  Not here: the part for a laptop (docs/first-api.test.ts). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeKube } from '../../testing/kube.ts';
import { blocksOf } from '../testing/guide.ts';
import { createRig, HOME, type Rig } from './testing/rig.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/guides/first-api.md'), 'utf8');
const blocks = blocksOf(PAGE).map(({ text }) => text);
const beginningWith = (text: string) => blocks.find((block) => block.startsWith(text))!;

await describeKube('the first API in a cluster', (kube) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await createRig(kube(), '');
    await rig.startOperator();
  }, 180_000);
  afterAll(() => rig?.close(), 30_000);

  test('the Engine of the page is valid', async () => {
    const dryRun = ['-n', 'default', 'apply', '--dry-run=server', '-f', '-'];
    expect(await rig.kube.kubectl(dryRun, beginningWith('# engine.yaml'))).toContain(
      'engine.pergola.dev/main',
    );
  });

  test('the files of the page become Ready, and the request has the answer of the page', async () => {
    await rig.kube.kubectl(['-n', HOME, 'apply', '-f', '-'], beginningWith('# notes/note.yaml'));
    const [, wait = ''] = /^kubectl (-n api wait .*)$/m.exec(PAGE) ?? [];
    await rig.kube.kubectl(wait.split(' '));
    const { data } = await rig.engine().graphql('{ note { body } }', {
      role: 'user',
      headers: { 'x-engine-user-id': 'amina' },
    });
    expect({ data }).toEqual(JSON.parse(beginningWith('{"data"')));
    expect(PAGE).toContain('{"query": "{ note { body } }"}');
  });
});
