/** The world of runs against faults: a rig whose operator reaches the API server and the engine through proxies, and whose engine reaches a
 *  second database and a remote schema through others. Not here: a run (testing/chaos/fault-run.ts). */
import { KubeConfig } from '@kubernetes/client-node';
import { pino } from 'pino';
import { openProxy } from '../../../engine/wire/testing/proxy.ts';
import { openFaultProxy } from '../../../testing/chaos/fault-proxy.ts';
import type { FaultWorld, SeenResource, Wanted } from '../../../testing/chaos/fault-run.ts';
import { createDatabase } from '../../../testing/database.ts';
import type { TestKube } from '../../../testing/kube.ts';
import { startRemote } from '../../../testing/remote.ts';
import { GROUP_VERSION } from '../../kinds.ts';
import { startOperator } from '../operator.ts';
import { loadOptions } from '../options.ts';
import { certificate } from './certificate.ts';
import { createRig, HOME, type Rig, readyOf } from './rig.ts';

/** The tables by their source; the names are unique. */
const TABLES = ['a', 'b', 'c', 'd'].flatMap((name) => [
  { name, source: 'default' },
  { name: `far${name}`, source: 'far' },
]);
const ROLES = ['reader', 'writer'];
const SCHEMA = TABLES.map(
  ({ name }) => `create table ${name} (id int primary key, owner text, note text)`,
).join(';');

export type FaultRig = {
  readonly world: FaultWorld;
  /** Returns the number of faults so far. */
  readonly faults: () => number;
  readonly close: () => Promise<void>;
};

export async function createFaultWorld(kube: TestKube): Promise<FaultRig> {
  const rig = await createRig(kube, SCHEMA);
  await rig.stopEngine();
  const database = await createDatabase();
  await database.sql(SCHEMA);
  const far = await openProxy(database.url);
  const service = await startRemote('type Query { now: String }');
  const remote = await openFaultProxy(service.url);
  await rig.startEngine('first-secret', { env: { FAR_URL: far.url, REMOTE_URL: `${remote.url}/graphql` } });
  const [api, engine] = await Promise.all([
    openFaultProxy(kube.url, certificate()),
    openFaultProxy(rig.engine().url),
  ]);
  const proxies = { 'API server': api, engine, 'remote schema': remote };
  const patch = { spec: { endpoint: { url: engine.url } } };
  const path = `/apis/${GROUP_VERSION}/namespaces/${HOME}/engines/main`;
  await kube.request('PATCH', path, patch, 'application/merge-patch+json');
  const common = { engineRef: { name: 'main' } };
  const metadata = (name: string) => ({ name, namespace: HOME });
  const source = { ...common, name: 'far', type: 'Postgres', connection: { url: { env: 'FAR_URL' } } };
  await kube.apply({ apiVersion: GROUP_VERSION, kind: 'Source', metadata: metadata('far'), spec: source });
  const changeRemote = (timeoutSeconds: number) =>
    kube.apply({
      apiVersion: GROUP_VERSION,
      kind: 'RemoteSchema',
      metadata: metadata('remote'),
      spec: { ...common, name: 'remote', url: { env: 'REMOTE_URL' }, timeoutSeconds },
    });
  await changeRemote(5);
  const config = new KubeConfig();
  config.loadFromFile(rig.kubeconfig);
  config.clusters = config.clusters.map(({ name }) => ({ name, server: api.url, skipTLSVerify: true }));
  const operator = await startOperator(config, loadOptions([...rig.flags], {})!, pino({ level: 'silent' }));
  await rig.ready('Source', 'far', 'Applied');
  await rig.ready('RemoteSchema', 'remote', 'Applied');

  const placeOf = (table: string) => TABLES.find(({ name }) => name === table)!;
  const world: FaultWorld = {
    tables: TABLES.map(({ name }) => name),
    roles: ROLES,
    apply: async (name, role, columns) => {
      const spec = { ...common, source: placeOf(name).source, table: name };
      await kube.apply(
        role === undefined
          ? { apiVersion: GROUP_VERSION, kind: 'Table', metadata: metadata(name), spec }
          : {
              apiVersion: GROUP_VERSION,
              kind: 'TablePermission',
              metadata: metadata(`${name}-${role}`),
              spec: { ...spec, role, select: { columns, filter: {} } },
            },
      );
    },
    remove: (name, role) =>
      role === undefined ? rig.remove('Table', name) : rig.remove('TablePermission', `${name}-${role}`),
    changeRemote,
    setRules: (place, rules) => proxies[place].setRules(rules),
    breakStreams: (how) => api.breakStreams(how),
    breakDatabase: (how) => {
      far.isSilent = how === 'silence';
      far.delayMs = how === 'delay' ? 500 : 0;
      far.mostBytes = how === 'cut' ? 0 : Number.POSITIVE_INFINITY;
    },
    resources: async () => {
      const kinds = ['Source', 'RemoteSchema', 'Table', 'TablePermission'];
      return (await Promise.all(kinds.map(rig.all))).flat().map(seen);
    },
    served: async () => {
      const { body } = await rig.engine().admin<Exported>('export_metadata', {});
      return servedIn(body);
    },
  };
  return {
    world,
    faults: () => api.faults() + engine.faults() + remote.faults(),
    close: async () => {
      await operator.stop();
      await rig.close();
      await Promise.all([api.close(), engine.close(), remote.close(), service.close(), far.close()]);
      await database.drop();
    },
  };
}

function seen({ kind, metadata, status }: Awaited<ReturnType<Rig['get']>>): SeenResource {
  const ready = readyOf(status);
  const isReady = ready?.status === 'True' && ready.observedGeneration === metadata.generation;
  return { name: metadata.name, isReady, said: `${kind}: ${ready?.reason}: ${ready?.message}` };
}

function servedIn({ sources }: Exported): Wanted {
  return new Map(
    sources.flatMap(({ tables }) =>
      tables.map(
        ({ table, select_permissions: permissions = [] }) =>
          [
            table.name,
            new Map(permissions.map(({ role, permission }) => [role, permission.columns] as const)),
          ] as const,
      ),
    ),
  );
}

type Exported = {
  readonly sources: readonly {
    readonly name: string;
    readonly tables: readonly {
      readonly table: { readonly name: string };
      readonly select_permissions?: readonly {
        readonly role: string;
        readonly permission: { readonly columns: readonly string[] };
      }[];
    }[];
  }[];
};
