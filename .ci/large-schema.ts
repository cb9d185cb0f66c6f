/** Introspects 1,000 tables on an engine with the chart's 512 MiB, after a request of each of its roles. In: a Postgres. Out: what went wrong, and the most
 *  memory that was taken. Not here: the time that it takes (size.ts). */
import { getIntrospectionQuery } from 'graphql';
import pg from 'pg';
import { ADMIN_SECRET, startLimitedEngine } from '../testing/attack/limited-engine.ts';
import { generated, rolesOf } from './subjects.ts';

const TABLES = 1000;
const ROLES = 10;

export async function introspectLargeSchema(
  postgresUrl: string,
): Promise<{ readonly problems: readonly string[]; readonly peakMb: number }> {
  const { name, sql, metadata } = generated(TABLES, ROLES);
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
    const response = await post('/v1/graphql', { query: getIntrospectionQuery() });
    const types = /"name":"t999_bool_exp"/.test(await response.text());
    return { problems: types ? [] : ['the schema lacks a table'], peakMb: megabytes(engine.peakBytes()) };
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
  for (const [at, text] of [
    [postgresUrl, `create database ${name}`],
    [url.href, sql],
  ] as const) {
    const client = new pg.Client({ connectionString: at });
    await client.connect();
    await client.query(text);
    await client.end();
  }
  return url.href;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
