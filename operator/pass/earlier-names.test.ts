/** Tests that an operator keeps what it owns when its name changes, and that another operator does not get it. */
import { expect, test } from 'vitest';
import { OPTIONS, permission, table } from '../testing/resources.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';
import { reconcile } from './reconcile.ts';

const RENAMED = { ...OPTIONS, manager: 'new', earlierManagers: ['older', OPTIONS.manager] };

async function applied() {
  const ports = new ScriptedPorts();
  const resources = [table('author'), permission('a', 'author', 'reader'), table('book')];
  ports.resources = resources;
  await reconcile(ports, OPTIONS);
  return { ports, resources };
}

const managersIn = ({ engine }: ScriptedPorts) => [
  ...new Set(Object.values(engine.ledger.objects).map(({ manager }) => manager)),
];

test('after a change of its name an operator edits and deletes what it owned before', async () => {
  const { ports, resources } = await applied();
  const [author, , book] = resources;
  ports.resources = [author!, permission('a', 'author', 'reader', ['id', 'name'], { generation: 2 }), book!];
  await reconcile(ports, RENAMED);
  expect(ports.readiness(resources[1]!)).toBe('True Applied');
  expect(managersIn(ports)).toEqual(['new']);
  ports.resources = [author!, book!];
  await reconcile(ports, RENAMED);
  expect(ports.engine.objects.has('select_permission/default/public/author/reader')).toBe(false);
});

test('a change of the name leaves the document as it is, and happens once', async () => {
  const { ports } = await applied();
  const before = ports.engine.metadata;
  await reconcile(ports, RENAMED);
  const { length } = ports.engine.writes;
  expect(JSON.stringify(ports.engine.metadata)).toBe(JSON.stringify(before));
  await reconcile(ports, RENAMED);
  expect(ports.engine.writes).toHaveLength(length);
});

test('a name that came in between is taken over during a conflict with another writer', async () => {
  const { ports, resources } = await applied();
  let isFirst = true;
  ports.engine.before = (request) => {
    if (request === 'write' && isFirst) ports.engine.resourceVersion++;
    if (request === 'write') isFirst = false;
  };
  await reconcile(ports, RENAMED);
  expect([ports.readiness(resources[0]!), ...managersIn(ports)]).toEqual(['True Applied', 'new']);
});

test('objects of a manager that never was this one are AnotherOperator, and the message says what to set', async () => {
  const { ports, resources } = await applied();
  await reconcile(ports, { ...RENAMED, manager: 'new/api/main', earlierManagers: ['older'] });
  expect(ports.readiness(resources[0]!)).toBe('False AnotherOperator');
  expect(ports.message(resources[0]!)).toContain(
    `set operator.clusterName of this one to ${OPTIONS.manager}`,
  );
  expect(managersIn(ports)).toEqual([OPTIONS.manager]);
});
