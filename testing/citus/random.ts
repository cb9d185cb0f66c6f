/** Random worlds of the oracle, each in a plain Postgres and in a Citus cluster, where the tables are distributed, reference and local at
 *  random, and random requests of all roles to both. In: the URLs of both servers, and a seed that repeats the worlds. Out: for each world, the
 *  requests that the cluster answers differently, and whether it was refused when it was declared.
 *  Not here: how worlds and requests are chosen (engine/oracle), the requests that are written by hand (comparison.ts). */
import pg from 'pg';
import { EngineError } from '../../engine/errors/engine-error.ts';
import { answer } from '../../engine/execute/answer.ts';
import { bodyText } from '../../engine/execute/splice.ts';
import { mustAgree } from '../../engine/oracle/testing/agree.ts';
import { type Answer, makeVariables, sessionOf, type Variables } from '../../engine/oracle/testing/arena.ts';
import { Choices, LARGEST } from '../../engine/oracle/testing/choices.ts';
import { type EngineRooms, engineOn } from '../../engine/oracle/testing/engine-on.ts';
import { functionsSql } from '../../engine/oracle/testing/functions-sql.ts';
import { metadataRoles, metadataSource } from '../../engine/oracle/testing/metadata.ts';
import { tablesSql } from '../../engine/oracle/testing/policies.ts';
import { queryRequest, queryShape, type Request } from '../../engine/oracle/testing/query-text.ts';
import { makeQuery, Sight } from '../../engine/oracle/testing/request.ts';
import { ENUM_TABLE, makeWorld, type World } from '../../engine/oracle/testing/world.ts';
import type { Role, Table } from '../../engine/oracle/testing/world-types.ts';
import { STRICT_RETURNING } from '../../engine/resolve/types.ts';
import { randomBits } from '../random-bits.ts';

export type Servers = { readonly citusUrl: string; readonly postgresUrl: string };

export type WorldVerdict = {
  readonly world: number;
  /** The reason why the metadata was refused for the cluster; null when it was accepted. */
  readonly refusal: string | null;
  readonly passed: number;
  /** The requests that differ, each with its role, its text and both answers. */
  readonly problems: readonly string[];
};

const REQUESTS = 40;

/** Words in the reason of a refusal that is about distribution. */
const REFUSED = 'distributed table';

/** Yields `count` worlds from `from` on. */
export async function* randomWorlds(
  { citusUrl, postgresUrl }: Servers,
  { seed, from, count }: { readonly seed: number; readonly from: number; readonly count: number },
): AsyncGenerator<WorldVerdict> {
  const name = `worlds_${process.pid}_${Date.now().toString(36)}`;
  await onServer(postgresUrl, `create database ${name}`);
  const plainUrl = Object.assign(new URL(postgresUrl), { pathname: `/${name}` }).href;
  try {
    const both = { citusUrl, postgresUrl: plainUrl };
    for (let world = from; world < from + count; world++) yield await runWorld(both, seed, world);
  } finally {
    await onServer(postgresUrl, `drop database ${name} with (force)`);
  }
}

async function runWorld(servers: Servers, seed: number, number: number): Promise<WorldVerdict> {
  const bits = randomBits(seed * 1_000_003 + number);
  const choices = (count: number) => new Choices(Array.from({ length: count }, () => bits() % (LARGEST + 1)));
  const world = loosened(makeWorld(choices(1600)));
  await build(servers.postgresUrl, world, []);
  await build(servers.citusUrl, world, distributionSql(world, choices(100)));
  const open = (url: string) =>
    engineOn(url, metadataSource(world), metadataRoles(world), [STRICT_RETURNING]);
  const plain = await open(servers.postgresUrl);
  try {
    const cluster = await open(servers.citusUrl).catch((error: Error) => error.message);
    if (typeof cluster === 'string') {
      const problems = cluster.includes(REFUSED) ? [] : [cluster];
      return { world: number, refusal: cluster, passed: 0, problems };
    }
    try {
      return { world: number, refusal: null, ...(await compare(world, choices, { plain, cluster })) };
    } finally {
      await cluster.sources.close();
    }
  } finally {
    await plain.sources.close();
  }
}

async function compare(
  world: World,
  choices: (count: number) => Choices,
  { plain, cluster }: { readonly plain: EngineRooms; readonly cluster: EngineRooms },
): Promise<{ readonly passed: number; readonly problems: readonly string[] }> {
  const problems: string[] = [];
  let passed = 0;
  for (let i = 0; i < REQUESTS; i++) {
    const own = choices(300);
    const role = own.of([...world.roles, world.heir, null]);
    const query = makeQuery(own, new Sight(world, role));
    if (!query) continue;
    const variables = makeVariables(own);
    const request = queryRequest(query, own, world.names);
    const theirs = await answerOf(plain, request, role, variables);
    const ours = await answerOf(cluster, request, role, variables);
    // The texts of errors may differ, since a shard raises its own.
    const isAgreed = 'code' in ours && 'code' in theirs;
    try {
      if (!isAgreed) mustAgree({ role, request, sql: '' }, ours, dataOf(theirs), queryShape(query));
      passed += 1;
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  return { passed, problems };
}

async function answerOf(
  { model, sources }: EngineRooms,
  request: Request,
  role: Role | null,
  variables: Variables,
): Promise<Answer> {
  try {
    const context = { model, session: sessionOf(role, variables), databases: sources };
    return { text: bodyText(await answer(request, context)) };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { code: error.kind, message: `${error.message} ${JSON.stringify(error.internal ?? '')}` };
  }
}

/** Returns the `data` of an answer, which is what `mustAgree` takes. */
function dataOf(given: Answer): Answer {
  return 'text' in given ? { text: /^\{"data":(.*)\}$/s.exec(given.text)![1]! } : given;
}

/** Returns the world without what a cluster refuses whatever the distribution: foreign keys and unique constraints that do not have the
 *  distribution column, and functions that read tables. Relationships are declared by their columns. */
function loosened(world: World): World {
  for (const table of world.tables) {
    for (const each of table.relationships) Object.assign(each, { using: 'manual' });
    Object.assign(table, { foreignKeys: [], unique: null, partial: null });
  }
  return Object.assign(world, { functions: [] });
}

/** Returns statements that distribute the tables at random: by the first column of the key, colocated or not. */
function distributionSql({ tables }: World, choices: Choices): readonly string[] {
  const real = tables.filter(({ of }) => of === null);
  return [
    `select create_reference_table('public.${ENUM_TABLE.name}')`,
    ...real.flatMap((table) => choices.of(WAYS)(table)),
  ];
}

const WAYS: readonly ((table: Table) => readonly string[])[] = [
  ({ name, key }) => [`select create_distributed_table('public.${name}', '${key[0]!.name}')`],
  ({ name, key }) => [`select create_distributed_table('public.${name}', '${key[0]!.name}')`],
  ({ name, key }) => [
    `select create_distributed_table('public.${name}', '${key[0]!.name}', colocate_with => 'none')`,
  ],
  ({ name }) => [`select create_reference_table('public.${name}')`],
  () => [],
];

/** Replaces the tables of the database by those of the world. Views and functions are created after the tables are distributed, so that the
 *  workers have them, too. */
async function build(url: string, world: World, distribution: readonly string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query('set client_min_messages = error');
    const { rows } = await client.query<{ name: string }>(`select oid::regclass as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r'
        and not exists (select from pg_depend d where d.objid = pg_class.oid and d.deptype = 'e')`);
    for (const { name } of rows) await client.query(`drop table if exists ${name} cascade`);
    // The first two statements replace the schemas, one of which belongs to the cluster.
    const [, , ...statements] = tablesSql(world).map(numbered);
    const later = world.tables.filter(({ of }) => of !== null).length + functionsSql(world).length;
    const first = statements.slice(0, statements.length - later);
    for (const sql of [...first, ...distribution, ...statements.slice(first.length)]) await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Returns SQL of tables whose rows have plain numbers: Citus 13.2 cannot distribute a table that has an identity column whose name needs
 *  quotes, and does not restart sequences. */
function numbered(sql: string): string {
  return sql
    .replaceAll('"#" int not null generated by default as identity', 'row_number_ serial')
    .replaceAll('"#"', 'row_number_')
    .replaceAll(' restart identity', '');
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(sql).finally(() => client.end());
}
