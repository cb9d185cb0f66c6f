/** Tests Migration from the API server to the database: a new version of a ConfigMap runs, resources of the source wait for it, and a failure
 *  is repaired; the same for an artifact in a registry. Uses a real API server, the real engine, and the rights of the chart. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import { dockerConfigOf, fluxLayer, startRegistry, type TestRegistry } from '../../testing/registry.ts';
import { GROUP_VERSION } from '../kinds.ts';
import { createRig, HOME, type Rig } from './testing/rig.ts';

await describeKube('migrations', (kube) => {
  let rig: Rig;
  let registry: TestRegistry;

  beforeAll(async () => {
    rig = await createRig(kube(), 'select 1');
    registry = await startRegistry({ authentication: 'bearer' });
    await rig.startOperator(['--registries', registry.host]);
  }, 180_000);
  afterAll(async () => {
    await rig?.close();
    await registry?.close();
  }, 90_000);

  const object = (kind: string, name: string, spec: object): KubeObject => ({
    apiVersion: GROUP_VERSION,
    kind,
    metadata: { name, namespace: HOME },
    spec: { engineRef: { name: 'main' }, ...spec },
  });
  const configMap = (data: Readonly<Record<string, string>>): KubeObject =>
    ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'sql', namespace: HOME },
      data,
    }) as KubeObject;
  const ref = (key: string) => ({ configMapKeyRef: { name: 'sql', key } });
  const CREATE = { name: '1_shelf.sql', sql: 'create table shelf (id int primary key)' };
  const LATER = { name: '2_room.sql', ...ref('room') };
  const shelf = (role: string, columns: readonly string[]) =>
    object('TablePermission', `shelf-${role}`, { table: 'shelf', role, select: { columns, filter: {} } });

  test('a Table is Ready once its Migration has created the table', async () => {
    await rig.kube.apply(object('Table', 'shelf', { table: 'shelf' }));
    await rig.ready('Table', 'shelf', 'DependencyNotReady');
    await rig.kube.apply(object('Migration', 'schema', { files: [CREATE] }));
    expect((await rig.ready('Migration', 'schema', 'Applied')).message).toBe('The newest version is 1.');
    await rig.ready('Table', 'shelf', 'Applied');
  });

  test('a file of a ConfigMap that fails holds the resources back, and its correction runs', async () => {
    await rig.kube.apply(configMap({ room: 'alter table shelf add room text; select nope' }));
    await rig.kube.apply(
      object('Migration', 'schema', { files: [CREATE, LATER], allowConfigMapChanges: true }),
    );
    const { message } = await rig.ready('Migration', 'schema', 'MigrationFailed');
    expect(message).toBe('2_room.sql:1: statement 2 of 2 failed: column "nope" does not exist (42703).');
    await rig.kube.apply(shelf('user', ['id', 'room']));
    expect((await rig.ready('TablePermission', 'shelf-user', 'DependencyNotReady')).message).toContain(
      'Waits for Migration',
    );
    await rig.kube.apply(configMap({ room: 'alter table shelf add room text' }));
    await rig.ready('Migration', 'schema', 'Applied');
    await rig.ready('TablePermission', 'shelf-user', 'Applied');
    expect((await rig.engine().graphql('{ shelf { id room } }', { role: 'user' })).data).toEqual({
      shelf: [],
    });
  });

  test('a key that is added to a ConfigMap runs', async () => {
    const all = { '1_shelf.sql': CREATE.sql, '2_room.sql': 'alter table shelf add room text' };
    await rig.kube.apply(configMap(all));
    await rig.kube.apply(
      object('Migration', 'schema', { configMapRef: { name: 'sql' }, allowConfigMapChanges: true }),
    );
    await rig.ready('Migration', 'schema', 'Applied');
    await rig.kube.apply(configMap({ ...all, '3_floor.sql': 'alter table shelf add floor int' }));
    await vi.waitFor(
      async () => {
        const { message } = await rig.ready('Migration', 'schema', 'Applied');
        expect(message).toBe('The newest version is 3.');
      },
      { timeout: 20_000, interval: 100 },
    );
  });

  describe('an artifact', () => {
    const LIBRARY = 'acme/library';
    const artifact = (spec: object = {}) =>
      object('Migration', 'schema', {
        ociArtifact: {
          repository: `${registry.host}/${LIBRARY}`,
          plainHttp: true,
          secretRef: { name: 'pull' },
          tag: 'v1',
          ...spec,
        },
      });
    const pull = (config: string): KubeObject =>
      ({
        ...{ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/dockerconfigjson' },
        metadata: { name: 'pull', namespace: HOME },
        data: { '.dockerconfigjson': Buffer.from(config).toString('base64') },
      }) as KubeObject;
    const annotate = (value: string) =>
      rig.kube.kubectl([
        ...['annotate', '--overwrite', '-n', HOME, 'migrations.pergola.dev/schema'],
        `pergola.dev/reconcile-now=${value}`,
      ]);
    const FILES = { '10_rack.sql': 'create table rack (id int primary key)' };
    const rack = object('Table', 'rack', { table: 'rack' });

    test('a Secret that is missing, and one with wrong credentials, are named; the API stays as it was', async () => {
      const digest = registry.push(LIBRARY, 'v1', [await fluxLayer(FILES)]);
      await rig.kube.apply(rack);
      await rig.kube.apply(artifact());
      const missing = await rig.ready('Migration', 'schema', 'SecretNotFound');
      expect(missing.message).toContain(`there is no Secret ${HOME}/pull, or the operator may not read it`);
      await rig.kube.apply(pull(dockerConfigOf(registry.host, 'reader', 'wrong-word')));
      const denied = await rig.ready('Migration', 'schema', 'ArtifactUnavailable');
      expect(denied.message).toContain('refuses a token: the credentials of the Secret are wrong');
      expect(denied.message).not.toContain('wrong-word');
      const waiting = await rig.ready('Table', 'rack', 'DependencyNotReady');
      expect(waiting.message).toContain('aits for Migration');
      const answer = await rig.engine().graphql('{ shelf { id } }', { role: 'user' });
      expect(answer.data).toEqual({ shelf: [] });
      await rig.kube.apply(pull(dockerConfigOf(registry.host)));
      const applied = await rig.ready('Migration', 'schema', 'Applied');
      expect(applied.message).toBe('The newest version is 10.');
      await rig.ready('Table', 'rack', 'Applied');
      expect((await rig.get('Migration', 'schema')).status!.observedArtifact).toEqual({
        repository: `${registry.host}/${LIBRARY}`,
        digest,
      });
    }, 180_000);

    test('a tag that has moved is noticed at reconcile-now, and its digest is in the status', async () => {
      const digest = registry.push(LIBRARY, 'v1', [
        await fluxLayer({ ...FILES, '11_rack.sql': 'alter table rack add place text' }),
      ]);
      const blobs = () => registry.requests.filter(({ path }) => path.includes('/blobs/')).length;
      const before = blobs();
      await annotate('1');
      await vi.waitFor(
        async () => {
          const { status } = await rig.get('Migration', 'schema');
          expect(status!.observedArtifact!.digest).toBe(digest);
          expect((await rig.ready('Migration', 'schema', 'Applied')).message).toBe(
            'The newest version is 11.',
          );
        },
        { timeout: 20_000, interval: 100 },
      );
      expect(blobs()).toBe(before + 1);
      await annotate('2');
      await vi.waitFor(() => expect(registry.requests.at(-1)!.method).toBe('HEAD'), { timeout: 20_000 });
      expect(blobs()).toBe(before + 1);
    }, 180_000);

    test('without its registry an applied Migration stays applied, also for an operator that starts again', async () => {
      registry.intercept = (_, response) => {
        response.writeHead(503).end();
        return true;
      };
      await rig.stopOperators();
      await rig.startOperator(['--registries', registry.host]);
      await rig.kube.apply(
        object('Table', 'rack', { table: 'rack', configuration: { customName: 'racks' } }),
      );
      await rig.ready('Table', 'rack', 'Applied');
      await vi.waitFor(
        async () => {
          const { message } = await rig.ready('Migration', 'schema', 'Applied');
          expect(message).toMatch(
            /^The newest version is 11; the artifact was not read again: .* answers 503/,
          );
        },
        { timeout: 20_000, interval: 100 },
      );
      await rig.kube.apply(artifact({ tag: 'v2' }));
      const { message } = await rig.ready('Migration', 'schema', 'ArtifactUnavailable');
      expect(message).toContain(`${registry.host}/${LIBRARY}:v2: ${registry.host} answers 503`);
      await rig.kube.apply(
        object('Table', 'rack', { table: 'rack', configuration: { customName: 'others' } }),
      );
      await rig.ready('Table', 'rack', 'DependencyNotReady');
      const answer = await rig.engine().graphql('{ racks { id } }');
      expect(answer.data).toEqual({ racks: [] });
    }, 180_000);

    test('a host that the operator does not list, and one that no grant covers, are not requested', async () => {
      registry.intercept = () => false;
      const elsewhere = await startRegistry();
      try {
        await rig.kube.apply(artifact({ repository: `${elsewhere.host}/acme/x` }));
        const refused = await rig.ready('Migration', 'schema', 'ArtifactUnavailable');
        expect(refused.message).toContain('its option --registries lists the hosts');
        expect(elsewhere.requests).toEqual([]);
      } finally {
        await elsewhere.close();
      }
      const count = registry.requests.length;
      const namespace = {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'team', labels: { graphql: 'yes' } },
      };
      await rig.kube.apply(namespace);
      const { spec } = artifact() as unknown as { spec: object };
      await rig.kube.apply({
        ...{ apiVersion: GROUP_VERSION, kind: 'Migration', metadata: { name: 'theirs', namespace: 'team' } },
        spec: { ...spec, engineRef: { name: 'main', namespace: HOME } },
      } as KubeObject);
      const { message } = await rig.ready('Migration', 'theirs', 'NotPermitted', 'team');
      expect(message).toContain(`registries: ["${registry.host}"]`);
      expect(registry.requests).toHaveLength(count);
    }, 180_000);

    test('the API server refuses an artifact without a tag, with two versions, and a repository without a host', async () => {
      const digest = `sha256:${'a'.repeat(64)}`;
      const both = 'exactly one of tag and digest';
      await expect(rig.kube.apply(artifact({ tag: undefined }))).rejects.toThrow(both);
      await expect(rig.kube.apply(artifact({ digest }))).rejects.toThrow(both);
      for (const repository of [
        'library',
        'https://ghcr.io/a',
        'GHCR.io/a',
        'ghcr.io/a/../b',
        'ghcr.io/a:v1',
        'u@ghcr.io/a',
      ]) {
        await expect(rig.kube.apply(artifact({ repository })), repository).rejects.toThrow('repository');
      }
      const two = object('Migration', 'wrong', {
        files: [CREATE],
        ociArtifact: { repository: 'ghcr.io/a', tag: 'v1' },
      });
      await expect(rig.kube.apply(two)).rejects.toThrow('exactly one of files, configMapRef and ociArtifact');
    });
  });

  test('the API server refuses a file without a version, and one without statements', async () => {
    const refused = (file: object) =>
      rig.kube.apply(object('Migration', 'wrong', { source: 'a', files: [file] }));
    await expect(refused({ name: 'first.sql', sql: 'select 1' })).rejects.toThrow('name');
    await expect(refused({ name: '1_a.sql' })).rejects.toThrow('exactly one of sql and configMapKeyRef');
  });
});
