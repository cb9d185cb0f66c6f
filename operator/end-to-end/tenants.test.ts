/** Tests what each of the namespaces that share an engine may own, and what revocation and deletion do to it. Uses the scripted engine.
 *  Not here: what grants cover (grants/grants.test.ts). */
import { objectKey } from '@pergola/engine/metadata';
import { describe, expect, test } from 'vitest';
import { nextDeadline } from '../status/deadlines.ts';
import { engineStatusOf } from '../status/engine-status.ts';
import type { Report } from '../status/report.ts';
import { OPTIONS, permission, resource, table } from '../testing/resources.ts';
import { TEAM_A, TEAM_B, World } from '../testing/tenant-world.ts';

const AUTHOR = table('author', { namespace: 'api' });
const SELECT = objectKey('select_permission', 'default', 'public', 'author', 'user');

const selectOf = (namespace: string, columns: readonly string[] = ['id'], more: object = {}) =>
  permission('user', 'author', 'user', columns, {
    namespace,
    uid: `uid-${namespace}`,
    creationTimestamp: `2025-01-0${namespace === 'team-a' ? 1 : 2}T00:00:00Z`,
    spec: more as Readonly<Record<string, unknown>>,
  });

test('another namespace owns nothing without a grant, and the message has the grant to add', async () => {
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

test('only a resource in the namespace of the Engine reads the names of tables near a misspelt one', async () => {
  const world = new World();
  world.grants = [{ ...TEAM_A, tables: ['*'] }];
  const theirs = permission('user', 'autor', 'user', ['id'], { namespace: 'team-a' });
  const ours = permission('other', 'autor', 'other', ['id'], { namespace: 'api' });
  await world.pass(AUTHOR, theirs, ours);
  expect(world.ports.message(ours)).toContain('the nearest name is "author"');
  expect(world.ports.message(theirs)).toContain('waits for');
  expect(world.ports.message(theirs)).not.toContain('author"');
});

test('a resource without a grant does not block the name for a permitted resource', async () => {
  const world = new World();
  world.grants = [{ ...TEAM_B }];
  const [older, owner] = [selectOf('team-a'), selectOf('team-b')];
  await world.pass(AUTHOR, older, owner);
  expect(world.ports.readiness(older)).toBe('False NotPermitted');
  expect(world.ports.readiness(owner)).toBe('True Applied');
});

test('a resource whose change exceeds its grant keeps its objects', async () => {
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

test('environment variables need a grant in the namespace of the Engine as well', async () => {
  const world = new World();
  const nightly = resource(
    'CronTrigger',
    'nightly',
    { name: 'nightly', schedule: '0 3 * * *', webhook: { value: '{{JOBS_URL}}/nightly' } },
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

test('a paused resource needs a grant like any other', async () => {
  const world = new World();
  world.grants = [];
  const paused = selectOf('team-a', ['id'], { suspend: true });
  await world.pass(AUTHOR, paused);
  expect(world.ports.readiness(paused)).toBe('False NotPermitted');
});

const ENGINE = resource('Engine', 'main', { endpoint: { url: 'http://engine' } }, { namespace: 'api' });
const statusOfEngine = (report: Report, now: Date) =>
  engineStatusOf(ENGINE, report, { now, progressDeadlineSeconds: 300 });

const REVOKED: readonly [string, (world: World) => void, string][] = [
  ['its grant is taken away', (world) => (world.grants = [TEAM_B]), 'NotPermitted'],
  [
    'its grant no longer covers the role',
    (world) => (world.grants = [{ ...TEAM_A, roles: ['other'] }]),
    'NotPermitted',
  ],
  ['the Engine lets in nobody else', (world) => (world.allowed = { from: 'Same' }), 'RefNotPermitted'],
  ['it loses its label', (world) => (world.labelsOf = () => ({ tier: 'none' })), 'RefNotPermitted'],
];

describe.each(REVOKED)('when a namespace is revoked because %s', (why, revoke, reason) => {
  async function revoked(cr = selectOf('team-a')) {
    const world = new World();
    if (why.includes('label')) {
      world.allowed = { from: 'Selector', selector: { matchLabels: { tier: 'product' } } };
      world.labelsOf = () => ({ tier: 'product' });
    }
    await world.pass(AUTHOR, cr);
    expect(world.has(SELECT)).toBe(true);
    revoke(world);
    return world;
  }

  test('its objects are kept for the grace period, with the end in the statuses, and are then deleted', async () => {
    const world = await revoked();
    const mine = selectOf('team-a');
    const report = await world.pass(AUTHOR, mine);
    const until = new Date(world.ports.time.getTime() + 600_000).toISOString();
    expect(world.ports.readiness(mine)).toBe(`False ${reason}`);
    expect(world.ports.message(mine)).toContain(`will be removed from the engine at ${until}`);
    expect(statusOfEngine(report, world.ports.time).namespaces).toEqual([
      { name: 'team-a', state: 'Revoked', objects: 1, until },
    ]);
    expect(nextDeadline(report, world.ports.time)).toBe(Date.parse(until));
    world.wait(9);
    await world.pass(AUTHOR, mine);
    expect(world.has(SELECT)).toBe(true);
    world.wait(1);
    const last = await world.pass(AUTHOR, mine);
    expect(world.has(SELECT)).toBe(false);
    expect(statusOfEngine(last, world.ports.time).namespaces).toBeUndefined();
    expect(nextDeadline(last, world.ports.time)).toBeUndefined();
    expect(world.ports.readiness(AUTHOR)).toBe('True Applied');
  });

  test('the ledger stores the grace period, so that another operator does not restart it', async () => {
    const world = await revoked();
    await world.pass(AUTHOR, selectOf('team-a'));
    const successor = new World();
    Object.assign(successor, { grants: world.grants, allowed: world.allowed, labelsOf: world.labelsOf });
    Object.assign(successor.ports.engine, {
      metadata: world.ports.engine.metadata,
      operatorState: world.ports.engine.operatorState,
    });
    successor.wait(10);
    await successor.pass(AUTHOR, selectOf('team-a'));
    expect(successor.has(SELECT)).toBe(false);
  });

  test.each([
    ['pausing the resource', selectOf('team-a', ['id'], { suspend: true })],
    ['an invalid spec', selectOf('team-a', ['id'], { colour: 'green' })],
    ['the deletion policy Retain', selectOf('team-a', ['id'], { deletionPolicy: 'Retain' })],
  ])('%s does not keep its objects', async (_, cr) => {
    const world = await revoked();
    await world.pass(AUTHOR, cr);
    expect(world.ports.message(cr)).toContain('will be removed from the engine at');
    world.wait(10);
    await world.pass(AUTHOR, cr);
    expect(world.has(SELECT)).toBe(false);
  });

  test('a deleted resource with the policy Retain does not leave its objects behind', async () => {
    const world = await revoked(selectOf('team-a', ['id'], { deletionPolicy: 'Retain' }));
    await world.pass(AUTHOR);
    expect(world.has(SELECT)).toBe(false);
  });

  test('a new grant within the grace period keeps its objects, and the next grace period has its full length', async () => {
    const world = await revoked();
    const before = { grants: [TEAM_A, TEAM_B], allowed: { from: 'All' }, labelsOf: () => ({}) };
    await world.pass(AUTHOR, selectOf('team-a'));
    world.wait(9);
    Object.assign(world, before);
    await world.pass(AUTHOR, selectOf('team-a'));
    revoke(world);
    if (why.includes('label')) world.allowed = { from: 'Same' };
    await world.pass(AUTHOR, selectOf('team-a'));
    world.wait(9);
    await world.pass(AUTHOR, selectOf('team-a'));
    expect(world.has(SELECT)).toBe(true);
    world.wait(1);
    await world.pass(AUTHOR, selectOf('team-a'));
    expect(world.has(SELECT)).toBe(false);
  });
});

test.each([
  ['api', undefined, true],
  ['team-a', undefined, false],
  ['team-a', 'Retain', true],
] as const)(
  'Retain of a resource in namespace %s, with the deletion policy %s of the Engine, keeps its objects: %s',
  async (namespace, deletion, isLeft) => {
    const world = new World();
    world.options = { ...OPTIONS, policies: { ...OPTIONS.policies, deletion } };
    await world.pass(AUTHOR, selectOf(namespace, ['id'], { deletionPolicy: 'Retain' }));
    await world.pass(AUTHOR);
    expect(world.has(SELECT)).toBe(isLeft);
  },
);

test('nothing is revoked while the labels of namespaces are unknown', async () => {
  const world = new World();
  world.allowed = { from: 'Selector', selector: { matchLabels: { tier: 'product' } } };
  world.labelsOf = () => ({ tier: 'product' });
  await world.pass(AUTHOR, selectOf('team-a'));
  world.labelsOf = undefined;
  await world.pass(AUTHOR, selectOf('team-a'));
  world.wait(60);
  await world.pass(AUTHOR, selectOf('team-a'));
  expect(world.has(SELECT)).toBe(true);
});

test('the namespace of the Engine keeps its objects when a variable is no longer granted', async () => {
  const world = new World();
  const spec = { name: 'nightly', schedule: '0 3 * * *', webhook: { value: '{{JOBS_URL}}' } };
  const nightly = resource('CronTrigger', 'nightly', spec, { namespace: 'api' });
  world.grants = [{ name: 'own', variables: ['*'] }];
  await world.pass(nightly);
  world.grants = [];
  await world.pass(nightly);
  world.wait(60);
  await world.pass(nightly);
  expect(world.ports.readiness(nightly)).toBe('False NotPermitted');
  expect(world.has(objectKey('cron_trigger', 'nightly'))).toBe(true);
});

const tablesOf = (namespace: string, count: number) =>
  Array.from({ length: count }, (_, i) =>
    table(`${namespace.replace('-', '_')}_${i}`, { namespace, uid: `uid-${namespace}-${i}` }),
  );

test('a held mass deletion of one namespace does not hold the deletions or the revocation of another', async () => {
  const world = new World();
  const [a, b] = [tablesOf('team-a', 30), tablesOf('team-b', 30)];
  await world.pass(...a, ...b);
  world.grants = [TEAM_A];
  await world.pass(...a, ...b);
  world.wait(10);
  const report = await world.pass(...b);
  expect(report.plan?.pruneHold?.namespaces).toMatchObject([{ namespace: 'team-a', count: 30, owned: 30 }]);
  expect(world.ports.engine.objects.has(objectKey('table', 'default', 'public', 'team_b_0'))).toBe(false);
  expect(world.ports.engine.objects.has(objectKey('table', 'default', 'public', 'team_a_0'))).toBe(true);
  const status = statusOfEngine(report, world.ports.time);
  const { hash } = report.plan!.pruneHold!;
  expect(status.namespaces).toEqual([{ name: 'team-a', state: 'PruneHeld', objects: 30, pruneHash: hash }]);
  expect(status.conditions[0]?.message).toBe(
    '30 of 30 objects of team-a would be deleted at once; ' +
      `confirm with pergola.dev/confirm-prune: ${hash} if that is meant; ` +
      'not ready: Table team-b/team_b_0, Table team-b/team_b_1, Table team-b/team_b_10 and 27 more.',
  );
});

test('held deletions can be confirmed for each namespace or for all', async () => {
  const world = new World();
  await world.pass(...tablesOf('team-a', 30), ...tablesOf('team-b', 30));
  const held = (await world.pass()).plan!.pruneHold!;
  expect(held).toMatchObject({ count: 60, owned: 60 });
  const [first, second] = held.namespaces;
  world.options = { ...OPTIONS, confirmPrune: first!.hash };
  const rest = (await world.pass()).plan!.pruneHold!;
  expect(rest.namespaces).toEqual([second]);
  world.options = { ...OPTIONS, confirmPrune: `${first!.hash}, ${rest.hash}` };
  expect((await world.pass()).plan!.pruneHold).toBeUndefined();
  expect(world.ports.engine.objects.size).toBe(1);
});

test('a resource whose deletions are held reports this in its status', async () => {
  const world = new World();
  const roles = (count: number) =>
    table('author', {
      namespace: 'team-a',
      spec: {
        permissions: Array.from({ length: count }, (_, i) => ({
          role: `r${i}`,
          select: { columns: ['id'], filter: {} },
        })),
      },
    });
  await world.pass(roles(30));
  await world.pass(roles(1));
  expect(world.ports.readiness(roles(1))).toBe('False PruneHeld');
  expect(world.ports.message(roles(1))).toContain('and 26 more');
});

function reservations({ ports }: World): readonly string[] {
  return Object.keys((ports.engine.operatorState as { reservations?: object }).reservations ?? {});
}

describe('a released name', () => {
  const [mine, theirs] = [selectOf('team-a'), selectOf('team-b', ['id', 'name'])];
  const owner = (world: World) => world.ports.engine.ledger.objects[SELECT]?.cr;

  async function waiting(): Promise<World> {
    const world = new World();
    await world.pass(AUTHOR, mine);
    await world.pass(AUTHOR, mine, theirs);
    expect(world.ports.readiness(theirs)).toBe('False Conflict');
    return world;
  }

  test('is not given to a waiting resource, and its owner can take it back', async () => {
    const world = await waiting();
    const report = await world.pass(AUTHOR, theirs);
    expect(world.has(SELECT)).toBe(false);
    const until = new Date(world.ports.time.getTime() + 600_000).toISOString();
    expect(world.ports.message(theirs)).toBe(
      `Select permission default/public/author/user is reserved for namespace team-a, which had it last, until ${until}; ` +
        'an administrator can release it with pergola.dev/release-reserved: team-a on the Engine.',
    );
    expect(nextDeadline(report, world.ports.time)).toBe(Date.parse(until));
    world.wait(9);
    await world.pass(AUTHOR, theirs);
    expect(world.has(SELECT)).toBe(false);
    await world.pass(AUTHOR, theirs, mine);
    expect(owner(world)).toBe('TablePermission team-a/user');
    expect(reservations(world)).toEqual([]);
  });

  test('becomes free when the reservation ends', async () => {
    const world = await waiting();
    await world.pass(AUTHOR, theirs);
    world.wait(10);
    await world.pass(AUTHOR, theirs);
    expect(owner(world)).toBe('TablePermission team-b/user');
    expect(reservations(world)).toEqual([]);
  });

  test('is available at once to another resource of the same namespace, even if an older resource elsewhere claims it', async () => {
    const world = await waiting();
    await world.pass(AUTHOR, theirs);
    const other = permission('again', 'author', 'user', ['id'], {
      namespace: 'team-a',
      creationTimestamp: '2025-05-01T00:00:00Z',
    });
    await world.pass(AUTHOR, theirs, other);
    expect(owner(world)).toBe('TablePermission team-a/again');
  });

  test('is available at once to the namespace of the Engine', async () => {
    const world = await waiting();
    await world.pass(AUTHOR, theirs);
    await world.pass(AUTHOR, theirs, selectOf('api'));
    expect(owner(world)).toBe('TablePermission api/user');
  });

  test('is also reserved for the namespace of the Engine', async () => {
    const world = new World();
    await world.pass(AUTHOR, selectOf('api'));
    await world.pass(AUTHOR, theirs);
    expect(world.has(SELECT)).toBe(false);
  });

  test.each<[string, (world: World) => void]>([
    ['its namespace is deleted', (w) => (w.labelsOf = (name) => (name === 'team-a' ? undefined : {}))],
    ['its namespace has no grant any more', (w) => (w.grants = [TEAM_B])],
    [
      'an administrator releases it',
      (w) => (w.annotations = { 'pergola.dev/release-reserved': 'x, team-a' }),
    ],
    ['an administrator releases all', (w) => (w.annotations = { 'pergola.dev/release-reserved': '*' })],
    [
      'the Engine reserves nothing',
      (w) => (w.options = { ...OPTIONS, policies: { ...OPTIONS.policies, reservationMinutes: 0 } }),
    ],
  ])('becomes free at once when %s', async (_, release) => {
    const world = await waiting();
    await world.pass(AUTHOR, theirs);
    expect(world.has(SELECT)).toBe(false);
    release(world);
    await world.pass(AUTHOR, theirs);
    expect(owner(world)).toBe('TablePermission team-b/user');
  });

  test('stays reserved while its previous owner waits for its table', async () => {
    const world = await waiting();
    await world.pass(mine);
    expect(world.has(SELECT)).toBe(false);
    world.wait(60);
    await world.pass(mine, {
      ...theirs,
      metadata: { ...theirs.metadata, creationTimestamp: '2020-01-01T00:00:00Z' },
    });
    await world.pass(AUTHOR, mine, theirs);
    expect(owner(world)).toBe('TablePermission team-a/user');
  });

  test('stays reserved for another operator, because the ledger stores the reservation', async () => {
    const world = await waiting();
    await world.pass(AUTHOR, theirs);
    const successor = new World();
    Object.assign(successor.ports.engine, {
      metadata: world.ports.engine.metadata,
      operatorState: world.ports.engine.operatorState,
    });
    await successor.pass(AUTHOR, theirs);
    expect(successor.has(SELECT)).toBe(false);
  });

  test('a namespace that repeatedly creates and deletes has a limited number of reservations', async () => {
    const world = new World();
    world.options = {
      ...OPTIONS,
      policies: { ...OPTIONS.policies, pruneGuard: { maxObjects: 5000, maxPercent: 100 } },
    };
    const generation = (n: number) =>
      table('author', {
        namespace: 'team-a',
        spec: {
          permissions: Array.from({ length: 500 }, (_, i) => ({
            role: `r${n}_${i}`,
            select: { columns: ['id'], filter: {} },
          })),
        },
      });
    for (const n of [1, 2, 3, 4]) {
      await world.pass(generation(n));
      world.wait(1);
    }
    expect(reservations(world)).toHaveLength(1000);
    expect(reservations(world).some((key) => key.includes('/r1_'))).toBe(false);
    expect(reservations(world).some((key) => key.includes('/r3_'))).toBe(true);
  });
});

test('a pass without changes writes nothing, even while reservations exist', async () => {
  const world = new World();
  await world.pass(AUTHOR, selectOf('team-a'));
  await world.pass(AUTHOR);
  const { length } = world.ports.engine.writes;
  await world.pass(AUTHOR);
  expect(world.ports.engine.writes).toHaveLength(length);
  world.wait(10);
  await world.pass(AUTHOR);
  expect(world.ports.engine.writes).toHaveLength(length);
  expect(reservations(world)).toHaveLength(1);
  await world.pass(AUTHOR, selectOf('team-b'));
  expect(reservations(world)).toEqual([]);
});
