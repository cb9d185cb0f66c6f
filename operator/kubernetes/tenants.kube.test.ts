/** Tests two namespaces that share an engine, and a user who may edit only one of them, with a real API server, the roles of the chart
 *  and the real engine. Each test continues from the state that the previous one left.
 *  Not here: what grants cover (../grants/grants.test.ts), each case of reservation and revocation (end-to-end/tenants.test.ts). */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { describeHelm } from '../../testing/helm.ts';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import { GROUP_VERSION, KINDS, type KindRow } from '../kinds.ts';
import { createRig, HOME, type Rig } from './testing/rig.ts';

const TEAM = 'team-a';
const USER = 'edna';
const SCHEMA = `
  create table author (id serial primary key, name text, salary int);
  insert into author (name, salary) values ('Ann', 1)`;
const AUTHOR = { source: 'default', table: 'author' };

function cr(kind: string, name: string, spec: object, namespace = TEAM): KubeObject {
  const engineRef = { name: 'main', namespace: HOME };
  return { apiVersion: GROUP_VERSION, kind, metadata: { name, namespace }, spec: { engineRef, ...spec } };
}

const reader = (namespace: string, columns: readonly string[]) =>
  cr('TablePermission', 'reader', { ...AUTHOR, role: 'reader', select: { columns, filter: {} } }, namespace);

const GRANT = { name: TEAM, namespaces: [TEAM], sources: ['default'], tables: ['public.*'], roles: ['*'] };

await describeKube('namespaces that share an engine', (kube) => {
  describeHelm('with the roles of the chart', (helm) => {
    let rig: Rig;

    beforeAll(async () => {
      rig = await createRig(kube(), SCHEMA);
      await rig.startOperator();
      const roles = (await helm.template()).filter(
        ({ kind, metadata }) => kind === 'ClusterRole' && /pergola-(view|edit)$/.test(metadata.name),
      );
      const metadata = { name: TEAM, labels: { graphql: 'yes' } };
      await rig.kube.apply(
        { apiVersion: 'v1', kind: 'Namespace', metadata },
        ...roles,
        ...roles.map(bindingOf),
      );
      await rig.kube.apply(cr('Table', 'author', AUTHOR, HOME), reader(HOME, ['id']));
      await rig.ready('TablePermission', 'reader', 'Applied');
    }, 180_000);
    afterAll(() => rig?.close(), 30_000);

    const asUser = (args: readonly string[], input?: string) =>
      rig.kube.kubectl([`--as=${USER}`, ...args], input);
    const applyAsUser = (object: KubeObject) => asUser(['apply', '-f', '-'], JSON.stringify(object));
    const may = async (verb: string, resource: string, namespace: string) =>
      (
        await asUser(['auth', 'can-i', verb, `${resource}.pergola.dev`, '-n', namespace]).catch(() => 'no')
      ).trim();
    const changeEngine = async (spec: object) => {
      const path = `/apis/${GROUP_VERSION}/namespaces/${HOME}/engines/main`;
      await rig.kube.request('PATCH', path, { spec }, 'application/merge-patch+json');
    };
    /** Returns the columns of `author` that the role may read. */
    const columnsSeen = async (role = 'reader') => {
      const columns = ['id', 'name', 'salary'];
      const answers = await Promise.all(
        columns.map((column) => rig.engine().graphql(`{ author { ${column} } }`, { role })),
      );
      return columns.filter((_, i) => answers[i]!.errors === undefined);
    };

    test('an editor may write only the kinds that concern single objects, and only in that namespace', async () => {
      const rows: readonly KindRow[] = KINDS;
      const given = await Promise.all(
        rows.map(async ({ plural, concerns }) => [concerns, await may('create', plural, TEAM)].join(' ')),
      );
      expect(new Set(given)).toEqual(new Set(['engine no', 'object yes']));
      expect(await may('create', 'tablepermissions', HOME)).toBe('no');
      const settings = cr('EngineSettings', 'mine', {
        openTelemetry: { status: 'enabled', exporter_otlp: { otlp_traces_endpoint: 'http://mine' } },
      });
      await expect(applyAsUser(settings)).rejects.toThrow('forbidden');
    });

    test('an admitted namespace without a grant owns nothing', async () => {
      await applyAsUser(reader(TEAM, ['*']));
      const { message } = await rig.ready('TablePermission', 'reader', 'NotPermitted', TEAM);
      expect(message).toContain(
        `{name: ${TEAM}, namespaces: [${TEAM}], sources: [default], tables: [public.author], roles: [reader]}`,
      );
      expect(await columnsSeen()).toEqual(['id']);
    });

    test('a waiting permission of a granted namespace does not take over the name of a permission that is applied again', async () => {
      await changeEngine({ grants: [GRANT] });
      await rig.ready('TablePermission', 'reader', 'Conflict', TEAM);
      await rig.remove('TablePermission', 'reader');
      await vi.waitFor(async () => expect(await columnsSeen()).toEqual([]), {
        timeout: 15_000,
        interval: 50,
      });
      await vi.waitFor(
        async () => {
          const { status } = await rig.get('TablePermission', 'reader', TEAM);
          expect(JSON.stringify(status)).toContain(`is reserved for namespace ${HOME}`);
        },
        { timeout: 15_000, interval: 50 },
      );
      await rig.kube.apply(reader(HOME, ['id']));
      await rig.ready('TablePermission', 'reader', 'Applied');
      expect(await columnsSeen()).toEqual(['id']);
    });

    test('a kind that concerns the whole engine is not permitted even if an administrator creates it in the namespace', async () => {
      await rig.kube.apply(
        cr('EngineSettings', 'mine', { introspection: { disabledForRoles: ['reader'] } }),
        cr('CronTrigger', 'mine', {
          name: 'mine',
          schedule: '* * * * *',
          webhook: { value: '{{SECRET_URL}}/x' },
        }),
      );
      const settings = await rig.ready('EngineSettings', 'mine', 'NotPermitted', TEAM);
      expect(settings.message).toContain('kinds: [EngineSettings]');
      const cron = await rig.ready('CronTrigger', 'mine', 'NotPermitted', TEAM);
      expect(cron.message).toContain('variables: [SECRET_URL]');
      const { body } = await rig.engine().admin<object>('export_metadata', {});
      expect(JSON.stringify(body)).not.toMatch(/SECRET_URL|disabled_for_roles/);
    });

    test('objects are kept for the grace period after their grant is removed, and are then deleted', async () => {
      const spec = { ...AUTHOR, role: 'guest', select: { columns: ['name'], filter: {} } };
      await applyAsUser(cr('TablePermission', 'guest', spec));
      await rig.ready('TablePermission', 'guest', 'Applied', TEAM);
      await changeEngine({ grants: [] });
      const { message } = await rig.ready('TablePermission', 'guest', 'NotPermitted', TEAM);
      expect(message).toMatch(/will be removed from the engine at \d{4}-/);
      await vi.waitFor(
        async () => {
          const { status } = await rig.get('Engine', 'main');
          expect(status?.namespaces).toMatchObject([{ name: TEAM, state: 'Revoked', objects: 1 }]);
        },
        { timeout: 15_000, interval: 50 },
      );
      expect(await columnsSeen('guest')).toEqual(['name']);
      await changeEngine({ policies: { revocationGraceMinutes: 0 } });
      await vi.waitFor(async () => expect(await columnsSeen('guest')).toEqual([]), {
        timeout: 15_000,
        interval: 50,
      });
      await rig.ready('TablePermission', 'guest', 'NotPermitted', TEAM);
      await rig.ready('TablePermission', 'reader', 'Applied');
    });
  });
});

function bindingOf({ metadata }: KubeObject): KubeObject {
  const apiGroup = 'rbac.authorization.k8s.io';
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'RoleBinding',
    metadata: { name: metadata.name, namespace: TEAM },
    roleRef: { apiGroup, kind: 'ClusterRole', name: metadata.name },
    subjects: [{ apiGroup, kind: 'User', name: USER }],
  } as KubeObject;
}
