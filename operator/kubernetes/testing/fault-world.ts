/** The world of runs against faults: a rig whose operator reaches the API server and the engine through proxies, and whose engine reaches a
 *  second database, a remote schema and webhooks through others. Not here: a run (testing/chaos/fault-run.ts). */
import { KubeConfig } from '@kubernetes/client-node';
import { pino } from 'pino';
import { openProxy } from '../../../engine/wire/testing/proxy.ts';
import { openFaultProxy } from '../../../testing/chaos/fault-proxy.ts';
import type { FaultWorld, SeenResource, Wanted } from '../../../testing/chaos/fault-run.ts';
import { createDatabase } from '../../../testing/database.ts';
import type { TestKube } from '../../../testing/kube.ts';
import { startRemote } from '../../../testing/remote.ts';
import { TestWebhook } from '../../../testing/webhook.ts';
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
/** The table whose rows the event trigger delivers. */
const WATCHED = 'watched';
const SCHEMA = [...TABLES, { name: WATCHED }]
  .map(({ name }) => `create table ${name} (id int primary key, owner text, note text)`)
  .join(';');

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
  const receiver = await TestWebhook.start<Delivered>();
  const hooks = await openFaultProxy(receiver.url);
  const env = { FAR_URL: far.url, REMOTE_URL: `${remote.url}/graphql`, HOOK_URL: hooks.url };
  await rig.startEngine('first-secret', { env });
  const [api, engine] = await Promise.all([
    openFaultProxy(kube.url, certificate()),
    openFaultProxy(rig.engine().url),
  ]);
  const proxies = { 'API server': api, engine, 'remote schema': remote, webhooks: hooks };
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
  const changeWebhook: FaultWorld['changeWebhook'] = (kind, timeoutSeconds) =>
    kube.apply({
      apiVersion: GROUP_VERSION,
      kind,
      metadata: metadata('hook'),
      spec: { ...common, ...(kind === 'Action' ? actionSpec(timeoutSeconds) : triggerSpec(timeoutSeconds)) },
    });
  const watched = { ...common, source: 'default', table: WATCHED };
  await kube.apply({ apiVersion: GROUP_VERSION, kind: 'Table', metadata: metadata(WATCHED), spec: watched });
  await changeWebhook('EventTrigger', 2);
  await changeWebhook('Action', 2);
  const config = new KubeConfig();
  config.loadFromFile(rig.kubeconfig);
  config.clusters = config.clusters.map(({ name }) => ({ name, server: api.url, skipTLSVerify: true }));
  const operator = await startOperator(config, loadOptions([...rig.flags], {})!, pino({ level: 'silent' }));
  await rig.ready('Source', 'far', 'Applied');
  await rig.ready('RemoteSchema', 'remote', 'Applied');
  await rig.ready('EventTrigger', 'hook', 'Applied');
  await rig.ready('Action', 'hook', 'Applied');

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
    changeWebhook,
    insert: async (id) => void (await rig.database.sql(`insert into ${WATCHED} (id) values (${id})`)),
    call: async () =>
      void (await rig
        .engine()
        .graphql('{ hook }')
        .catch(() => {})),
    delivered: () => new Set(receiver.received.flatMap(({ body }) => body.event?.data.new.id ?? [])),
    setRules: (place, rules) => proxies[place].setRules(rules),
    breakStreams: (how) => api.breakStreams(how),
    breakDatabase: (how) => {
      far.isSilent = how === 'silence';
      far.delayMs = how === 'delay' ? 500 : 0;
      far.mostBytes = how === 'cut' ? 0 : Number.POSITIVE_INFINITY;
    },
    resources: async () => {
      const kinds = ['Source', 'RemoteSchema', 'Table', 'TablePermission', 'EventTrigger', 'Action'];
      return (await Promise.all(kinds.map(rig.all))).flat().map(seen);
    },
    served: async () => {
      const { body } = await rig.engine().admin<Exported>('export_metadata', {});
      const served = new Map(servedIn(body));
      served.delete(WATCHED);
      return served;
    },
  };
  return {
    world,
    faults: () => Object.values(proxies).reduce((sum, proxy) => sum + proxy.faults(), 0),
    close: async () => {
      await operator.stop();
      await rig.close();
      await Promise.all(Object.values(proxies).map((proxy) => proxy.close()));
      await Promise.all([service.close(), far.close()]);
      receiver.close();
      await database.drop();
    },
  };
}

/** The body of a delivery; that of a call has no event. */
type Delivered = { readonly event?: { readonly data: { readonly new: { readonly id: number } } } };

function triggerSpec(timeoutSeconds: number): object {
  return {
    ...{ source: 'default', table: WATCHED, name: 'hook', insert: { columns: ['*'] } },
    webhook: { env: 'HOOK_URL' },
    retry: { limit: 50, intervalSeconds: 1, timeoutSeconds },
  };
}

function actionSpec(timeoutSeconds: number): object {
  return {
    ...{ sdl: 'type Query { hook: Boolean }', handler: { value: '{{HOOK_URL}}/call' }, kind: 'Synchronous' },
    timeoutSeconds,
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
