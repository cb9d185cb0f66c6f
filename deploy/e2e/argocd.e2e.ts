/** Tests GitOps with Argo CD's own controllers, which install Pergola, then a migration, resources and a client, from a Git repository.
 *  Everything becomes Synced and Healthy without ignoreDifferences, commits change the API, manual changes are reverted, a broken resource
 *  affects no other, and the deletion of the namespace does not hang.
 *  In: E2E_ARGOCD_SERVER, the name of this cluster in an Argo CD that reads folders of this machine.
 *  The steps are one story and run in order. */
import { globSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KINDS } from '../../operator/kinds.ts';
import { version } from '../release/version.ts';
import { apply, get, kubectl, type Printed, until, waitFor } from './cluster.ts';
import { Door } from './door.ts';
import {
  allowing,
  EVERY_KIND,
  environmentOf,
  OPTIONS,
  READER_QUERY,
  READER_SEES,
  SEED,
  startBilling,
} from './every-kind.ts';
import { ENGINE } from './examples.ts';
import { createNamespace, createPostgres, IMAGE, removeAll, uniqueName } from './release.ts';
import { Repository } from './repository.ts';

const SERVER = process.env['E2E_ARGOCD_SERVER'] ?? '';
const APPLICATIONS = ['root', 'pergola', 'api', 'every-kind'];
const namespace = uniqueName('pergola-argocd');
const door = new Door(namespace, 'service/pergola-engine');
const colon = IMAGE.lastIndexOf(':');
let repository: Repository;

const ENGINE_VALUES = {
  replicas: 2,
  options: OPTIONS,
  extraEnv: environmentOf('postgres'),
};

const reason = SERVER === '' ? ' (skipped: E2E_ARGOCD_SERVER is not set)' : '';

describe.skipIf(SERVER === '')(`Argo CD${reason}`, () => {
  beforeAll(async () => {
    repository = new Repository({
      'server: https://kubernetes.default.svc': `server: ${SERVER}`,
      'namespace: api': `namespace: ${namespace}`,
      'engine: { replicas: 2 }': `engine: ${JSON.stringify(ENGINE_VALUES)}\n        image: { repository: "${IMAGE.slice(0, colon)}", tag: "${IMAGE.slice(colon + 1)}" }`,
      [`image: pergola:${version()}`]: `image: ${IMAGE}`,
    });
    for (const file of ['application', 'root', 'apps/pergola', 'apps/api']) {
      repository.write(`deploy/argocd/${file}.yaml`, (text) =>
        text.replace(/repoURL: .*/, `repoURL: ${repository.url}`),
      );
    }
    // deploy/argocd/api has the Engine `main`; this Engine shares its engine.
    for (const file of globSync(`${EVERY_KIND}/*.yaml`)) {
      repository.write(file, (text) =>
        text
          .replaceAll('engineRef: { name: main }', 'engineRef: { name: every-kind }')
          .replace('name: main', 'name: every-kind'),
      );
    }
    repository.write('deploy/argocd/application.yaml', (text) => text.replaceAll('library', 'every-kind'));
    repository.add(
      'deploy/argocd/api/queries.yaml',
      allowing(['{ headline { id title } }', '{ headline { title } }', '{ headline { id } }']),
    );
    repository.commit('where it is');
    await kubectl(
      '-n',
      'argocd',
      'patch',
      'configmap',
      'argocd-cm',
      '--patch-file',
      'deploy/argocd/argocd-cm.yaml',
    );
    await createNamespace(namespace);
    await createPostgres(namespace);
    await startBilling(namespace);
  });

  afterAll(async () => {
    door.close();
    repository.dispose();
    if (process.env['E2E_KEEP']) return;
    const remove = ['delete', 'applications.argoproj.io', ...APPLICATIONS, '--ignore-not-found'];
    await kubectl('-n', 'argocd', ...remove, '--wait=false');
    await removeAll(namespace);
  });

  test('the Application of Applications installs Pergola, migrates, declares resources and starts a client, in this order', async () => {
    await applyApplication('root');
    await syncedAndHealthy('root');
    await syncedAndHealthy('pergola');
    await syncedAndHealthy('api');
    expect(await door.graphql('{ headline { id title } }', 'reader')).toEqual({
      data: { headline: [{ id: 1, title: 'first' }] },
    });
    const { items } = await get('pods', '-n', namespace, '-l', 'app=client');
    expect(items[0].status.containerStatuses[0].restartCount).toBe(0);
  });

  test('an Application with every kind is Synced and Healthy with server-side apply', async () => {
    await door.admin('run_sql', { sql: SEED });
    await applyApplication('every-kind');
    await syncedAndHealthy('every-kind');
    const { resources } = (await get('application', 'every-kind', '-n', 'argocd')).status;
    const kinds = resources.filter((x: Printed) => x.group === 'pergola.dev').map((x: Printed) => x.kind);
    expect(new Set(kinds)).toEqual(new Set(KINDS.map(({ kind }) => kind)));
    expect(await door.graphql(READER_QUERY, 'reader')).toEqual(READER_SEES);
  });

  test('the same Application is Synced and Healthy with client-side apply, which applies every resource again', async () => {
    const patch = { spec: { syncPolicy: { syncOptions: ['ServerSideApply=false'] } } };
    const merge = ['--type=merge', '-p', JSON.stringify(patch)];
    await kubectl('-n', 'argocd', 'patch', 'application', 'every-kind', ...merge);
    repository.write(`${EVERY_KIND}/table.yaml`, (text) => text.replace('What the', 'All that the'));
    await push('every-kind', 'a comment');
    await until('the comment is there', async () => {
      const table = await get('table.pergola.dev', 'article', '-n', namespace);
      return table.spec.configuration.comment.startsWith('All that');
    });
    await syncedAndHealthy('every-kind');
    const { items } = await get('pergola', '-n', namespace);
    const ofServer = items.filter((x: Printed) => isOfEveryKind(x) && !x.metadata.annotations[LAST_APPLIED]);
    expect(ofServer.map((x: Printed) => `${x.kind}/${x.metadata.name}`)).toEqual([]);
    const { spec } = await get('application', 'every-kind', '-n', 'argocd');
    expect(spec).not.toHaveProperty('ignoreDifferences');
  });

  test('a commit changes the API', async () => {
    const file = 'deploy/argocd/api/2-resources.yaml';
    repository.write(file, (text) => text.replace('columns: [id, title]', 'columns: [id]'));
    repository.write('deploy/argocd/api/3-client.yaml', (text) => text.replace('{ id title }', '{ id }'));
    await push('api', 'titles are hidden');
    await until('the title is hidden', async () => {
      const answer = await door.graphql('{ headline { title } }', 'reader');
      return answer.errors?.[0]?.message === "field 'title' not found in type: 'headline'";
    });
    await syncedAndHealthy('api');
  });

  test('a manual change in the cluster is reverted', async () => {
    const everything = [{ op: 'replace', path: '/spec/select/columns', value: ['*'] }];
    const patch = [
      'patch',
      'tablepermission',
      'reader-headline',
      '--type=json',
      '-p',
      JSON.stringify(everything),
    ];
    await kubectl('-n', namespace, ...patch);
    await until('the change is undone', async () => {
      const { spec } = await get('tablepermission', 'reader-headline', '-n', namespace);
      return JSON.stringify(spec.select.columns) === '["id"]';
    });
    await syncedAndHealthy('api');
    const answer = await door.graphql('{ headline { title } }', 'reader');
    expect(answer.errors?.[0]?.message).toBe("field 'title' not found in type: 'headline'");
  });

  test('a manual change in the engine is reverted', async () => {
    await door.metadata('pg_drop_select_permission', {
      source: 'default',
      table: 'headline',
      role: 'reader',
    });
    await until('the permission is back', async () => {
      const answer = await door.graphql('{ headline { id } }', 'reader');
      return answer.errors === undefined;
    });
  });

  test('only a broken resource is Degraded, and its message names the field and the reason', async () => {
    repository.add('deploy/argocd/api/broken.yaml', BROKEN);
    await push('api', 'a permission with an operator there is not');
    await until('the Application is Degraded', async () => (await healthOf('api')).status === 'Degraded');
    let failed: Printed[] = [];
    await until('the sync says what failed', async () => {
      const resources = (await syncOf('api')).syncResult?.resources ?? [];
      failed = resources.filter((x: Printed) => x.hookPhase === 'Failed');
      return failed.length > 0;
    });
    expect(failed.map(({ kind, name }: Printed) => `${kind}/${name}`)).toEqual([
      'TablePermission/writer-headline',
    ]);
    expect(failed[0].message).toMatch(/RejectedByEngine: .*Unknown operator : _equals/);
    const { items } = await get('pergola', '-n', namespace);
    const notReady = items.filter((x: Printed) => !x.status.conditions.some(isReady));
    const messageOf = (x: Printed) =>
      x.status.conditions.find(({ type }: Printed) => type === 'Ready')?.message;
    expect(notReady.map((x: Printed) => [x.metadata.name, messageOf(x)])).toEqual([
      ['writer-headline', expect.stringContaining('_equals')],
    ]);
    expect((await door.graphql('{ headline { id } }', 'reader')).errors).toBeUndefined();
  });

  test('a commit that mends a refused resource is synced at once, before the retries of the refused one end', async () => {
    const { phase, retryCount = 0 } = await syncOf('api');
    expect(['Running', 'Failed']).toContain(phase);
    const began = Date.now();
    repository.write('deploy/argocd/api/broken.yaml', (text) => text.replace('_equals', '_eq'));
    await push('api', 'the operator is mended');
    await syncedAndHealthy('api');
    const seconds = Math.round((Date.now() - began) / 1000);
    console.log(`the fix was synced after ${seconds} s, while the sync was ${phase}, retry ${retryCount}`);
    // The retries of the refused commit would take longer: 5 + 10 + 20 + 40 + 60 s besides the syncs themselves.
    expect(seconds).toBeLessThan(120);
    expect((await door.graphql('{ headline { id } }', 'writer')).errors).toBeUndefined();
  });

  test('with server-side apply a misspelt field makes the Application Unknown, and the others continue', async () => {
    const file = 'deploy/argocd/api/broken.yaml';
    await syncOption('api', 'ServerSideApply=true');
    repository.write(file, (text) => text.replace('role: writer', 'role: writer\n  coment: misspelt'));
    await push('api', 'a misspelt field');
    await until('the Application is Unknown', async () => {
      const { status } = await get('application', 'api', '-n', 'argocd');
      return status.sync.status === 'Unknown';
    });
    const { conditions = [] } = (await get('application', 'api', '-n', 'argocd')).status;
    const messages = conditions.map(({ type, message }: Printed) => `${type}: ${message}`).join('\n');
    console.log(messages);
    expect(messages).toContain('ComparisonError');
    expect(messages).toContain('.spec.coment');
    expect((await door.graphql('{ headline { id } }', 'writer')).errors).toBeUndefined();
    await syncedAndHealthy('pergola');
    repository.write(file, (text) => text.replace('\n  coment: misspelt', ''));
    await push('api', 'it is spelt right');
    await syncedAndHealthy('api');
    await syncOption('api', 'ServerSideApply=false');
  });

  test('the objects of a pruned resource are deleted from the engine', async () => {
    repository.remove('deploy/argocd/api/broken.yaml');
    const file = 'deploy/argocd/api/2-resources.yaml';
    repository.write(file, (text) => text.slice(0, text.lastIndexOf('---')));
    repository.remove('deploy/argocd/api/3-client.yaml');
    await push('api', 'the permission and its client are gone');
    await until('the role sees nothing', async () => {
      const answer = await door.graphql('{ headline { id } }', 'reader');
      return answer.errors?.[0]?.message === "field 'headline' not found in type: 'query_root'";
    });
    await syncedAndHealthy('api');
  });

  test('an Application that is removed from Git removes its API from the engine, and the Engine is kept', async () => {
    expect(await trackedTables()).toContain('headline');
    repository.remove('deploy/argocd/apps/api.yaml');
    await push('root', 'the API is gone');
    await until('the Application is deleted', async () => {
      const { items } = await get('applications.argoproj.io', '-n', 'argocd');
      return !items.some(({ metadata }: Printed) => metadata.name === 'api');
    });
    await until('the engine does not serve it', async () => !(await trackedTables()).includes('headline'));
    await waitFor(namespace, 'condition=Ready', 'engine.pergola.dev/main');
    await syncedAndHealthy('root');
  });

  test('the namespace is deleted without manual steps', async () => {
    door.close();
    // The Applications are deleted with everything in them, in the order of their finalizers.
    const applications = APPLICATIONS.filter((name) => name !== 'api');
    await kubectl('-n', 'argocd', 'delete', 'applications.argoproj.io', ...applications);
    await apply(ENGINE.replace('name: main', 'name: left-behind'), '-n', namespace);
    await kubectl('delete', 'namespace', namespace, '--wait=true', '--timeout=300s');
  });
});

/** The annotation that only client-side apply sets. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const BROKEN = `
apiVersion: pergola.dev/v1alpha1
kind: TablePermission
metadata:
  name: writer-headline
  annotations: {argocd.argoproj.io/sync-wave: "2"}
spec:
  engineRef: {name: main}
  source: default
  table: headline
  role: writer
  select: {columns: [id], filter: {title: {_equals: none}}}
`;

async function applyApplication(name: string): Promise<void> {
  const file = name === 'every-kind' ? 'application' : name;
  await kubectl('apply', '-f', `${repository.folder}/deploy/argocd/${file}.yaml`);
}

async function push(application: string, message: string): Promise<void> {
  repository.commit(message);
  await refresh(application);
}

/** Makes Argo CD compare at once instead of at its next interval. */
async function refresh(application: string): Promise<void> {
  const annotation = 'argocd.argoproj.io/refresh=hard';
  await kubectl('-n', 'argocd', 'annotate', 'application', application, annotation, '--overwrite');
}

/** Sets the only sync option of an Application that the root Application does not revert: by a commit. */
async function syncOption(application: string, option: string): Promise<void> {
  repository.write(`deploy/argocd/apps/${application}.yaml`, (text) =>
    text.replace(/syncOptions: \[.*\]/, `syncOptions: [PruneLast=true, ${option}]`),
  );
  await push('root', option);
  await until(`the Application has ${option}`, async () => {
    const { spec } = await get('application', application, '-n', 'argocd');
    return spec.syncPolicy.syncOptions.includes(option);
  });
}

/** Returns the names of the tables in the engine's metadata. */
async function trackedTables(): Promise<readonly string[]> {
  const { sources } = (await door.metadata('export_metadata', {})) as Printed;
  return sources.flatMap(({ tables }: Printed) => tables.map(({ table }: Printed) => table.name));
}

function isOfEveryKind({ metadata, spec }: Printed): boolean {
  return (spec.engineRef?.name ?? metadata.name) === 'every-kind';
}

function isReady({ type, status }: Printed): boolean {
  return type === 'Ready' && status === 'True';
}

/** Returns the running sync, or the last one. */
async function syncOf(application: string): Promise<Printed> {
  return (await get('application', application, '-n', 'argocd')).status?.operationState ?? {};
}

async function healthOf(application: string): Promise<Printed> {
  const { status } = await get('application', application, '-n', 'argocd');
  return status?.health ?? {};
}

/** Waits until the Application is Synced and Healthy and no sync is running. */
async function syncedAndHealthy(application: string): Promise<void> {
  let seen: Printed;
  await until(`${application} is Synced and Healthy`, async () => {
    seen = (await get('application', application, '-n', 'argocd')).status ?? {};
    const isDone =
      seen.sync?.status === 'Synced' &&
      seen.health?.status === 'Healthy' &&
      !seen.operationState?.phase?.startsWith('Run');
    if (!isDone) throw new Error(JSON.stringify(summaryOf(seen)));
    return true;
  });
}

/** Returns the state of an Application, with the resources that are not Synced or not Healthy. */
function summaryOf({ sync, health, operationState, conditions, resources = [] }: Printed): Printed {
  const left = resources.filter(
    (x: Printed) => x.status !== 'Synced' || (x.health && x.health.status !== 'Healthy'),
  );
  return {
    sync: sync?.status,
    health: health?.status,
    phase: operationState?.phase,
    message: operationState?.message,
    conditions,
    left,
  };
}
