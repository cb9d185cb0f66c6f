/** Two namespaces that share an engine on a real cluster, and a user who may only `edit` one of them: what the user may write, what the
 *  namespace may own, and what becomes of it when its grant goes. Not here: every case (operator/tenants.test.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apply, get, kubectl, run, until, waitFor } from './cluster.ts';
import { Door } from './door.ts';
import { CHART, createNamespace, createPostgres, install, removeAll, uniqueName } from './release.ts';

const home = uniqueName('pergola-grants');
const team = `${home}-team`;
const USER = 'edna';
const door = new Door(home, 'service/pergola-engine');

const ENGINE = `
apiVersion: pergola.dev/v1alpha1
kind: Engine
metadata: {name: main, namespace: ${home}}
spec:
  endpoint: {service: {name: pergola-engine, port: 8080}}
  adminSecretRef: {name: pergola-admin, key: admin-secret}
  allowedNamespaces: {from: Selector, selector: {matchLabels: {tenants: ${home}}}}
  polling: {versionSeconds: 1}
`;
const TABLE = `
apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: {name: member, namespace: ${home}}
spec: {engineRef: {name: main}, source: default, table: {schema: public, name: member}}
`;
const reader = (namespace: string, columns: string) => `
apiVersion: pergola.dev/v1alpha1
kind: TablePermission
metadata: {name: reader, namespace: ${namespace}}
spec:
  engineRef: {name: main, namespace: ${home}}
  source: default
  table: {schema: public, name: member}
  role: reader
  select: {columns: ${columns}, filter: {}}
`;
const TELEMETRY = `
apiVersion: pergola.dev/v1alpha1
kind: EngineSettings
metadata: {name: mine}
spec:
  engineRef: {name: main, namespace: ${home}}
  openTelemetry: {status: enabled, exporter_otlp: {otlp_traces_endpoint: "http://mine:4318/v1/traces"}}
`;
const GRANT = { name: 'team', namespaces: [team], sources: ['default'], tables: ['public.*'], roles: ['*'] };

const asUser = (manifest: string, ...args: readonly string[]) =>
  run('kubectl', [`--as=${USER}`, '-n', team, 'apply', '-f', '-', ...args], manifest);
const changeEngine = (spec: object) =>
  kubectl('-n', home, 'patch', 'engine', 'main', '--type=merge', '-p', JSON.stringify({ spec }));
const readyOf = async (namespace: string, name = 'reader') => {
  const { status } = await get('tablepermission', name, '-n', namespace);
  return status?.conditions?.find(({ type }: { type: string }) => type === 'Ready') ?? {};
};
const isReason = (namespace: string, reason: string) =>
  until(
    `the permission in ${namespace} is ${reason}`,
    async () => (await readyOf(namespace)).reason === reason,
  );
const sees = async (column: string, role = 'reader') =>
  (await door.graphql(`{ member { ${column} } }`, role)).errors === undefined;

beforeAll(async () => {
  await createNamespace(home);
  await createPostgres(home);
  await install(home, CHART);
  await door.admin('run_sql', { sql: 'create table member (id serial primary key, secret text)' });
  await apply(`
apiVersion: v1
kind: Namespace
metadata: {name: ${team}, labels: {tenants: ${home}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: ${USER}, namespace: ${team}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ${USER}}]
`);
  await apply([ENGINE, TABLE, reader(home, '[id]')].join('\n---\n'));
  await waitFor(home, 'condition=Ready', 'engine/main', 'table/member', 'tablepermission/reader');
});

afterAll(async () => {
  door.close();
  if (!process.env['E2E_KEEP'])
    await kubectl('delete', 'namespace', team, '--wait=false', '--ignore-not-found');
  await removeAll(home);
});

test('an editor may not write what concerns the whole engine', async () => {
  await expect(asUser(TELEMETRY)).rejects.toThrow('forbidden');
  await expect(asUser(reader(home, '["*"]'), '-n', home)).rejects.toThrow(/forbidden|namespace/);
});

test('a namespace that is let in owns nothing without a grant, and an administrator no kind of the whole engine', async () => {
  await asUser(reader(team, '["*"]'));
  await isReason(team, 'NotPermitted');
  expect((await readyOf(team)).message).toContain(`{name: ${team}, namespaces: [${team}]`);
  await apply(TELEMETRY, '-n', team);
  await until('the settings are not permitted', async () => {
    const { status } = await get('enginesettings', 'mine', '-n', team);
    return status?.conditions?.[0]?.reason === 'NotPermitted';
  });
  expect(JSON.stringify(await door.metadata('export_metadata'))).not.toContain('http://mine');
  expect([await sees('id'), await sees('secret')]).toEqual([true, false]);
});

test('a permission that waits does not take over from one that is deleted and applied again', async () => {
  await changeEngine({ grants: [GRANT] });
  await isReason(team, 'Conflict');
  await kubectl('-n', home, 'delete', 'tablepermission', 'reader');
  await until('the name is reserved', async () =>
    (await readyOf(team)).message.includes('is reserved for namespace'),
  );
  expect(await sees('secret')).toBe(false);
  await apply(reader(home, '[id]'));
  await waitFor(home, 'condition=Ready', 'tablepermission/reader');
  expect([await sees('id'), await sees('secret')]).toEqual([true, false]);
});

test('what a namespace was granted is removed some time after the grant', async () => {
  await asUser(
    reader(team, '[id]').replace('name: reader,', 'name: guest,').replace('role: reader', 'role: guest'),
  );
  await waitFor(team, 'condition=Ready', 'tablepermission/guest');
  expect(await sees('id', 'guest')).toBe(true);
  await changeEngine({ grants: [] });
  await until('the Engine says when', async () => {
    const { status } = await get('engine', 'main', '-n', home);
    return status.namespaces?.some(
      (one: { name: string; state: string }) => one.name === team && one.state === 'Revoked',
    );
  });
  expect(await sees('id', 'guest')).toBe(true);
  await changeEngine({ policies: { revocationGraceMinutes: 0 } });
  await until('it is removed', async () => !(await sees('id', 'guest')));
  expect([await sees('id'), await sees('secret')]).toEqual([true, false]);
});
