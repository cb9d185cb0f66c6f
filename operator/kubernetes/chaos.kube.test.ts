/** Kills the operator at steps around its write, against a real API server and the real engine, while resources change and an
 *  administrator changes metadata: the next process continues from whatever state it finds. Each test continues from the previous one.
 *  Not here: faults of the cluster itself (deploy/e2e/). */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { PERSON_SCHEMA, Person } from '../../testing/chaos/person.ts';
import { type Supervised, startSupervised } from '../../testing/chaos/supervised.ts';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import { GROUP_VERSION } from '../kinds.ts';
import { createRig, HOME, type Rig, readyOf } from './testing/rig.ts';

const TABLES = 8;
const SCHEMA = `
${PERSON_SCHEMA}
do $$ begin
  for i in 1..${TABLES} loop execute format('create table t%s (id serial primary key, owner text, note text)', i); end loop;
end $$;
`;

function cr(kind: string, name: string, spec: object): KubeObject {
  const common = { engineRef: { name: 'main' }, source: 'default' };
  return {
    apiVersion: GROUP_VERSION,
    kind,
    metadata: { name, namespace: HOME },
    spec: { ...common, ...spec },
  };
}

const tableCr = (name: string, customName: string) =>
  cr('Table', name, { table: name, configuration: { customName } });

const permissionCr = (name: string, columns: readonly string[]) =>
  cr('TablePermission', name, {
    table: name,
    role: 'user',
    select: { columns, filter: { owner: { _eq: 'X-Engine-User-Id' } } },
  });

/** Generous, because the machine may be busy. */
const PATIENCE_MS = 300_000;

await describeKube('the operator under chaos', (kube) => {
  let rig: Rig;
  let operator: Supervised;
  let person: Person;
  /** The desired name and columns of each table. */
  const said = new Map<string, { readonly customName: string; readonly columns: readonly string[] }>();

  beforeAll(async () => {
    rig = await createRig(kube(), SCHEMA);
    person = new Person((type, args) => rig.engine().admin(type, args));
    await person.arrive();
    for (let i = 1; i < TABLES; i++) await say(`t${i}`, 'first', ['id']);
    const first = await rig.startOperator();
    await converged();
    await first.stop();
  }, PATIENCE_MS);
  afterAll(async () => {
    await person?.rest();
    await operator?.stop();
    await rig?.close();
  }, PATIENCE_MS);

  async function say(name: string, word: string, columns: readonly string[]) {
    const customName = `${name}_${word}`;
    said.set(name, { customName, columns });
    await rig.kube.apply(tableCr(name, customName), permissionCr(name, columns));
  }

  async function unsay(name: string) {
    said.delete(name);
    await rig.remove('TablePermission', name);
    await rig.remove('Table', name);
  }

  /** Waits until every resource is Ready at its generation and the engine has the desired objects. */
  async function converged(): Promise<number> {
    const began = performance.now();
    await vi.waitFor(
      async () => {
        const resources = [...(await rig.all('Table')), ...(await rig.all('TablePermission'))];
        const states = resources.map(({ kind, metadata: { name, generation }, status }) => {
          const ready = readyOf(status);
          return `${kind} ${name} ${ready?.observedGeneration === generation && ready.status}`;
        });
        expect(states.filter((state) => !state.endsWith('true') && !state.endsWith('True'))).toEqual([]);
        expect(await owned()).toEqual(expected());
      },
      { timeout: 120_000, interval: 100 },
    );
    return performance.now() - began;
  }

  const expected = () =>
    Object.fromEntries(
      [...said].map(([name, { customName, columns }]) => [
        name,
        {
          table: { name, schema: 'public' },
          configuration: { custom_name: customName },
          select_permissions: [
            { role: 'user', permission: { columns, filter: { owner: { _eq: 'X-Engine-User-Id' } } } },
          ],
        },
      ]),
    );

  async function owned(): Promise<Record<string, unknown>> {
    type Exported = { sources: { tables: { table: { name: string }; configuration?: object }[] }[] };
    const { body } = await rig.engine().admin<Exported>('export_metadata', {});
    const tables = body.sources.flatMap((source) => source.tables);
    return Object.fromEntries(
      tables.filter(({ table }) => /^t\d/.test(table.name)).map((table) => [table.table.name, table]),
    );
  }

  test(
    'readiness names a missing definition and the command that installs it; other resources are applied and nothing is deleted',
    async () => {
      const definition = await removeDefinition('crontriggers');
      const alone = await rig.startOperator();
      const readiness = async () => (await fetch(`http://127.0.0.1:${alone.healthPort}/readyz`)).text();
      await vi.waitFor(async () => {
        const text = await readiness();
        expect(text).toContain('this definition is missing: crontriggers.pergola.dev');
        expect(text).toContain('kubectl apply --server-side');
      }, 60_000);
      await say('t1', 'meanwhile', ['id']);
      await converged();
      await unsay('t2');
      await rig.ready('Table', 't1', 'Applied');
      await say('t3', 'later', ['id']);
      await rig.ready('Table', 't3', 'Applied');
      expect(Object.keys(await owned())).toContain('t2');
      await rig.kube.apply(definition);
      await converged();
      expect(await readiness()).toBe('ok\n');
      await alone.stop();
    },
    PATIENCE_MS,
  );

  test(
    'the operator recovers after it was killed at any step around a write',
    async () => {
      operator = await startSupervised([...rig.flags, '--identity', 'chaos'], rig.kubeconfig);
      person.hammer();
      for (const [turn, step] of ['sent', 'verify', 'status'].entries()) {
        const { kills } = await operator.ask(`/arm/${step}`);
        await say(`t${turn + 3}`, step, ['id', 'owner']);
        if (step === 'sent') await unsay('t1');
        await vi.waitFor(async () => expect((await operator.ask('/')).kills).toBeGreaterThan(kills), 160_000);
      }
      await converged();
    },
    PATIENCE_MS,
  );

  test(
    'the operator applies changes made while the API server was down and reads lost events again',
    async () => {
      const restarted = rig.kube.restart();
      await operator.ask('/cut');
      await restarted;
      await say('t2', 'again', ['id']);
      await say('t4', 'after', ['id', 'note']);
      await converged();
    },
    PATIENCE_MS,
  );

  test(
    'objects that no resource owns are unchanged',
    async () => {
      await person.rest();
      expect(person.done).toBeGreaterThan(0);
      const { now, before } = await person.compare();
      expect(now).toBe(before);
    },
    PATIENCE_MS,
  );

  async function removeDefinition(plural: string): Promise<KubeObject> {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.pergola.dev`;
    const { apiVersion, kind, metadata, spec } = (await rig.kube.request('GET', path)).body;
    await rig.kube.request('DELETE', path);
    await vi.waitFor(async () => expect((await rig.kube.request('GET', path)).status).toBe(404), 60_000);
    return { apiVersion, kind, metadata: { name: metadata.name }, spec };
  }
});
