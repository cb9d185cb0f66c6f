/** Tests an InheritedRole whose parents disagree, with a real engine: the role has what they agree on, the resource says what it does not
 *  inherit, and other resources are written beside it. */
import { expect, test } from 'vitest';
import { testWorld } from '../../testing/world.ts';
import { engineClient } from '../engine/client.ts';
import type { CustomResource } from '../kinds.ts';
import { systemClock } from '../pass/clock.ts';
import { reconcile } from '../pass/reconcile.ts';
import type { StatusChange } from '../ports/statuses.ts';
import { OPTIONS, resource } from '../testing/resources.ts';

const { engine } = testWorld(
  () => "create table note (id int primary key, body text); insert into note values (1, 'a')",
);

const select = { columns: ['id'], filter: {} };
const note = (check: object) =>
  resource('Table', 'note', {
    table: 'note',
    permissions: [
      { role: 'one', select, insert: { columns: ['id'], check: {} } },
      { role: 'two', select, insert: { columns: ['id'], check } },
    ],
  });
const both = resource('InheritedRole', 'both', { role: 'both', roles: ['one', 'two'] });

/** Returns the Ready condition of each resource after a pass, by name. */
async function pass(...resources: CustomResource[]): Promise<Record<string, string>> {
  const source = {
    snapshot: async () => ({
      at: systemClock.now(),
      resources,
      isComplete: true,
      references: { secret: () => undefined, configMap: () => undefined },
    }),
  };
  const sink = { publish: async (_: readonly StatusChange[]) => 0 };
  const ports = { engine: engineClient({ url: engine.url, adminSecret: engine.adminSecret }), source, sink };
  const { verdicts } = await reconcile({ ...ports, clock: systemClock }, OPTIONS);
  const outcomes = resources.map(({ metadata }) => {
    const { reason, message } = verdicts.get(metadata.uid)!.outcome;
    return [metadata.name, `${reason}: ${message}`];
  });
  return Object.fromEntries(outcomes);
}

const asBoth = (query: string) => engine.graphql(query, { role: 'both' });
const INSERT = 'mutation { insert_note_one(object: {id: 2}) { id } }';

test('a role whose parents disagree serves what they agree on, and says the rest', async () => {
  expect(await pass(note({ id: { _gt: 0 } }), both)).toEqual({
    note: 'Applied: 5 objects applied',
    both:
      "PartlyServed: inherited role both: Could not inherit permission for the role 'both' for the entity: " +
      "'insert permission, table: note, source: 'default''",
  });
  expect(await asBoth('{ note { id } }')).toEqual({ data: { note: [{ id: 1 }] } });
  expect((await asBoth(INSERT)).errors?.[0]?.message).toContain('no mutations exist');
});

test('other changes are written beside it, and a pass without a change writes nothing', async () => {
  const version = async () =>
    (await engine.admin<{ resource_version: number }>('export_metadata', {}, { version: 2 })).body
      .resource_version;
  const more = resource('TablePermission', 'three', { table: 'note', role: 'three', select });
  expect(await pass(note({ id: { _gt: 0 } }), both, more)).toMatchObject({
    three: 'Applied: 1 object applied',
  });
  const before = await version();
  expect(await pass(note({ id: { _gt: 0 } }), both, more)).toMatchObject({
    three: 'Applied: 1 object applied',
  });
  expect(await version()).toBe(before);
});

test('it is applied once its parents agree', async () => {
  expect(await pass(note({}), both)).toMatchObject({ both: 'Applied: 1 object applied' });
  expect(await asBoth(INSERT)).toEqual({ data: { insert_note_one: { id: 2 } } });
});
