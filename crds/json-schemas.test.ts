/** Tests the JSON Schemas with another validator than ours: the example of each kind is valid, and what is wrong with a resource is found. */
import { API_GROUP, API_VERSION, KINDS, type KindRow } from '@pergola/operator/kinds';
import { Ajv } from 'ajv';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { specExampleOf } from './example.ts';
import { jsonSchema, jsonSchemas } from './json-schemas.ts';

/** Ignores keywords and formats that it does not know, as editors and kubeconform do. */
const ajv = new Ajv({ strict: false, validateFormats: false });

test.each(KINDS.map((row: KindRow) => [row.kind, row] as const))('%s', (kind, row) => {
  const isValid = ajv.compile(jsonSchema(row));
  const spec = load(specExampleOf(kind)) as object;
  const resource = { apiVersion: `${API_GROUP}/${API_VERSION}`, kind, metadata: { name: 'a' }, spec };
  expect([isValid(resource), isValid.errors]).toEqual([true, null]);
  const wrong = [
    { ...resource, kind: 'Tabel' },
    { ...resource, apiVersion: 'v1' },
    { ...resource, spec: { ...spec, unknownField: 1 } },
    { ...resource, spec: 'text' },
    { ...resource, spce: {} },
    { apiVersion: resource.apiVersion, kind, metadata: {} },
  ];
  for (const one of wrong) expect([one, isValid(one)]).toEqual([one, false]);
});

test('files have the names that kubeconform looks for', () => {
  expect([...jsonSchemas().keys()]).toContain('pergola.dev/tablepermission_v1alpha1.json');
});
