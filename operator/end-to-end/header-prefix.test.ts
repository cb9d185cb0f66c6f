/** Resources and an engine with another prefix of session variables: whichever of the two prefixes a resource uses, the engine gets its
 *  objects once, the next pass writes nothing, and the restriction is enforced. */
import { afterAll, describe, expect, test } from 'vitest';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { testWorld } from '../../testing/world.ts';
import { engineClient } from '../engine/client.ts';
import type { CustomResource } from '../kinds.ts';
import { systemClock } from '../pass/clock.ts';
import { reconcile } from '../pass/reconcile.ts';
import { OPTIONS, permission, resource, snapshotOf, table } from '../testing/resources.ts';

const PREFIX = 'x-hasura-';
const SDL = 'type Query { messages(user: String): [String] }';

let remote: RemoteService;

afterAll(() => remote?.close());

const { engine } = testWorld(
  async (database) => {
    await database.sql(
      `create table note (id int primary key, owner text); insert into note values (1, 'ann'), (2, 'bob')`,
    );
    remote = await startRemote(SDL, {
      'Query.messages': (_: unknown, args: object) => [JSON.stringify(args)],
    });
  },
  () => ({ headerPrefix: PREFIX }),
);

function resourcesWith(variable: string): readonly CustomResource[] {
  const mine = { owner: { _eq: variable } };
  const rules = {
    select: { columns: ['id'], filter: mine },
    insert: { columns: ['id'], check: mine, set: { owner: variable } },
  };
  const schema = `type Query { messages(user: String @preset(value: "${variable}")): [String] }`;
  const bundled = [
    {
      key: 'remote_schema/mail',
      definition: { name: 'mail', definition: { url: remote.url } },
    },
    {
      key: 'remote_schema_permission/mail/user',
      definition: { role: 'user', definition: { schema } },
    },
    {
      key: 'api_limits',
      definition: {
        disabled: false,
        rate_limit: { global: { unique_params: [variable], max_reqs_per_min: 1000 } },
      },
    },
  ];
  return [
    table('note'),
    permission('note-user', 'note', 'user', ['id'], { spec: rules }),
    resource('MetadataBundle', 'mail', { objects: bundled }),
  ];
}

const pass = (resources: readonly CustomResource[]) =>
  reconcile(
    {
      engine: engineClient({ url: engine.url, adminSecret: engine.adminSecret, headerPrefix: PREFIX }),
      source: { snapshot: async () => snapshotOf(resources) },
      sink: { publish: async () => 0 },
      clock: systemClock,
    },
    { ...OPTIONS, headerPrefix: PREFIX },
  );

async function versionOf(): Promise<number> {
  const { body } = await engine.admin<{ resource_version: number }>('export_metadata', {}, { version: 2 });
  return body.resource_version;
}

const SPELLINGS = ['X-Hasura-User-Id', 'x-hasura-user-id', 'X-Engine-User-Id', 'X-ENGINE-USER-ID'];

describe.each(SPELLINGS)('%s', (variable) => {
  test('one write applies it, and later passes find no difference', async () => {
    const first = await pass(resourcesWith(variable));
    const outcomes = [...first.verdicts.values()].map(
      ({ outcome }) => `${outcome.reason} ${outcome.message}`,
    );
    expect(outcomes.filter((outcome) => !outcome.startsWith('Applied'))).toEqual([]);
    const version = await versionOf();
    for (let i = 0; i < 2; i++) {
      const again = await pass(resourcesWith(variable));
      expect(again.wasWritten).toBe(false);
    }
    expect(await versionOf()).toBe(version);
  });

  test('clients read the prefix of the engine, and no other, in the metadata', async () => {
    const { body } = await engine.admin('export_metadata', {});
    const text = JSON.stringify(body);
    expect(text.match(/x-hasura-user-id/gi)).toHaveLength(5);
    expect(text).not.toMatch(/x-engine-user-id/i);
  });

  test('the role sees its own rows and nothing else', async () => {
    const asAnn = { role: 'user', headers: { 'x-hasura-user-id': 'ann' } };
    expect(await engine.graphql('{ note { id } }', asAnn)).toEqual({ data: { note: [{ id: 1 }] } });
    expect(await engine.graphql('{ messages }', asAnn)).toEqual({ data: { messages: ['{"user":"ann"}'] } });
    const chosen = await engine.graphql('{ messages(user: "bob") }', asAnn);
    expect(chosen.errors?.[0]?.message).toContain('no argument named');
    const without = await engine.graphql('{ note { id } }', { role: 'user' });
    expect(without.errors?.[0]?.message).toContain('x-hasura-user-id');
  });
});
