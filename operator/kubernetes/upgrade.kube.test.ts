/** Tests an upgrade from the definitions of the previous release, with a real API server and the real engine: resources of the old form are
 *  stored, the definitions are replaced, and what was served stays served until the converted resources are applied. Each test continues from
 *  the state that the previous one left.
 *  Not here: the conversion (../conversion), the upgrade of a release (deploy/e2e/upgrade.e2e.ts). */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import { convertDocument } from '../conversion/convert.ts';
import { GROUP_VERSION } from '../kinds.ts';
import type { Operator } from './operator.ts';
import { previousDefinitions, ROOT } from './testing/previous-definitions.ts';
import { createRig, HOME, type Rig, readyOf } from './testing/rig.ts';

const SCHEMA = `
  create schema library;
  create table library.author (id serial primary key, name text);
  insert into library.author (name) values ('Ann'), ('Ben'), ('Cas')`;

const OLD: readonly KubeObject[] = [
  old('Table', 'author', {
    source: 'default',
    table: { schema: 'library', name: 'author' },
    permissions: [{ role: 'reader', select: { columns: ['id'], filter: {}, limit: 2 } }],
  }),
  old('TablePermission', 'auditor', {
    source: 'default',
    table: { schema: 'library', name: 'author' },
    role: 'auditor',
    select: { columns: ['name'], filter: {}, limit: 1 },
  }),
  old('CronTrigger', 'nightly', {
    name: 'nightly',
    schedule: '0 3 * * *',
    webhook: 'http://jobs.example.org/nightly',
    retry: { numRetries: 2, toleranceSeconds: 60 },
  }),
  old('InheritedRole', 'both', { role: 'both', roleSet: ['reader', 'auditor'] }),
];

function old(kind: string, name: string, spec: object): KubeObject {
  return {
    apiVersion: GROUP_VERSION,
    kind,
    metadata: { name, namespace: HOME },
    spec: { engineRef: { name: 'main' }, ...spec },
  };
}

await describeKube('an upgrade from the previous definitions', (kube) => {
  let rig: Rig;
  let operator: Operator;
  const converted = OLD.map((resource) => convertDocument(resource).document as KubeObject);
  beforeAll(async () => {
    rig = await createRig(kube(), SCHEMA);
    operator = await rig.startOperator();
    await rig.kube.apply(...converted);
    for (const { kind, metadata } of OLD) await rig.ready(kind, metadata.name, 'Applied');
  }, 180_000);
  afterAll(() => rig?.close(), 30_000);

  const rowsOf = async (role: string, field: string) =>
    (
      (await rig.engine().graphql(`{ library_author { ${field} } }`, { role })).data as {
        library_author: unknown[];
      }
    )?.library_author?.length;
  const served = async () => [await rowsOf('reader', 'id'), await rowsOf('auditor', 'name')];
  const exported = async () => (await rig.engine().admin('export_metadata', {})).body;

  test('stored resources of the old form change nothing that is served', async () => {
    const before = await exported();
    expect(await served()).toEqual([2, 1]);
    await operator.stop();
    await rig.kube.apply(...previousDefinitions());
    await rig.kube.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
    for (const resource of OLD) await replace(resource);
    await rig.kube.kubectl([
      'apply',
      '--server-side',
      '--force-conflicts',
      '-f',
      join(ROOT, 'crds/generated'),
    ]);
    await rig.kube.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
    operator = await rig.startOperator();
    const { message } = await rig.ready('InheritedRole', 'both', 'InvalidSpec');
    expect(message).toBe('spec.roles is required.');
    // The API server refuses status writes for a table that is an object in the store and a text in the definition.
    expect(readyOf((await rig.get('Table', 'author')).status)).toBeUndefined();
    expect(await exported()).toEqual(before);
    expect(await served()).toEqual([2, 1]);
  }, 180_000);

  test('the converted resources are applied, and nothing was lost', async () => {
    const before = await exported();
    // Server-side apply cannot read the stored form.
    await expect(rig.kube.apply(converted[0]!)).rejects.toThrow('failed to create typed live object');
    await rig.kube.kubectl(
      ['replace', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: converted }),
    );
    for (const { kind, metadata } of OLD) await rig.ready(kind, metadata.name, 'Applied');
    expect(await exported()).toEqual(before);
    expect(await served()).toEqual([2, 1]);
    expect(
      (await rig.engine().graphql('{ library_author { name } }', { role: 'reader' })).errors,
    ).toBeDefined();
  }, 180_000);

  /** Deletes a resource and creates it again, because the previous rules of change cannot read the new form. Waits until the API server uses
   *  the previous definition. */
  async function replace(resource: KubeObject): Promise<void> {
    const text = JSON.stringify(resource);
    for (let tries = 1; ; tries++) {
      try {
        await rig.kube.kubectl(['delete', '--ignore-not-found', '-f', '-'], text);
        await rig.kube.kubectl(['create', '--validate=strict', '-f', '-'], text);
        return;
      } catch (error) {
        if (tries === 40) throw error;
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    }
  }
});
