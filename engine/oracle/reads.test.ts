/** What a role reads through the engine is what Postgres returns under the same policies and grants, whatever the schema,
 *  the rows, the permissions and the query. */
import { afterAll, beforeAll, test } from 'vitest';
import { mustAgree } from './testing/agree.ts';
import { type Arena, makeVariables, openArena } from './testing/arena.ts';
import { Choices } from './testing/choices.ts';
import { readGround } from './testing/policies.ts';
import { check, MOST_MS } from './testing/property.ts';
import { querySql } from './testing/query-sql.ts';
import { queryRequest, queryShape } from './testing/query-text.ts';
import { makeQuery, Sight } from './testing/request.ts';
import { makeWorld } from './testing/world.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await openArena();
});
afterAll(() => arena.close());

test.each([
  { statements: 'the usual statements', isCluster: false, share: 1 },
  { statements: 'the statements for a cluster', isCluster: true, share: 0.25 },
])(
  'a role reads what Postgres returns under the same policies and grants, by $statements',
  async ({ isCluster, share }) => {
    await check(
      { world: 1600, request: 300, requests: 60 },
      40 * share,
      async ({ world: ofWorld, requests }) => {
        const world = makeWorld(new Choices(ofWorld));
        await arena.build(world);
        const engine = await arena.engine(world, isCluster);
        try {
          for (const request of requests) {
            const choices = new Choices(request);
            const role = choices.of([...world.roles, world.heir, null]);
            const sight = new Sight(world, role);
            const query = makeQuery(choices, sight);
            if (!query) continue;
            const variables = makeVariables(choices);
            const asked = queryRequest(query, choices, world.names);
            const sql = querySql(query, { ground: readGround(role), sight });
            const reader = role && arena.names.reader(role.name);
            const [ours, theirs] = await Promise.all([
              engine.ask(asked, role, variables),
              arena.reference(sql, reader, variables),
            ]);
            mustAgree({ role, request: asked, sql }, ours, theirs, queryShape(query));
          }
        } finally {
          await engine.close();
        }
      },
    );
  },
  MOST_MS,
);
