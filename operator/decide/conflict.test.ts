/** Tests who gets an object that several resources claim, and what the others are told. */
import { expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import { reconcile } from '../pass/reconcile.ts';
import { OPTIONS, permission, resource, snapshotOf, table } from '../testing/resources.ts';
import { ScriptedEngine } from '../testing/scripted-engine.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';

const KEY = 'select_permission/default/public/author/reader';
const SUBJECT = 'Select permission default/public/author/reader';
const LATER = { creationTimestamp: '2025-02-01T00:00:00Z' };
const READER = { role: 'reader', select: { columns: ['id'], filter: {} } };
const EDITOR = { role: 'reader', delete: { filter: {} } };

const reader = (name: string, given = {}) => permission(name, 'author', 'reader', ['id'], given);

/** Returns the message of the resource that lost, which later passes do not change. */
async function messageFor(loser: CustomResource, ports: ScriptedPorts, options = OPTIONS): Promise<string> {
  await reconcile(ports, options);
  expect(ports.readiness(loser)).toBe('False Conflict');
  const message = ports.message(loser);
  const again = await reconcile(ports, options);
  expect([again.wasWritten, ports.published]).toEqual([false, []]);
  return message;
}

async function messageAmong(loser: CustomResource, ...others: readonly CustomResource[]): Promise<string> {
  const ports = new ScriptedPorts();
  ports.resources = [loser, ...others];
  return messageFor(loser, ports);
}

test('the younger resource is told that the owner is older', async () => {
  expect(await messageAmong(reader('a', LATER), table('author'), reader('b'))).toBe(
    `${SUBJECT} belongs to TablePermission default/b, which is older; delete this resource, or delete TablePermission default/b (key ${KEY}).`,
  );
});

test('of two resources of one age the one with the smaller uid owns the object', async () => {
  const [first, second] = [reader('a', { uid: '1' }), reader('b', { uid: '2' })];
  expect(await messageAmong(second, table('author'), first)).toContain(
    'belongs to TablePermission default/a, which was created at the same time and whose uid comes first; ',
  );
});

test('in a folder the uid is the name', async () => {
  const [first, second] = ['a', 'b'].map((name) => reader(name, { uid: `TablePermission default/${name}` }));
  expect(await messageAmong(second!, table('author'), first!)).toContain(
    'belongs to TablePermission default/a, whose name comes first; ',
  );
});

test('an older resource that claims the object later is told that the owner had it first', async () => {
  const ports = new ScriptedPorts();
  const [owner, older] = [reader('a', LATER), reader('b')];
  ports.resources = [table('author'), owner];
  await reconcile(ports, OPTIONS);
  ports.resources = [table('author'), owner, older];
  expect(await messageFor(older, ports)).toContain(
    'belongs to TablePermission default/a, which had it first; ',
  );
});

test('an inline permission is removed from its Table, on either side', async () => {
  const inline = (given = {}) => table('author', { spec: { permissions: [READER] }, ...given });
  expect(await messageAmong(reader('a', LATER), inline())).toContain(
    '; delete this resource, or remove the select permission from Table default/author (key ',
  );
  expect(await messageAmong(inline(LATER), reader('a'))).toContain(
    '; remove the select permission from this resource, or delete TablePermission default/a (key ',
  );
});

test('a TablePermission with other permissions is not deleted for one of them', async () => {
  const both = resource('TablePermission', 'both', {
    source: 'default',
    table: 'author',
    ...READER,
    ...EDITOR,
  });
  expect(await messageAmong(reader('a', LATER), table('author'), both)).toContain(
    '; delete this resource, or remove the select permission from TablePermission default/both (key ',
  );
});

test('two Tables for one table: a Table is deleted with what is nested in it', async () => {
  const younger = table('author', { name: 'mine', uid: 'mine', ...LATER, spec: { permissions: [READER] } });
  const [ports, other] = [new ScriptedPorts(), table('author')];
  ports.resources = [younger, other];
  await reconcile(ports, OPTIONS);
  expect(ports.message(younger)).toBe(
    'Table default/public/author belongs to Table default/author, which is older; delete this resource, or delete Table default/author ' +
      '(key table/default/public/author).',
  );
});

test('of a resource in another namespace the message has the name and nothing of its spec', async () => {
  const theirs = table('author', { namespace: 'team', spec: { permissions: [READER] } });
  const message = await messageAmong(reader('a', LATER), theirs);
  expect(message).toBe(
    `${SUBJECT} belongs to Table team/author, which is older; delete this resource, or let the owners of namespace team remove theirs (key ${KEY}).`,
  );
});

test('an owner that cannot be read at the moment keeps the object', async () => {
  const ports = new ScriptedPorts();
  ports.resources = [table('author'), reader('a')];
  await reconcile(ports, OPTIONS);
  const usurper = reader('b');
  ports.given = snapshotOf([table('author'), usurper], { isComplete: false });
  expect(await messageFor(usurper, ports)).toContain(
    'belongs to TablePermission default/a, which keeps what it has; delete this resource, or remove the select permission there (key ',
  );
});

test('another operator is named, with the name of this one and what to do if the other is gone', async () => {
  const engine = new ScriptedEngine();
  const theirs = new ScriptedPorts(engine);
  theirs.resources = [table('author', { namespace: 'api' })];
  await reconcile(theirs, { ...OPTIONS, manager: 'theirs' });
  const ours = new ScriptedPorts(engine);
  const own = table('author', {
    uid: 'of-another-cluster',
    spec: { configuration: { customName: 'Writer' } },
  });
  ours.resources = [own];
  expect(await messageFor(own, ours)).toBe(
    'Table default/public/author belongs to Table api/author of another operator, which calls itself theirs, and this operator calls itself ' +
      'test; delete this resource, or remove it there; if that operator no longer exists, give this one its name ' +
      '(key table/default/public/author).',
  );
});
