/** Tests that the engine keeps the objects of resources that Kubernetes deletes with the definition of their kind, until each is claimed again
 *  or the deletion is confirmed. Every revision of the engine's metadata is polled.
 *  Not here: random deletions (../decide/prune-guard.test.ts), a definition that is missing at the start (health.kube.test.ts). */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { describeKube } from '../../testing/kube.ts';
import { GROUP_VERSION } from '../kinds.ts';
import { eventually } from './testing/deletion-rig.ts';
import { createRig, HOME, type Rig, tableOf } from './testing/rig.ts';

const NAMES = Array.from({ length: 10 }, (_, i) => `t${i}`);
const SCHEMA = NAMES.map((name) => `create table ${name} (id int primary key)`).join(';');
const DEFINITION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tables.pergola.dev';

await describeKube('a deleted definition', (kube) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await createRig(kube(), SCHEMA);
  }, 180_000);
  afterAll(() => rig?.close(), 30_000);
  beforeEach(async () => {
    await rig.startOperator();
  });
  afterEach(async () => {
    await install();
    await rig.kube.request('DELETE', `/apis/${GROUP_VERSION}/namespaces/${HOME}/tables`);
    await eventually(async () => expect(await tracked()).toEqual([]));
    await annotate(null);
    await rig.stopOperators();
  });

  const tracked = async () => {
    const { body } = await rig.engine().admin<Exported>('export_metadata', {});
    return body.sources.flatMap(({ tables }) => tables.map((one) => one.table.name)).toSorted();
  };
  const apply = async (names: readonly string[]) => {
    await kube().apply(...names.map(tableOf));
    for (const name of names) await rig.ready('Table', name, 'Applied');
  };
  const deleteDefinition = async () => {
    await kube().request('DELETE', DEFINITION);
    await eventually(async () => expect((await kube().request('GET', DEFINITION)).status).toBe(404), 60);
  };
  const install = async () => {
    await kube().kubectl(['apply', '--server-side', '-f', 'crds/generated/tables.yaml']);
    await kube().kubectl(['wait', '--for=condition=Established', 'crd/tables.pergola.dev']);
  };
  const annotate = async (confirmed: string | null) => {
    const annotations = { 'pergola.dev/confirm-prune': confirmed };
    const path = `/apis/${GROUP_VERSION}/namespaces/${HOME}/engines/main`;
    await kube().request('PATCH', path, { metadata: { annotations } }, 'application/merge-patch+json');
  };
  const confirm = async () => {
    const { message } = await rig.ready('Engine', 'main', 'PruneHeld');
    const [, hash] = /confirm-prune: (\w+)/.exec(message)!;
    await annotate(hash!);
  };
  /** Returns the tables that were missing at some time while `body` ran. */
  const missingDuring = async (names: readonly string[], body: () => Promise<void>) => {
    const missing = new Set<string>();
    let isOver = false;
    const poll = async () => {
      while (!isOver) {
        const now = new Set(await tracked());
        for (const name of names) if (!now.has(name)) missing.add(name);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const polling = poll();
    await body().finally(() => {
      isOver = true;
    });
    await polling;
    return [...missing];
  };

  test.each([1, 10])(
    '%i objects stay until their resources are applied again, one by one',
    async (count) => {
      const names = NAMES.slice(0, count);
      await apply(names);
      const missing = await missingDuring(names, async () => {
        await deleteDefinition();
        // Deletions arrive over several passes.
        await eventually(async () => {
          const { message } = await rig.ready('Engine', 'main', 'PruneHeld');
          expect(message).toContain(`${count} of ${count} objects of ${HOME}`);
          expect(message).toContain('tables.pergola.dev');
        });
        await install();
        for (const name of names) await apply([name]);
        await rig.ready('Engine', 'main', 'Applied');
      });
      expect(missing).toEqual([]);
    },
    120_000,
  );

  test('the objects stay when the definition is installed again at once', async () => {
    await apply(NAMES);
    const missing = await missingDuring(NAMES, async () => {
      await deleteDefinition();
      await install();
      await rig.ready('Engine', 'main', 'PruneHeld');
      await apply(NAMES);
      await rig.ready('Engine', 'main', 'Applied');
    });
    expect(missing).toEqual([]);
  }, 120_000);

  test('the objects stay when the operator is restarted meanwhile', async () => {
    await apply(NAMES);
    const missing = await missingDuring(NAMES, async () => {
      await deleteDefinition();
      await rig.ready('Engine', 'main', 'PruneHeld');
      await rig.stopOperators();
      await install();
      await rig.startOperator();
      await rig.ready('Engine', 'main', 'PruneHeld');
      await apply(NAMES);
      await rig.ready('Engine', 'main', 'Applied');
    });
    expect(missing).toEqual([]);
  }, 120_000);

  test('the objects stay when the definition is deleted while no operator runs', async () => {
    await apply(NAMES);
    const missing = await missingDuring(NAMES, async () => {
      await rig.stopOperators();
      await deleteDefinition();
      await rig.startOperator();
      await rig.ready('Engine', 'main', 'PruneHeld');
      await install();
      await apply(NAMES);
      await rig.ready('Engine', 'main', 'Applied');
    });
    expect(missing).toEqual([]);
  }, 120_000);

  test('the objects stay when the definition is deleted and installed again while no operator runs', async () => {
    await apply(NAMES);
    // Times of Kubernetes have whole seconds.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const missing = await missingDuring(NAMES, async () => {
      await rig.stopOperators();
      await deleteDefinition();
      await install();
      await rig.startOperator();
      await rig.ready('Engine', 'main', 'PruneHeld');
      await apply(NAMES);
      await rig.ready('Engine', 'main', 'Applied');
    });
    expect(missing).toEqual([]);
  }, 120_000);

  test.each([
    ['while the definition is missing', false],
    ['after it was installed again', true],
  ])(
    'confirmed deletions are done %s',
    async (_, isInstalled) => {
      await apply(NAMES);
      await deleteDefinition();
      if (isInstalled) await install();
      // The hash changes while deletions arrive.
      await eventually(async () => {
        await confirm();
        await eventually(async () => expect(await tracked()).toEqual([]), 3);
      });
      if (!isInstalled) await install();
      await rig.ready('Engine', 'main', 'Applied');
    },
    120_000,
  );

  test('objects are deleted with their resources while the definition stays', async () => {
    await apply(NAMES);
    for (const name of NAMES) await rig.remove('Table', name);
    await eventually(async () => expect(await tracked()).toEqual([]), 5);
    await rig.ready('Engine', 'main', 'Applied');
  });
});

type Exported = {
  readonly sources: readonly { readonly tables: readonly { readonly table: { readonly name: string } }[] }[];
};
