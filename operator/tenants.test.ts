/** Namespaces that share an engine: what one may own, and what becomes of it. The scripted engine; what grants cover is tested in
 *  grants/grants.test.ts. */
import { objectKey } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { consentOf, type LabelsOf } from './grants/consent.ts';
import type { CustomResource } from './kinds.ts';
import { reconcile } from './reconcile.ts';
import { OPTIONS, permission, resource, snapshotOf, table } from './testing/resources.ts';
import { ScriptedPorts } from './testing/scripted-ports.ts';

const EVERYTHING = { sources: ['*'], tables: ['*'], roles: ['*'], variables: ['*'], webhookHosts: ['*'] };
const TEAM_A = { name: 'a', namespaces: ['team-a'], ...EVERYTHING };
const TEAM_B = { name: 'b', namespaces: ['team-b'], ...EVERYTHING };

/** A cluster with one engine in namespace `api`, which lets in all that is granted something. */
class World {
  readonly ports = new ScriptedPorts();
  grants: readonly object[] = [TEAM_A, TEAM_B];
  allowed: object = { from: 'All' };
  labelsOf: LabelsOf | undefined = () => ({});
  annotations: Readonly<Record<string, string>> = {};

  async pass(...resources: readonly CustomResource[]) {
    const spec = { allowedNamespaces: this.allowed, grants: this.grants };
    const { annotations } = this;
    const engine = resource('Engine', 'main', spec, { namespace: 'api', annotations });
    const namespaces = new Set(resources.map(({ metadata }) => metadata.namespace));
    this.ports.given = snapshotOf(resources, { consent: consentOf(engine, namespaces, this.labelsOf) });
    return reconcile(this.ports, OPTIONS);
  }

  has(key: string): boolean {
    return this.ports.engine.objects.has(key);
  }
}

const AUTHOR = table('author', { namespace: 'api' });
const SELECT = objectKey('select_permission', 'default', 'public', 'author', 'user');

const selectOf = (namespace: string, columns: readonly string[] = ['id'], more: object = {}) =>
  permission('user', 'author', 'user', columns, {
    namespace,
    uid: `uid-${namespace}`,
    creationTimestamp: `2025-01-0${namespace === 'team-a' ? 1 : 2}T00:00:00Z`,
    spec: more as Readonly<Record<string, unknown>>,
  });

test('another namespace owns nothing without a grant, and is told which to add', async () => {
  const world = new World();
  world.grants = [];
  const mine = selectOf('team-a');
  await world.pass(AUTHOR, mine);
  expect(world.has(SELECT)).toBe(false);
  expect(world.ports.readiness(mine)).toBe('False NotPermitted');
  expect(world.ports.message(mine)).toContain(
    '{name: team-a, namespaces: [team-a], sources: [default], tables: [public.author], roles: [user]}',
  );
  expect(world.ports.readiness(AUTHOR)).toBe('True Applied');
  world.grants = [TEAM_A];
  await world.pass(AUTHOR, mine);
  expect(world.has(SELECT)).toBe(true);
  expect(world.ports.readiness(mine)).toBe('True Applied');
});

test('what is not permitted does not keep a permitted resource from its name', async () => {
  const world = new World();
  world.grants = [{ ...TEAM_B }];
  const [older, owner] = [selectOf('team-a'), selectOf('team-b')];
  await world.pass(AUTHOR, older, owner);
  expect(world.ports.readiness(older)).toBe('False NotPermitted');
  expect(world.ports.readiness(owner)).toBe('True Applied');
});

test('a resource that asks for more than is granted keeps what it has', async () => {
  const world = new World();
  world.grants = [{ ...TEAM_A, references: [], tables: ['public.author'] }];
  await world.pass(AUTHOR, selectOf('team-a'));
  const select = {
    columns: ['id'],
    filter: { _exists: { _table: { schema: 'public', name: 'salary' }, _where: {} } },
  };
  const asking = selectOf('team-a', [], { select });
  await world.pass(AUTHOR, asking);
  expect(world.ports.readiness(asking)).toBe('False NotPermitted');
  expect(world.has(SELECT)).toBe(true);
});

test('variables need a grant in the namespace of the Engine, too', async () => {
  const world = new World();
  const nightly = resource(
    'CronTrigger',
    'nightly',
    { name: 'nightly', schedule: '0 3 * * *', webhook: '{{JOBS_URL}}/nightly' },
    { namespace: 'api' },
  );
  await world.pass(nightly);
  expect(world.ports.readiness(nightly)).toBe('False NotPermitted');
  expect(world.ports.message(nightly)).toContain('{name: api, variables: [JOBS_URL]}');
  world.grants = [{ name: 'own', variables: ['JOBS_*'] }];
  await world.pass(nightly);
  expect(world.ports.readiness(nightly)).toBe('True Applied');
});

test('a kind that concerns the whole engine must be named in a grant', async () => {
  const world = new World();
  const settings = resource(
    'EngineSettings',
    'mine',
    { introspection: { disabledForRoles: ['user'] } },
    { namespace: 'team-a' },
  );
  await world.pass(settings);
  expect(world.ports.readiness(settings)).toBe('False NotPermitted');
  expect(world.ports.message(settings)).toContain('kinds: [EngineSettings]');
  world.grants = [{ ...TEAM_A, kinds: ['EngineSettings'] }];
  await world.pass(settings);
  expect(world.ports.readiness(settings)).toBe('True Applied');
});

test('a paused resource is judged like any other', async () => {
  const world = new World();
  world.grants = [];
  const paused = selectOf('team-a', ['id'], { suspend: true });
  await world.pass(AUTHOR, paused);
  expect(world.ports.readiness(paused)).toBe('False NotPermitted');
});
