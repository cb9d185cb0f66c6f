/** Introspects many tables on an engine with the chart's 512 MiB, after a request of each of its roles. In: a Postgres, whether they fit. Out: what
 *  went wrong, and the most memory that was taken. Not here: the time that it takes (size.ts). */
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

/** The name that the text of an introspection contains, or the error that it begins with, by the number of tables. */
const EXPECTED = {
  [FITTING]: /"name":"t899_bool_exp"/,
  [TOO_MANY]: /^{"errors":\[{"message":"the role's schema does not fit/,
};

export async function introspectLargeSchema(
  postgresUrl: string,
  tables: typeof FITTING | typeof TOO_MANY,
): Promise<{ readonly problems: readonly string[]; readonly peakMb: number }> {
  const { name, sql, metadata } = generated(tables, ROLES);
  const url = await createDatabase(postgresUrl, name, sql.toString());
  const engine = await startLimitedEngine(url, []);
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
    const problems = new Set<string>();
    for (let time = 0; time < TIMES; time++) {
      const texts = Array.from({ length: TIMES }, async () => {
        const response = await post('/v1/graphql', { query: getIntrospectionQuery() });
        return response.text();
      });
      for (const text of await Promise.all(texts)) {
        if (!EXPECTED[tables].test(text)) problems.add(`unexpected: ${text.slice(0, 200)}`);
      }
    }
    const after = await post('/v1/graphql', { query: '{ t1 { id } }' });
    if ((await after.text()) !== '{"data":{"t1":[]}}') problems.add('a query is not answered afterwards');
    return { problems: [...problems], peakMb: megabytes(engine.peakBytes()) };
  } catch (error) {
    const end = engine.isAlive() ? 'the engine did not answer' : 'the engine ended';
    return { problems: [`${end}: ${(error as Error).message}`], peakMb: megabytes(engine.peakBytes()) };
  } finally {
    await engine.stop();
  }
}

async function createDatabase(postgresUrl: string, name: string, sql: string): Promise<string> {
  const url = new URL(postgresUrl);
  url.pathname = name;
  for (const [at, statements] of [
    [postgresUrl, [`create database ${name}`]],
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
