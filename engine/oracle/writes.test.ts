/** What a role writes through the engine is what Postgres lets it write under the same policies and grants: the same rows
 *  afterwards, the same answer, or a failure of both. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { describe, mustAgree } from './testing/agree.ts';
import {
  type Answer,
  type Arena,
  beginSql,
  makeVariables,
  openArena,
  refusal,
  type Variables,
} from './testing/arena.ts';
import { Choices } from './testing/choices.ts';
import { makeMutation } from './testing/mutation.ts';
import { contentsSql, mutate } from './testing/mutation-sql.ts';
import { mutationRequest, mutationShape } from './testing/mutation-text.ts';
import type { Mutation } from './testing/mutation-types.ts';
import { rowsSql } from './testing/policies.ts';
import { check, MOST_MS } from './testing/property.ts';
import { Sight } from './testing/request.ts';
import { makeWorld, type World } from './testing/world.ts';
import type { Role } from './testing/world-types.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await openArena();
});
afterAll(() => arena.close());

/** What an engine says of null in a column that is not nullable; an enum expects one of its values. */
const NULL_REFUSALS = ['unexpectedNull', 'expectedButFound'];
/** The errors of an engine for a change of the distribution column, which the schema does not have, and of an upsert that reads other rows. */
const CLUSTER_REFUSALS = ['notFoundInType', 'validationFailed', 'distributionUnsupported'];
/** What an engine may say of a write that Postgres refuses. */
const REFUSALS = ['checkFailed', 'constraintViolation', 'notNullViolation', 'dataException', 'notSupported'];

test.each([
  { statements: 'the usual statements', isCluster: false, share: 1 },
  { statements: 'the statements for a cluster', isCluster: true, share: 0.25 },
])(
  'a role writes what Postgres lets it write under the same policies and grants, by $statements',
  async ({ isCluster, share }) => {
    let succeeded = 0;
    await check(
      { world: 1600, request: 300, requests: 40 },
      30 * share,
      async ({ world: ofWorld, requests }) => {
        const world = makeWorld(new Choices(ofWorld));
        await arena.build(world);
        const engine = await arena.engine(world, isCluster);
        try {
          for (const request of requests) {
            const choices = new Choices(request);
            const role = choices.of([...world.roles, world.heir]);
            const mutation = makeMutation(choices, new Sight(world, role), role);
            if (!mutation) continue;
            const variables = makeVariables(choices);
            const asked = mutationRequest(mutation, choices, world.names);
            const theirs = await reference(mutation, world, role, variables);
            const ours = await engine.ask(asked, role, variables);
            const contents = await contentsOf(world);
            if ('text' in ours) await arena.owner.query(rowsSql(world));
            const occasion = { role, request: asked, sql: theirs.log.join(';\n') };
            // The engine refuses null in a column that is not nullable before it asks Postgres, also where no row would be written.
            if (!('text' in ours) && NULL_REFUSALS.includes(ours.code)) continue;
            if (isCluster && !('text' in ours) && CLUSTER_REFUSALS.includes(ours.code)) continue;
            if (!('text' in ours) && !('text' in theirs.answer)) {
              if (!REFUSALS.includes(ours.code))
                throw new Error(describe(occasion, JSON.stringify(ours), 'refused'));
              continue;
            }
            succeeded += 1;
            mustAgree(occasion, ours, theirs.answer, mutationShape(mutation, world.names));
            if (contents !== theirs.contents) throw new Error(describe(occasion, contents, theirs.contents));
          }
        } finally {
          await engine.close();
        }
      },
    );
    expect(succeeded).toBeGreaterThan(0);
  },
  MOST_MS,
);

async function reference(mutation: Mutation, world: World, role: Role, variables: Variables) {
  const { owner: client, names } = arena;
  const log: string[] = [];
  try {
    await client.query(beginSql(null, variables));
    const text = await mutate(mutation, { client, names, role, sight: new Sight(world, role), log });
    // What is put off to the end of a transaction is asked for now.
    await client.query('set constraints all immediate');
    return { answer: { text } satisfies Answer, contents: await contentsOf(world), log };
  } catch (error) {
    return { answer: refusal(error), contents: '', log };
  } finally {
    await client.query('rollback');
  }
}

async function contentsOf(world: World): Promise<string> {
  const { rows } = await arena.owner.query<{ contents: string }>(contentsSql(world.tables));
  return rows[0]!.contents;
}
