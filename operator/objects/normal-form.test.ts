/** Tests the form in which objects are compared: what JSON drops, hashes, and parts that are shared to save memory. */
import type { MetadataObject } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { hashOf, normalised, shortHash } from './normal-form.ts';

const filter = { owner: { _eq: 'X-Engine-User-Id' } };

function permission(select: object): MetadataObject {
  const key = 'select_permission:["default","public","author","user"]';
  const definition = { role: 'user', permission: { columns: ['id'], filter, ...select } };
  return { kind: 'select_permission', key, parent: null, definition } as unknown as MetadataObject;
}

const permissionIn = ({ definition }: MetadataObject) =>
  (definition as unknown as { readonly permission: Readonly<Record<string, unknown>> }).permission;

test('keys without a value are dropped, as JSON drops them', () => {
  expect(permissionIn(normalised(permission({ limit: undefined })))).toEqual({ columns: ['id'], filter });
  expect(hashOf(normalised(permission({ limit: undefined })))).toBe(hashOf(normalised(permission({}))));
  const conditions = { _or: [{ id: { _eq: undefined } }, undefined] };
  expect(permissionIn(normalised(permission({ filter: conditions })))['filter']).toEqual({
    _or: [{ id: {} }, null],
  });
});

test('an object shares its condition with the spec that declares it', () => {
  expect(permissionIn(normalised(permission({})))['filter']).toBe(filter);
});

test('a hash is the beginning of the SHA-256 digest', () => {
  expect(shortHash('a')).toBe('ca978112ca1bbdcafac231b3');
});
