/** What many are told who ask together is what each is told alone, whatever the schema, the rows, the permissions and the query:
 *  subscriptions that differ only in values share a statement, and nobody must see the rows of another. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Row } from '../database/pool.ts';
import { EngineError } from '../errors/engine-error.ts';
import { planOf } from '../execute/answer.ts';
import { runForMany, runStatement, valuesOf } from '../execute/statements.ts';
import type { Session } from '../resolve/session.ts';
import type { PreparedStatement } from '../sql/plan.ts';
import { textOfColumn, type Value } from '../wire/statement.ts';
import { type Arena, type Engine, makeVariables, openArena, sessionOf } from './testing/arena.ts';
import { Choices } from './testing/choices.ts';
import { check, MOST_MS } from './testing/property.ts';
import { queryRequest, type Request } from './testing/query-text.ts';
import { makeQuery, Sight } from './testing/request.ts';
import { makeWorld } from './testing/world.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await openArena();
});
afterAll(() => arena.close());

const MANY = 4;

test(
  'who asks together is told what it is told alone',
  async () => {
    const counts = { together: 0, failed: 0, different: 0 };
    await check({ world: 1600, request: 300, requests: 40 }, 12, async ({ world: ofWorld, requests }) => {
      const world = makeWorld(new Choices(ofWorld));
      await arena.build(world);
      const engine = await arena.engine(world);
      try {
        for (const request of requests) {
          const choices = new Choices(request);
          const role = choices.of([...world.roles, world.heir]);
          const [root] = makeQuery(choices, new Sight(world, role))?.roots ?? [];
          if (!root) continue;
          const asked = queryRequest({ roots: [root] }, choices, world.names);
          const sessions = Array.from({ length: MANY }, () => sessionOf(role, makeVariables(choices)));
          const statement = statementOf(asked, sessions[0]!, engine);
          if (!statement?.forMany) continue;
          const each = sessions.map((session) =>
            valuesOf(statement, { session, variables: asked.variables }),
          );
          const alone = await rowsAlone(statement, each, engine);
          // The failure of one is that of the statement: nothing can be said of the others.
          if (!alone) continue;
          const together = await runForMany(statement, each, engine.databases).catch((error: unknown) => {
            if (!(error instanceof EngineError)) throw error;
            counts.failed += 1;
          });
          if (!together) continue;
          expect(together.map(told), asked.query).toEqual(alone.map(told));
          counts.together += 1;
          if (new Set(alone.map((row) => JSON.stringify(told(row)))).size > 1) counts.different += 1;
        }
      } finally {
        await engine.close();
      }
    });
    console.info(`asked together: ${JSON.stringify(counts)}`);
    // Nothing is shown where all are told the same, or where most must be asked alone after all.
    expect(counts.different).toBeGreaterThan(15);
    expect(counts.failed).toBeLessThan(counts.together / 20);
  },
  MOST_MS,
);

/** As a subscription; none where its planning is refused. */
function statementOf(asked: Request, session: Session, { model }: Engine): PreparedStatement | undefined {
  const request = { query: asked.query.replace(/^query/, 'subscription'), variables: asked.variables };
  try {
    return planOf(request, { model, session }).plan.statements[0];
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}

async function rowsAlone(
  statement: PreparedStatement,
  each: readonly (readonly Value[])[],
  { databases }: Engine,
): Promise<readonly Row[] | undefined> {
  try {
    return await Promise.all(each.map((values) => runStatement(statement, values, databases)));
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}

/** No row and one of null print the same. Rows that nobody has ordered come as they come. */
function told(row: Row): unknown {
  return unordered(JSON.parse(textOfColumn(row[0] ?? null) ?? 'null'));
}

function unordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => JSON.stringify(unordered(item))).sort();
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unordered(member)]));
}
