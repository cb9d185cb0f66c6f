/** Tests grants that versions before did not need: for a new resource they are needed at once, and what is installed keeps working until
 *  the Engine uses the field. Uses the scripted engine. Not here: which grant an object needs (grants/). */
import { describe, expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import { engineStatusOf } from '../status/engine-status.ts';
import { transitionsOf } from '../status/transitions.ts';
import { resource } from '../testing/resources.ts';
import { TEAM_A, World } from '../testing/tenant-world.ts';

type Spec = Readonly<Record<string, unknown>>;

const source = (name: string, connection: object) => ({ kind: 'Source', spec: { name, connection } as Spec });
const login = (name: string, handler: object, more: object = {}) => ({
  kind: 'Action',
  spec: { sdl: `type Query { ${name}: String }`, handler, forwardClientHeaders: true, ...more } as Spec,
});

/** Resources of a tenant that need a grant which versions before did not ask for: what they need, and one that needs more. */
const NEW_NEEDS: readonly (readonly [
  name: string,
  of: ReturnType<typeof source>,
  grant: string,
  field: string,
  wider: ReturnType<typeof source>,
])[] = [
  [
    'the host of a database',
    source('own', { url: { value: 'postgres://db.team-a.svc/a' } }),
    'databaseHosts: [db.team-a.svc]',
    'databaseHosts',
    source('own', { url: { value: 'postgres://db.elsewhere.example/a' } }),
  ],
  [
    'the host in the parts of a connection',
    source('own', { parameters: { host: 'db.team-a.svc', port: 5432, database: 'a', username: 'a' } }),
    'databaseHosts: [db.team-a.svc]',
    'databaseHosts',
    source('own', { parameters: { host: 'db.team-b.svc', port: 5432, database: 'a', username: 'a' } }),
  ],
  [
    'a file with a connection URL',
    source('own', { url: { file: '/secrets/team-a/url' } }),
    'variables: ["file:/secrets/team-a/url"]',
    'databaseHosts',
    source('own', { url: { file: '/secrets/team-b/url' } }),
  ],
  [
    'a file with a certificate',
    source('own', { url: { env: 'A_URL' }, tls: { mode: 'VerifyCa', rootCertificate: { file: '/a/ca' } } }),
    'variables: ["file:/a/ca"]',
    'databaseHosts',
    source('own', { url: { env: 'A_URL' }, tls: { mode: 'VerifyCa', rootCertificate: { file: '/b/ca' } } }),
  ],
  [
    'a file that a parameter of the URL names',
    source('own', { url: { value: 'postgres://db.team-a.svc/a?sslkey=/a/key&sslcert=/a/cert' } }),
    '"file:/a/cert"',
    'databaseHosts',
    source('own', { url: { value: 'postgres://db.team-a.svc/a?sslkey=/b/key&sslcert=/a/cert' } }),
  ],
  [
    'the headers of clients',
    login('login', { value: 'https://auth.team-a.svc/login' }),
    'clientHeaders: [auth.team-a.svc]',
    'clientHeaders',
    login('login', { value: 'https://elsewhere.example/login' }),
  ],
  [
    'the headers of clients, for a URL in a variable',
    login('login', { env: 'A_URL' }),
    'clientHeaders: [A_URL]',
    'clientHeaders',
    login('login', { env: 'B_URL' }),
  ],
];

const KINDS = ['Source', 'Action'];
const OLD = { ...TEAM_A, kinds: KINDS, variables: ['A_*', 'B_*'], webhookHosts: ['*'] };
const FULL = { ...OLD, variables: ['*'], databaseHosts: ['*'], clientHeaders: ['*'] };
const crOf = ({ kind, spec }: ReturnType<typeof source>, namespace = 'team-a'): CustomResource =>
  resource(kind, 'mine', spec, { namespace, uid: 'uid-mine' });
/** Returns the spec of another object, with the same needs. */
const renamed = (spec: Spec): Spec =>
  'sdl' in spec ? { ...spec, sdl: 'type Query { other: String }' } : { ...spec, name: 'other' };

/** The keys of the engine's objects, without the source that it begins with. */
const objects = (world: World) =>
  [...world.ports.engine.objects.keys()].filter((key) => key !== 'source/default').toSorted();

/** Returns a world in which the resource has its objects, and whose grants are those that versions before needed. */
async function upgraded(cr: CustomResource): Promise<World> {
  const world = new World();
  world.grants = [FULL];
  await world.pass(cr);
  expect(world.ports.readiness(cr)).toBe('True Applied');
  world.grants = [OLD];
  return world;
}

describe.each(NEW_NEEDS)('%s', (_, of, grant, field, wider) => {
  test('needs a grant in a new resource, and the message has it', async () => {
    const world = new World();
    world.grants = [OLD];
    const cr = crOf(of);
    await world.pass(cr);
    expect(world.ports.readiness(cr)).toBe('False NotPermitted');
    expect(world.ports.message(cr)).toContain(grant);
    expect(objects(world)).toEqual([]);
  });

  test('keeps what was installed before, and says which grant it needs', async () => {
    const cr = crOf(of);
    const world = await upgraded(cr);
    const had = objects(world);
    const report = await world.pass(cr);
    world.wait(100_000);
    await world.pass(cr);
    expect(objects(world)).toEqual(had);
    expect(world.ports.readiness(cr)).toBe('True Applied');
    const status = world.ports.status(cr)!;
    const condition = status.conditions.find(({ type }) => type === 'GrantMissing');
    expect(condition).toMatchObject({ status: 'True', message: expect.stringContaining(grant) });
    expect(transitionsOf({ ...status, conditions: [] }, status, { kind: cr.kind })).toContainEqual(
      expect.objectContaining({ type: 'Warning', reason: 'GrantMissing' }),
    );
    const engine = resource('Engine', 'main', { endpoint: { url: 'http://engine' } }, { namespace: 'api' });
    const { conditions } = engineStatusOf(engine, report, { now: new Date(), progressDeadlineSeconds: 300 });
    expect(conditions[0]!.message).toContain(`need: ${cr.kind} team-a/mine`);
  });

  test('is no reason to let the resource reach more', async () => {
    const world = await upgraded(crOf(of));
    const had = [...world.ports.engine.objects.values()];
    await world.pass(crOf(wider));
    expect(world.ports.readiness(crOf(wider))).toBe('False NotPermitted');
    expect([...world.ports.engine.objects.values()]).toEqual(had);
  });

  test('lets another resource have nothing', async () => {
    const world = await upgraded(crOf(of));
    const other = resource(of.kind, 'other', renamed(of.spec), { namespace: 'team-a', uid: 'uid-other' });
    await world.pass(crOf(of), other);
    expect(world.ports.readiness(other)).toBe('False NotPermitted');
  });

  test('is needed by what was installed, too, once a grant of the Engine has the field', async () => {
    const cr = crOf(of);
    const world = await upgraded(cr);
    world.grants = [OLD, { name: 'b', namespaces: ['team-b'], [field]: [] }];
    await world.pass(cr);
    expect(world.ports.readiness(cr)).toBe('False NotPermitted');
    world.wait(11);
    await world.pass(cr);
    expect(objects(world)).toEqual([]);
  });

  test('is granted by what the message says', async () => {
    const cr = crOf(of);
    const world = await upgraded(cr);
    world.grants = [FULL];
    await world.pass(cr);
    expect(world.ports.status(cr)!.conditions.map(({ type }) => type)).toEqual(['Ready']);
  });
});

test('in the namespace of the Engine hosts need no grant, and files do', async () => {
  const world = new World();
  world.grants = [];
  const [hosts, file] = [NEW_NEEDS[0]![1], NEW_NEEDS[2]![1]].map((of) => crOf(of, 'api'));
  await world.pass(hosts!);
  expect(world.ports.readiness(hosts!)).toBe('True Applied');
  const other = {
    ...file!,
    spec: { ...file!.spec, name: 'other' },
    metadata: { ...file!.metadata, uid: 'u', name: 'file' },
  };
  await world.pass(hosts!, other);
  expect(world.ports.readiness(other)).toBe('False NotPermitted');
  expect(world.ports.message(other)).toContain('{name: api, variables: ["file:/secrets/team-a/url"]}');
});
