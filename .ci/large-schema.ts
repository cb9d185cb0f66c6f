/** Introspects many tables on an engine with little memory, after a request of each of its roles. In: a Postgres, the number of tables. Out: what
 *  the answers were, and the most memory that was taken. Not here: the time that it takes (size.ts). */
import { getIntrospectionQuery } from 'graphql';
import pg from 'pg';
import { ADMIN_SECRET, startLimitedEngine } from '../testing/attack/limited-engine.ts';
import { generated, rolesOf } from './subjects.ts';

/** The numbers of tables whose types fit into the memory, and do not. */
export const FITTING = 900;
export const TOO_MANY = 1500;
const ROLES = 10;
/** The number of introspections at once and in a row. */
const TIMES = 2;

const REFUSAL = /^{"errors":\[{"message":"the role's schema does not fit/;

/** `ended`: the engine did not survive, or did not answer a query afterwards. `other`: another answer. */
type Outcome = 'answered' | 'refused' | 'ended' | 'other';

export async function introspectLargeSchema(
  postgresUrl: string,
  tables: typeof FITTING | typeof TOO_MANY,
): Promise<{ readonly problems: readonly string[]; readonly peakMb: number }> {
  const { outcomes, peakMb } = await introspected(postgresUrl, tables);
  const expected = tables === FITTING ? 'answered' : 'refused';
  const problems = [...outcomes].filter((outcome) => outcome !== expected);
  return { problems: problems.map((outcome) => `an introspection is ${outcome}, not ${expected}`), peakMb };
}

/** Resolves to what came of introspections at once and in a row, on an engine with a limit of memory, the chart's by default. */
export async function introspected(
  postgresUrl: string,
  tables: number,
  limitBytes?: number,
): Promise<{ readonly outcomes: ReadonlySet<Outcome>; readonly peakMb: number }> {
  const { name, sql, metadata } = generated(tables, ROLES);
  const url = await createDatabase(postgresUrl, name, sql.toString());
  const engine = await startLimitedEngine(url, [], { limitBytes });
  const post = (path: string, body: object, role = 'admin') =>
    fetch(engine.url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-engine-admin-secret': ADMIN_SECRET,
        'x-engine-role': role,
      },
      body: JSON.stringify(body),
    });
  try {
    await post('/v1/metadata', { type: 'replace_metadata', args: metadata });
    for (const role of rolesOf(metadata)) await post('/v1/graphql', { query: '{ __typename }' }, role);
    const outcomes = new Set<Outcome>();
    const isWhole = (text: string) => text.includes(`"name":"t${tables - 1}_bool_exp"`);
    for (let time = 0; time < TIMES; time++) {
      const texts = Array.from({ length: TIMES }, async () => {
        const response = await post('/v1/graphql', { query: getIntrospectionQuery() });
        return response.text();
      });
      for (const text of await Promise.all(texts)) {
        const outcome = isWhole(text) ? 'answered' : REFUSAL.test(text) ? 'refused' : 'other';
        if (outcome === 'other') console.error(`${name}: unexpected: ${text.slice(0, 200)}`);
        outcomes.add(outcome);
      }
    }
    const after = await post('/v1/graphql', { query: '{ t1 { id } }' });
    if ((await after.text()) !== '{"data":{"t1":[]}}') outcomes.add('ended');
    return { outcomes, peakMb: megabytes(engine.peakBytes()) };
  } catch (error) {
    console.error(`${name}: ${(error as Error).message}`);
    return { outcomes: new Set(['ended']), peakMb: megabytes(engine.peakBytes()) };
  } finally {
    await engine.stop();
  }
}

async function createDatabase(postgresUrl: string, name: string, sql: string): Promise<string> {
  const url = new URL(postgresUrl);
  url.pathname = name;
  for (const [at, statements] of [
    [postgresUrl, [`drop database if exists ${name} with (force)`, `create database ${name}`]],
    // One transaction would hold a lock for each table.
    [url.href, sql.match(/[^;]+;/g) ?? []],
  ] as const) {
    const client = new pg.Client({ connectionString: at });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  }
  return url.href;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
