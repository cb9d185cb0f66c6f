/** Tests the conversion of the old form: golden files, and rules that hold for every old resource. `old-form/` has the examples of the
 *  release 0.2.0 and a file with all other old fields; `new-form/` has what they become. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord, YAML_SCHEMA } from '@pergola/engine/metadata';
import { loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { editYaml } from '../yaml/edit.ts';
import { CONVERSIONS } from './conversions.ts';
import { convertDocument, convertSpec, hasOldForm } from './convert.ts';

const FILES = readdirSync(join(import.meta.dirname, 'old-form'));
const textOf = (form: 'old-form' | 'new-form', file: string) =>
  readFileSync(join(import.meta.dirname, form, file), 'utf8');
const documentsOf = (text: string) => loadAll(text, { schema: YAML_SCHEMA });

test.each(FILES)('%s: the new form is the committed one, with its comments and its order', (file) => {
  const text = textOf('old-form', file);
  const values = documentsOf(text).map((document) => convertDocument(document).document);
  expect(editYaml(text, values)).toBe(textOf('new-form', file));
});

test.each(FILES)('%s: what is converted is not converted again', (file) => {
  const documents = documentsOf(textOf('new-form', file));
  expect(documents.map((document) => convertDocument(document).document)).toEqual(documents);
  for (const document of documents) {
    expect(convertDocument(document)).toEqual({ document, notes: [] });
    // Identity says that nothing has changed.
    expect(convertDocument(document).document).toBe(document);
  }
});

test('every kind with a conversion has an old resource in the files that it changes', () => {
  const changed = FILES.flatMap((file) => documentsOf(textOf('old-form', file)))
    .filter(isRecord)
    .filter(({ kind, spec }) => isRecord(spec) && hasOldForm(String(kind), spec))
    .map(({ kind }) => kind);
  expect(Object.keys(CONVERSIONS).filter((kind) => !changed.includes(kind))).toEqual([]);
});

test('a patch with some fields is converted like a resource', () => {
  expect(convertSpec('Table', { permissions: [{ role: 'user', select: { limit: 3 } }] })).toEqual({
    permissions: [{ role: 'user', select: { maxRows: 3 } }],
  });
});

test('two URLs stay two, so that validation refuses them', () => {
  const { url } = convertSpec('RemoteSchema', { url: 'http://a', urlFromEnv: 'B' });
  expect(url).toEqual({ value: 'http://a', env: 'B' });
});

test('fields and values that the old form did not have are kept as they are', () => {
  const spec = { kind: 'sometimes', handler: 3, headers: 'none', relationships: [null], more: { a: 1 } };
  expect(convertSpec('Action', spec)).toBe(spec);
});

test('resources of other groups and unknown kinds are kept as they are', () => {
  for (const apiVersion of ['v1', 'apps/v1', 'pergola.dev/v1alpha1']) {
    const document = { apiVersion, kind: 'Other', metadata: { name: 'a' }, spec: { table: { name: 'b' } } };
    expect(convertDocument(document).document).toBe(document);
  }
});

test('a list read from a cluster becomes manifests: without status, identity and what kubectl applied last', () => {
  const stored = {
    apiVersion: 'pergola.dev/v1alpha1',
    kind: 'InheritedRole',
    metadata: {
      name: 'editor',
      namespace: 'team-a',
      uid: 'u',
      resourceVersion: '7',
      generation: 2,
      creationTimestamp: '2026-01-01T00:00:00Z',
      managedFields: [],
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', 'pergola.dev/adopt': 'true' },
      finalizers: ['pergola.dev/wait-for-deletion'],
    },
    spec: { role: 'editor', roleSet: ['reader'] },
    status: { conditions: [] },
  };
  const { document } = convertDocument({ apiVersion: 'v1', kind: 'List', items: [stored] });
  expect(document).toEqual({
    apiVersion: 'v1',
    kind: 'List',
    items: [
      {
        apiVersion: 'pergola.dev/v1alpha1',
        kind: 'InheritedRole',
        metadata: {
          name: 'editor',
          namespace: 'team-a',
          annotations: { 'pergola.dev/adopt': 'true' },
          finalizers: ['pergola.dev/wait-for-deletion'],
        },
        spec: { role: 'editor', roles: ['reader'] },
      },
    ],
  });
});

test('a removed field is reported with the resource and the path', () => {
  const document = {
    apiVersion: 'pergola.dev/v1alpha1',
    kind: 'Engine',
    metadata: { name: 'main' },
    spec: { allowLiteralSecrets: true },
  };
  expect(convertDocument(document).notes).toEqual([
    expect.stringMatching(/^Engine main: spec\.allowLiteralSecrets is removed/),
  ]);
});
