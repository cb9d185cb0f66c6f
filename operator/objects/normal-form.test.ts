/** Tests the form in which objects are compared: what JSON drops, hashes, and parts that are shared to save memory. */
import type { MetadataObject } from '@pergola/engine/metadata';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashOf, hashOfLive, normalised, printOf, shortHash, stableJson } from './normal-form.ts';

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

test('the text that is hashed has the keys of every object in order, those that are numbers first', () => {
  expect(stableJson({ b: [{ z: 1, a: undefined, y: { d: 2, c: null } }], a: 'x', 10: 1, 9: 2 })).toBe(
    '{"9":2,"10":1,"a":"x","b":[{"y":{"c":null,"d":2},"z":1}]}',
  );
  const replacer = (_: string, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner;
  // Ledgers keep hashes of these texts.
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(stableJson(value)).toBe(JSON.stringify(value, replacer));
    }),
  );
});

test('an object of the engine has the hash of its normal form, whichever object is expected', () => {
  const expected = normalised(permission({}));
  const other = normalised(permission({ limit: 5 }));
  const live = () => structuredClone(expected);
  expect(hashOfLive(live(), expected)).toBe(hashOf(expected));
  expect(hashOfLive(live(), other)).toBe(hashOf(expected));
  expect(hashOfLive(live())).toBe(hashOf(expected));
  expect(hashOfLive(live(), expected)).not.toBe(hashOf(other));
});

test('the print of an object has its hash and the length of its text', () => {
  const object = normalised(permission({}));
  const { length } = JSON.stringify(object.definition);
  expect(printOf(object)).toEqual({ hash: hashOf(object), length });
});
