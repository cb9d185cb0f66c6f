/** Tests the migration of resources stored as an older version, in a real API server, with the rights that the guide lists. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { beforeAll, expect, test, vi } from 'vitest';
import { describeKube, type KubeObject, type TestKube } from '../../testing/kube.ts';
import { API_GROUP, API_VERSION, GROUP_VERSION, type KindRow, kindOf } from '../kinds.ts';

const ROOT = join(import.meta.dirname, '../..');
const [OLD, NEW] = ['v1alpha0', API_VERSION];
const TABLES = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tables.${API_GROUP}`;
const row: KindRow = kindOf('Table')!;

type Definition = KubeObject & { readonly spec: { readonly versions: readonly object[] } };

/** Returns the definition with an older version of the same fields, which is the stored version, an additional one, or absent. */
function definition(stored: 'old' | 'new' | 'new alone'): Definition {
  const made = load(readFileSync(join(ROOT, 'crds/generated/tables.yaml'), 'utf8')) as Definition;
  const [version] = made.spec.versions;
  const versions = [
    { ...version, storage: stored !== 'old' },
    ...(stored === 'new alone' ? [] : [{ ...version, name: OLD, storage: stored === 'old' }]),
  ];
  return { ...made, spec: { ...made.spec, versions } };
}

function table(name: string, apiVersion: string): KubeObject {
  const spec = { engineRef: { name: 'main' }, source: 'default', table: name };
  return { apiVersion, kind: row.kind, metadata: { name, namespace: 'default' }, spec };
}

await describeKube('the storage of resources', (kube) => {
  let kubeconfig: string;

  beforeAll(async () => {
    await kube().kubectl(['apply', '--server-side', '-f', join(ROOT, 'crds/generated')]);
    await kube().kubectl(['wait', '--for=condition=Established', `crd/tables.${API_GROUP}`]);
    kubeconfig = await kube().kubeconfigFor(await documentedToken(kube()));
  }, 180_000);

  const migrate = () =>
    promisify(execFile)(
      process.execPath,
      ['bin/pergola.mjs', 'operator', 'migrate-storage', '--settle-seconds', '3'],
      {
        cwd: ROOT,
        env: { ...process.env, KUBECONFIG: kubeconfig },
      },
    );
  const storedVersions = async () => (await kube().request('GET', TABLES)).body.status.storedVersions;
  const versionsOfTables = async (): Promise<Record<string, string>> => {
    // The API server does not serve resources while their definition changes.
    const items = await vi.waitFor(
      async () => {
        const { body } = await kube().request('GET', `/apis/${GROUP_VERSION}/tables`);
        const found: readonly { metadata: { name: string; resourceVersion: string } }[] | undefined =
          body.items;
        return found ?? Promise.reject(new Error(JSON.stringify(body)));
      },
      { timeout: 30_000, interval: 100 },
    );
    return Object.fromEntries(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
  };

  /** Waits, because the API server serves a version some time after its definition has it. */
  const applied = (...objects: readonly KubeObject[]) =>
    vi.waitFor(() => kube().apply(...objects), { timeout: 30_000, interval: 100 });

  test('nothing is written when no resource is stored as an older version', async () => {
    await applied(table('now', GROUP_VERSION));
    const before = await versionsOfTables();
    const { stdout } = await migrate();
    expect(stdout).toBe('nothing is stored as an older version\n');
    expect(await versionsOfTables()).toEqual(before);
    await kube().request('DELETE', `/apis/${GROUP_VERSION}/namespaces/default/tables/now`);
  });

  test('resources stored as an older version are rewritten', async () => {
    await kube().apply(definition('old'));
    await applied(table('one', `${API_GROUP}/${OLD}`), table('two', `${API_GROUP}/${OLD}`));
    await kube().apply(definition('new'));
    expect(await storedVersions()).toContain(OLD);
    await expect(kube().apply(definition('new alone'))).rejects.toThrow('storedVersions');
    const before = await versionsOfTables();
    const { stdout } = await migrate();
    expect(stdout).toBe(`tables.${API_GROUP}: 2 resources, stored as ${NEW}, none as ${OLD}\n`);
    const after = await versionsOfTables();
    expect([after['one'] !== before['one'], after['two'] !== before['two']]).toEqual([true, true]);
    expect(await storedVersions()).toEqual([NEW]);
  });

  test('resources stored as the current version are not rewritten, and the older version can be removed', async () => {
    const before = await versionsOfTables();
    const status = { storedVersions: [OLD, NEW] };
    await kube().request('PATCH', `${TABLES}/status`, { status }, 'application/merge-patch+json');
    expect((await migrate()).stdout).toContain('2 resources');
    expect(await versionsOfTables()).toEqual(before);
    await kube().apply(definition('new alone'));
    expect((await migrate()).stdout).toBe('nothing is stored as an older version\n');
    expect(await versionsOfTables()).toEqual(before);
  });

  test('a missing right is reported, and the definition is unchanged', async () => {
    await kube().apply(definition('old'));
    await kube().apply(definition('new'));
    await kube().request('DELETE', '/apis/rbac.authorization.k8s.io/v1/clusterroles/pergola-migrate-storage');
    await expect(migrate()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('forbidden') });
    expect(await storedVersions()).toContain(OLD);
  });
});

/** Returns the token of an account with the rights that docs/guides/installing.md lists. */
async function documentedToken(kube: TestKube): Promise<string> {
  const guide = readFileSync(join(ROOT, 'docs/guides/installing.md'), 'utf8');
  const role = load(/```yaml\n(kind: ClusterRole\n[\s\S]*?)```/.exec(guide)?.[1] ?? '') as KubeObject;
  const account = { kind: 'ServiceAccount', name: 'migrate', namespace: 'default' };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role.metadata.name };
  await kube.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'migrate', namespace: 'default' } },
    role,
    { ...role, kind: 'ClusterRoleBinding', rules: undefined, roleRef, subjects: [account] },
  );
  const path = '/api/v1/namespaces/default/serviceaccounts/migrate/token';
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  return (await kube.request('POST', path, asked)).body.status.token;
}
