/** Tests the hashes of changes: one for each change of a resource, another one for every other change. */
import type { MetadataObject } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { hashOf } from '../objects/normal-form.ts';
import { permission } from '../testing/resources.ts';
import type { Decision } from './decide.ts';
import { isConfirmed, pendingChanges } from './pending-change.ts';

const object = (columns: readonly string[], role = 'reader'): MetadataObject => ({
  key: `select_permission/default/public/author/${role}`,
  kind: 'select_permission',
  parent: 'table/default/public/author',
  definition: { role, permission: { columns, filter: {} } },
});

const entryOf = (applied: MetadataObject) =>
  ({ cr: 'TablePermission default/reader', hash: hashOf(applied) }) as NonNullable<Decision['entry']>;

function update(from: readonly string[], to: readonly string[], action: Decision['action'] = 'update') {
  const [live, after] = [object(from), object(to)];
  const claim = { object: after, hash: hashOf(after), cr: permission('reader', 'author', 'reader', to) };
  return { key: after.key, action, live, claim, entry: entryOf(live) } as unknown as Decision;
}
const remove = (columns: readonly string[], role = 'reader'): Decision => {
  const live = object(columns, role);
  return { key: live.key, action: 'delete', live, entry: entryOf(live) };
};
const hashesOf = (...decisions: readonly Decision[]) =>
  [...pendingChanges(decisions).values()].map(({ hash }) => hash);

test('the hash stands for the objects before and after, and not for their order', () => {
  const [hash] = hashesOf(update(['id', 'name'], ['id']));
  expect(hashesOf(update(['id', 'name'], ['id']))).toEqual([hash]);
  const others = [
    update(['id', 'name'], ['name']),
    update(['id', 'name', 'born'], ['id']),
    remove(['id', 'name']),
  ];
  for (const other of others) expect(hashesOf(other)).not.toEqual([hash]);
  const both = [update(['id', 'name'], ['id']), remove(['id'], 'writer')];
  expect(hashesOf(...both)).toEqual(hashesOf(...both.toReversed()));
  expect(hashesOf(...both)).not.toEqual([hash]);
});

test('a change has the writes of one resource, also after its deletion', () => {
  const [change, ...others] = [...pendingChanges([remove(['id'])]).values()];
  expect(others).toEqual([]);
  expect(change?.owner).toBe('TablePermission default/reader');
  expect(pendingChanges([{ ...remove(['id']), action: 'keep' }]).size).toBe(0);
});

test('what restores an object or removes one that may no longer be owned is no change of a resource', () => {
  const corrected = update(['id', 'name'], ['id'], 'correct');
  const restored = { ...corrected, entry: entryOf(object(['id'])) };
  expect(pendingChanges([restored]).size).toBe(0);
  // The resource changed at the same time.
  expect(pendingChanges([{ ...corrected, entry: entryOf(object(['id', 'born'])) }]).size).toBe(1);
  const revocation = { since: '', until: new Date(), isOver: true } as unknown as Decision['revocation'];
  expect(pendingChanges([{ ...remove(['id']), revocation } as Decision]).size).toBe(0);
});

test('a confirmation has the hash of the change, on the resource or on the Engine, alone or among others', () => {
  const change = [...pendingChanges([remove(['id'])]).values()][0]!;
  const none = () => undefined;
  const on = (value: string) => (owner: string) => (owner === change.owner ? value : undefined);
  expect(isConfirmed(undefined, none)(change)).toBe(false);
  expect(isConfirmed('', on(''))(change)).toBe(false);
  expect(isConfirmed('0123, true', on('all'))(change)).toBe(false);
  expect(isConfirmed(change.hash, none)(change)).toBe(true);
  expect(isConfirmed(`0123,${change.hash} 4567`, none)(change)).toBe(true);
  expect(isConfirmed(undefined, on(change.hash))(change)).toBe(true);
  expect(isConfirmed(undefined, on(change.hash))({ ...change, owner: 'Table default/other' })).toBe(false);
});
