/** Tests that resources which are deleted one after the other, as by a loop over files, are held like those that are deleted at once, also when another
 *  operator takes over in between, and that they go once they are confirmed.
 *  Not here: random deletions (../decide/prune-guard.test.ts), deletions at once (deploy/e2e/mass-deletion.e2e.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeKube } from '../../testing/kube.ts';
import { GROUP_VERSION } from '../kinds.ts';
import { eventually } from './testing/deletion-rig.ts';
import { createRig, HOME, type Rig, tableOf } from './testing/rig.ts';

const NAMES = Array.from({ length: 40 }, (_, i) => `t${i}`);
const SCHEMA = NAMES.map((name) => `create table ${name} (id int primary key)`).join(';');
/** More than a pass takes, so that each deletion has a pass of its own. */
const PAUSE_MS = 400;
/** `policies.pruneGuard.maxObjects` when the Engine says nothing; 30 % of 40 are fewer. */
const MOST_DELETED = 20;

await describeKube('deletions one after the other', (kube) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await createRig(kube(), SCHEMA);
    await rig.startOperator();
  }, 180_000);
  afterAll(() => rig?.close(), 30_000);

  const tracked = async () => {
    const { body } = await rig.engine().admin<Exported>('export_metadata', {});
    return body.sources.flatMap(({ tables }) => tables.map((one) => one.table.name));
  };

  const confirm = async () => {
    const { status } = await rig.get('Engine', 'main');
    const path = `/apis/${GROUP_VERSION}/namespaces/${HOME}/engines/main`;
    const annotations = { 'pergola.dev/confirm-prune': status?.pruneHash };
    await kube().request('PATCH', path, { metadata: { annotations } }, 'application/merge-patch+json');
  };

  test('are held from the limit on', { timeout: 120_000 }, async () => {
    await kube().apply(...NAMES.map(tableOf));
    for (const name of NAMES) await rig.ready('Table', name, 'Applied');
    for (const [i, name] of NAMES.entries()) {
      await rig.remove('Table', name, HOME);
      await sleep(PAUSE_MS);
      if (i !== 10) continue;
      await rig.stopOperators();
      await rig.startOperator();
    }
    const { message } = await rig.ready('Engine', 'main', 'PruneHeld');
    expect((await tracked()).length).toBeGreaterThanOrEqual(NAMES.length - MOST_DELETED);
    expect((await tracked()).length).toBeLessThan(NAMES.length);
    expect(message).toMatch(
      /^\d+ of \d+ objects of \S+ \(after \d+ in the last 10 minutes\) would be deleted at once/,
    );
    // The last deletions may not be part of the hold yet, and change its hash.
    await eventually(async () => {
      await confirm();
      expect(await tracked()).toEqual([]);
    });
  });
});

type Exported = {
  readonly sources: readonly { readonly tables: readonly { readonly table: { readonly name: string } }[] }[];
};
