/** Tests what Argo CD does with resources that were stored in the old form when the definitions were upgraded: an Application with the
 *  converted files cannot compare them with server-side apply, and is Synced and Healthy without it, as the guide says.
 *  In: E2E_ARGOCD_SERVER, as in argocd.e2e.ts. The steps are one story and run in order.
 *  Not here: kubectl, and every kind (operator/kubernetes/upgrade-kinds.kube.test.ts). */
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { previousDefinitions } from '../../operator/kubernetes/testing/previous-definitions.ts';
import { apply, get, kubectl, type Printed, run, until, waitFor } from './cluster.ts';
import { Door } from './door.ts';
import { ENGINE, SEED } from './examples.ts';
import { createNamespace, createPostgres, install, removeAll, uniqueName } from './release.ts';
import { Repository } from './repository.ts';

const SERVER = process.env['E2E_ARGOCD_SERVER'] ?? '';
const namespace = uniqueName('pergola-argocd-upgrade');
const door = new Door(namespace, 'service/pergola-engine');
const APPLICATION = 'old-form';
const FOLDER = 'converted';
let repository: Repository;

/** Resources of the old form of kinds whose fields have changed their type, and of one whose fields have not. */
const OLD = `
apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: {name: author}
spec:
  engineRef: {name: main}
  source: default
  table: {schema: public, name: author}
  permissions: [{role: reader, select: {columns: [id, name], filter: {}, limit: 5}}]
---
apiVersion: pergola.dev/v1alpha1
kind: TablePermission
metadata: {name: auditor}
spec:
  engineRef: {name: main}
  source: default
  table: {schema: public, name: author}
  role: auditor
  select: {columns: [name], filter: {}}
---
apiVersion: pergola.dev/v1alpha1
kind: CronTrigger
metadata: {name: nightly}
spec:
  engineRef: {name: main}
  name: nightly
  schedule: 0 3 * * *
  webhook: http://jobs.example.org/nightly
---
apiVersion: pergola.dev/v1alpha1
kind: InheritedRole
metadata: {name: both}
spec: {engineRef: {name: main}, role: both, roleSet: [reader, auditor]}
`;

const READY = ['table/author', 'tablepermission/auditor', 'crontrigger/nightly', 'inheritedrole/both'];

const reason = SERVER === '' ? ' (skipped: E2E_ARGOCD_SERVER is not set)' : '';

describe.skipIf(SERVER === '')(`Argo CD over resources of the old form${reason}`, () => {
  beforeAll(async () => {
    repository = new Repository({});
    mkdirSync(`${repository.folder}/${FOLDER}`);
    const converted = await run('node', ['bin/pergola.mjs', 'convert', '-f', '-'], OLD);
    repository.add(`${FOLDER}/api.yaml`, converted);
    repository.commit('the converted resources');
    await createNamespace(namespace);
    await createPostgres(namespace);
    await apply(
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: previousDefinitions() }),
      '--server-side',
      '--force-conflicts',
    );
    await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s');
    await until('the old form is stored', async () => {
      await apply(OLD, '-n', namespace);
      return true;
    });
    await kubectl('apply', '--server-side', '--force-conflicts', '-f', 'charts/pergola/files/crds');
    await install(namespace, 'charts/pergola', '--set', 'crds.enabled=false');
    await door.admin('run_sql', { sql: SEED });
    await apply(ENGINE, '-n', namespace);
  });

  afterAll(async () => {
    door.close();
    repository?.dispose();
    if (process.env['E2E_KEEP']) return;
    await kubectl('-n', 'argocd', 'delete', 'applications.argoproj.io', APPLICATION, '--ignore-not-found');
    await removeAll(namespace);
  });

  test('with server-side apply the Application is Unknown, also with Replace=true, and names the field', async () => {
    for (const options of [['ServerSideApply=true'], ['ServerSideApply=true', 'Replace=true']]) {
      await applyApplication(...options);
      await until('the Application is Unknown', async () => {
        const { sync, conditions = [] } = await stateOf();
        const messages = conditions.map(({ type, message }: Printed) => `${type}: ${message}`).join('\n');
        if (!/ComparisonError: .*\.spec\.\S+: expected/.test(messages)) throw new Error(messages);
        return sync.status === 'Unknown';
      });
    }
    const { spec } = await get('table.pergola.dev', 'author', '-n', namespace);
    expect(spec.permissions[0].select).not.toHaveProperty('maxRows');
  });

  test('without server-side apply it is Synced and Healthy, and everything is served', async () => {
    await applyApplication();
    await synced();
    await waitFor(namespace, 'condition=Ready', ...READY);
    const { spec } = await get('table.pergola.dev', 'author', '-n', namespace);
    expect(spec).toMatchObject({ table: 'author', permissions: [{ select: { maxRows: 5 } }] });
    expect(await door.graphql('{ author(limit: 1, order_by: {id: asc}) { id } }', 'reader')).toEqual({
      data: { author: [{ id: 1 }] },
    });
    expect((await door.graphql('{ author { id } }', 'auditor')).errors?.[0]?.message).toBe(
      "field 'id' not found in type: 'author'",
    );
  });

  test('then server-side apply works as well', async () => {
    await applyApplication('ServerSideApply=true');
    await synced();
  });
});

/** Applies the Application with these options, and waits until Argo CD has compared it with them. */
async function applyApplication(...syncOptions: readonly string[]): Promise<void> {
  const began = Date.now();
  await apply(
    JSON.stringify({
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: {
        name: APPLICATION,
        namespace: 'argocd',
        annotations: { 'argocd.argoproj.io/refresh': 'hard' },
      },
      spec: {
        project: 'default',
        source: { repoURL: repository.url, targetRevision: 'HEAD', path: FOLDER },
        destination: { server: SERVER, namespace },
        syncPolicy: { automated: { prune: true, selfHeal: true }, syncOptions },
      },
    }),
  );
  await until(`Argo CD has compared with ${syncOptions.join(', ') || 'no option'}`, async () => {
    const { reconciledAt } = await stateOf();
    // Its time has whole seconds.
    return Date.parse(reconciledAt) > began;
  });
}

async function stateOf(): Promise<Printed> {
  return (await get('application', APPLICATION, '-n', 'argocd')).status ?? {};
}

async function synced(): Promise<void> {
  await until('the Application is Synced and Healthy', async () => {
    const { sync, health, operationState, conditions } = await stateOf();
    const isDone = sync?.status === 'Synced' && health?.status === 'Healthy';
    if (!isDone) throw new Error(JSON.stringify({ sync, health, conditions, said: operationState?.message }));
    return !operationState?.phase?.startsWith('Run');
  });
}
