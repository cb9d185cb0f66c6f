/** Everything a test of the whole operator needs: a cluster with the definitions, a database, an engine that can be stopped and
 *  started on its port, an operator with exactly the rights the chart gives it.
 *  Not here: what is tested (../operator.kube.test.ts). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { load } from 'js-yaml';
import { pino } from 'pino';
import { expect, vi } from 'vitest';
import { freePort } from '../../../bin/free-port.ts';
import { createDatabase, type TestDatabase } from '../../../testing/database.ts';
import { startTestEngine, type TestEngine, type TestEngineOptions } from '../../../testing/engine.ts';
import type { KubeObject, TestKube } from '../../../testing/kube.ts';
import {
  type Condition,
  type CrStatus,
  type CustomResource,
  GROUP_VERSION,
  KINDS,
  kindOf,
} from '../../kinds.ts';
import { type Operator, startOperator } from '../operator.ts';
import { loadOptions } from '../options.ts';
import type { Resolver } from '../replicas.ts';

const ROOT = join(import.meta.dirname, '../../..');
const OPERATOR = 'pergola-operator';
/** Of the engine and the operator. */
export const HOME = 'api';

const FLAGS = [
  ...['--health-port', '0', '--health-host', '127.0.0.1'],
  ...['--prune-delay-seconds', '0', '--lease-namespace', HOME],
  ...['--unreachable-grace-seconds', '1'],
  // The engine and its replicas are on this machine.
  ...['--engine-hosts', `*,127.0.0.1,localhost,pods.${HOME}.svc`],
];

/** Returns a resource for a table of the database, on the Engine of `createRig`. */
export function tableOf(name: string): KubeObject {
  const spec = { engineRef: { name: 'main' }, source: 'default', table: name };
  return { apiVersion: GROUP_VERSION, kind: 'Table', metadata: { name, namespace: HOME }, spec };
}

export type Rig = {
  readonly kube: TestKube;
  readonly database: TestDatabase;
  readonly engine: () => TestEngine;
  readonly startEngine: (adminSecret?: string, more?: Partial<TestEngineOptions>) => Promise<void>;
  readonly stopEngine: () => Promise<void>;
  /** Flags and kubeconfig for an operator in a process of its own. */
  readonly flags: readonly string[];
  readonly kubeconfig: string;
  /** `server` is another address of the API server, whose certificate is not checked. */
  readonly startOperator: (
    flags?: readonly string[],
    resolve?: Resolver,
    server?: string,
  ) => Promise<Operator>;
  readonly stopOperators: () => Promise<void>;
  readonly get: (kind: string, name: string, namespace?: string) => Promise<CustomResource>;
  readonly all: (kind: string) => Promise<readonly CustomResource[]>;
  readonly remove: (kind: string, name: string, namespace?: string) => Promise<void>;
  /** Waits until the resource says so, of its current generation. */
  readonly ready: (kind: string, name: string, reason: string, namespace?: string) => Promise<Condition>;
  readonly close: () => Promise<void>;
};

/** `grant` gives rights to somebody and resolves to their token. */
export async function createRig(
  kube: TestKube,
  schema: string,
  grant: (kube: TestKube) => Promise<string> = operatorToken,
): Promise<Rig> {
  const database = await createDatabase();
  await database.sql(schema);
  await kube.kubectl(['apply', '--server-side', '-f', join(ROOT, 'crds/generated')]);
  const definitions = KINDS.map(({ plural }) => `crd/${plural}.pergola.dev`);
  await kube.kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...definitions]);
  await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOME } });
  const kubeconfig = await kube.kubeconfigFor(await grant(kube));
  // Kept for the engine over its restarts.
  const serverPort = await freePort();
  const running = { engine: undefined as TestEngine | undefined, operators: new Set<Operator>() };
  const path = (kind: string, name: string, namespace: string) =>
    `/apis/${GROUP_VERSION}/namespaces/${namespace}/${pluralOf(kind)}/${name}`;
  const get: Rig['get'] = async (kind, name, namespace = HOME) =>
    (await kube.request('GET', path(kind, name, namespace))).body;
  const rig: Rig = {
    kube,
    database,
    engine: () => running.engine!,
    startEngine: async (adminSecret = 'first-secret', more = {}) => {
      running.engine = await startTestEngine({ databaseUrl: database.url, serverPort, adminSecret, ...more });
    },
    stopEngine: async () => running.engine?.close(),
    flags: FLAGS,
    kubeconfig,
    startOperator: async (flags = [], resolve, server) => {
      const config = new KubeConfig();
      config.loadFromFile(kubeconfig);
      if (server)
        config.clusters = config.clusters.map(({ name }) => ({ name, server, skipTLSVerify: true }));
      const options = loadOptions([...FLAGS, ...flags], {})!;
      const operator = await startOperator(config, options, pino({ level: 'silent' }), resolve);
      running.operators.add(operator);
      return operator;
    },
    stopOperators: async () => {
      for (const operator of running.operators) await operator.stop();
      running.operators.clear();
    },
    get,
    all: async (kind) => (await kube.request('GET', `/apis/${GROUP_VERSION}/${pluralOf(kind)}`)).body.items,
    remove: async (kind, name, namespace = HOME) => {
      await kube.request('DELETE', path(kind, name, namespace));
    },
    ready: (kind, name, reason, namespace) =>
      vi.waitFor(async () => currentReady(await get(kind, name, namespace), reason), {
        timeout: 25_000,
        interval: 50,
      }),
    close: async () => {
      await rig.stopOperators();
      await running.engine?.close();
      await database.drop();
    },
  };
  await kube.apply(engineSecret('first-secret'), engineResource(`http://127.0.0.1:${serverPort}`));
  await rig.startEngine();
  return rig;
}

function pluralOf(kind: string): string {
  return kindOf(kind)!.plural;
}

function currentReady(cr: CustomResource, reason: string): Condition {
  const ready = readyOf(cr.status);
  const said = `${cr.kind} ${cr.metadata?.name}: ${ready?.reason ?? 'nothing'}: ${ready?.message ?? ''}`;
  expect(ready?.reason, said).toBe(reason);
  expect(ready?.observedGeneration, said).toBe(cr.metadata.generation);
  return ready!;
}

export function readyOf(status: CrStatus | undefined): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

export function engineSecret(adminSecret: string) {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'engine-admin', namespace: HOME },
    data: { 'admin-secret': Buffer.from(adminSecret).toString('base64') },
  };
}

function engineResource(url: string) {
  return {
    apiVersion: GROUP_VERSION,
    kind: 'Engine',
    metadata: { name: 'main', namespace: HOME },
    spec: {
      endpoint: { url },
      adminSecretRef: { name: 'engine-admin', key: 'admin-secret' },
      allowedNamespaces: { from: 'Selector', selector: { matchLabels: { graphql: 'yes' } } },
      grants: [
        { name: 'own-variables', variables: ['*'] },
        { name: 'team', namespaces: ['team'], sources: ['default'], tables: ['public.*'], roles: ['*'] },
      ],
      polling: { versionSeconds: 1 },
    },
  };
}

/** The rights are read from the chart, so that a right the operator needs and the chart forgot fails here. */
async function operatorToken(kube: TestKube): Promise<string> {
  const chart = readFileSync(join(ROOT, 'charts/pergola/templates/_rules.tpl'), 'utf8');
  const granted = /define "pergola\.operatorRules" -}}\n([\s\S]*?)\n\{\{-? end/.exec(chart)?.[1] ?? '';
  const namespaces = { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] };
  const definitions = {
    apiGroups: ['apiextensions.k8s.io'],
    resources: ['customresourcedefinitions'],
    resourceNames: KINDS.map(({ plural }) => `${plural}.pergola.dev`),
    verbs: ['get'],
  };
  const leases = {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['get', 'create', 'update', 'patch'],
  };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: OPERATOR };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name: OPERATOR };
  await kube.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: OPERATOR, namespace: HOME } },
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata,
      rules: [...(load(granted) as object[]), namespaces, definitions, leases],
    },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef,
      subjects: [{ kind: 'ServiceAccount', name: OPERATOR, namespace: HOME }],
    },
  );
  return tokenOf(kube, OPERATOR);
}

/** Of a ServiceAccount in HOME. */
export async function tokenOf(kube: TestKube, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${HOME}/serviceaccounts/${name}/token`;
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  return (await kube.request('POST', path, asked)).body.status.token;
}
