/** Tests which manifests are stored: changes only, those of one manager, without secrets and foreign annotations, and bounded. */
import { expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import { permission, resource, table } from '../testing/resources.ts';
import {
  type ManifestRecord,
  manifestChanges,
  manifestParts,
  prepareManifests,
  readManifests,
} from './manifests.ts';
import { patchedRecords } from './stored-records.ts';

const about = { manager: 'm', exists: () => true };
const NONE: ReadonlyMap<string, ManifestRecord> = new Map();

function manifestOf(cr: CustomResource): unknown {
  const [record] = Object.values(manifestChanges([cr], NONE, about));
  return record!.manifest && JSON.parse(record!.manifest);
}

test('a manifest is stored once, again when it changed, and removed with its resource', () => {
  const [book, author] = [table('book'), table('author')];
  const first = manifestChanges([book, author], NONE, about);
  expect(Object.keys(first)).toEqual(['Table default/book', 'Table default/author']);
  const stored = readManifests({ manifests: { ...first, broken: 7 } });
  expect(stored.size).toBe(2);
  expect(manifestChanges([book, author], stored, about)).toEqual({});
  const edited = { ...book, spec: { ...book.spec, comment: 'new' } };
  const second = manifestChanges([edited], stored, about);
  expect(Object.keys(second)).toEqual(['Table default/book']);
  const exists = (name: string) => name !== 'Table default/author';
  const third = manifestChanges([edited], patchedRecords(stored, second), { ...about, exists });
  expect(third).toEqual({ 'Table default/author': null });
});

test('it has what the author wrote, without secrets and without what Kubernetes and other tools add', () => {
  const webhook = { value: 'https://user:hush@host' };
  const cr = resource('CronTrigger', 'nightly', { name: 'nightly', webhook, schedule: '0 3 * * *' });
  const annotations = {
    'pergola.dev/pause-until': '2026-12-01',
    'kubectl.kubernetes.io/last-applied-configuration': '{"hush": 1}',
  };
  expect(manifestOf({ ...cr, metadata: { ...cr.metadata, annotations } })).toEqual({
    apiVersion: 'pergola.dev/v1alpha1',
    kind: 'CronTrigger',
    metadata: {
      name: 'nightly',
      namespace: 'default',
      annotations: { 'pergola.dev/pause-until': '2026-12-01' },
    },
    spec: {
      engineRef: { name: 'main' },
      name: 'nightly',
      webhook: { value: '(hidden)' },
      schedule: '0 3 * * *',
    },
  });
});

test('what is too long, nests itself or is of no kind is stored without content, once', () => {
  const nested: unknown[] = [];
  nested.push(nested);
  const query = `query ${'x'.repeat(20_000)} { a }`;
  const long = resource('QueryCollection', 'q', { name: 'q', queries: [{ name: 'x', query }] });
  const endless = resource('QueryCollection', 'e', { name: 'q', queries: nested });
  const foreign = resource('Unknown', 'u', {});
  expect([long, endless, foreign].map(manifestOf)).toEqual(['', '', '']);
  const stored = readManifests({ manifests: manifestChanges([long], NONE, about) });
  expect(manifestChanges([long], stored, about)).toEqual({});
});

test('texts are computed in slices, once for each spec', async () => {
  const many = Array.from({ length: 250 }, (_, i) => table(`t${i}`));
  let pauses = 0;
  const prepare = () => prepareManifests(many, async () => void pauses++);
  await prepare();
  await prepare();
  expect(pauses).toBe(2);
});

test('two managers with a resource of one name do not replace each other, and keep what the other deleted', () => {
  const stored = readManifests({ manifests: manifestChanges([table('book')], NONE, about) });
  const other = { manager: 'n', exists: () => false };
  expect(manifestChanges([{ ...table('book'), spec: {} }], stored, other)).toEqual({});
});

test('all manifests have at most 16 million characters; what is left over is stored without content', () => {
  const comment = 'x'.repeat(19_000);
  const many = Array.from({ length: 1000 }, (_, i) =>
    permission(`p${i}`, 'book', 'reader', ['id'], { spec: { comment } }),
  );
  const stored = readManifests({ manifests: manifestChanges(many, NONE, about) });
  const lengths = [...stored.values()].map(({ manifest }) => manifest.length);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(16_000_000);
  expect(lengths.filter((length) => length === 0).length).toBeGreaterThan(100);
  expect(manifestChanges(many, stored, about)).toEqual({});
  const parts = manifestParts(Object.fromEntries(stored));
  expect(parts.length).toBeGreaterThan(30);
  expect(parts.flatMap(Object.keys)).toEqual([...stored.keys()]);
  for (const part of parts) expect(JSON.stringify(part).length).toBeLessThan(700_000);
  expect(manifestParts({})).toEqual([{}]);
});
