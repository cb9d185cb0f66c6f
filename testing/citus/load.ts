/** The processor time of requests to an engine over a Citus cluster with thousands of tenants, beside the same statements from pgbench, and beside the
 *  same requests to an engine over a plain Postgres. In: a database of the cluster and one of a plain Postgres. Out: milliseconds of each request, the
 *  medians of alternating rounds. Not here: what is printed of it (docs/pages/speed.ts). PostgreSQL manual, "pgbench". */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { type Engine, startEngine } from '../engine-process.ts';
import type { Cluster } from './cluster.ts';
import { processorTimeOf } from './processor-time.ts';
import { AFTER_DISTRIBUTION, DISTRIBUTION, FUNCTIONS, SCHEMA, TABLES } from './schema.ts';
import type { Servers } from './worlds.ts';

/** Milliseconds of processor time of one request. */
export type LoadFigure = {
  readonly isOfTenant: boolean;
  readonly pgbench: number;
  /** The engine over the cluster, and the coordinator with the workers. */
  readonly engine: number;
  readonly cluster: number;
  /** The engine over a plain Postgres. */
  readonly plainEngine: number;
  /** The engine and the cluster, as a multiple of pgbench and of the engine over a plain Postgres. */
  readonly ratio: number;
};

type Loaded = {
  readonly name: string;
  readonly query: string;
  /** True for a request of one tenant, another one each time. */
  readonly isOfTenant: boolean;
  readonly requests: number;
};

const TENANT_COUNT = 10_000;
const ROUNDS = 4;
const CLIENTS = 4;
const PGBENCH = '/usr/lib/postgresql/15/bin/pgbench';

const LOADED: readonly Loaded[] = [
  {
    name: 'campaigns of a tenant with their ads',
    query: '{ campaigns(order_by: {id: asc}) { id name state ads(order_by: {id: asc}) { id name tags } } }',
    isOfTenant: true,
    requests: 2000,
  },
  {
    name: 'counts of a tenant',
    query: '{ ads_aggregate { aggregate { count } } }',
    isOfTenant: true,
    requests: 2000,
  },
  {
    name: 'a list over all shards',
    query: '{ companies(order_by: {id: desc}, limit: 20) { id name seats } }',
    isOfTenant: false,
    requests: 200,
  },
  {
    name: 'a list over all shards with lists inside',
    query: '{ companies(order_by: {id: asc}, limit: 20) { id campaigns(order_by: {id: asc}) { id name } } }',
    isOfTenant: false,
    requests: 100,
  },
];

const ROWS = `
insert into plans select n, 'plan ' || n, n * 10 from generate_series(1, 3) n;
insert into companies select n, 'company ' || n, 1 + n % 3, n % 500 from generate_series(1, ${TENANT_COUNT}) n;
insert into campaigns (company_id, id, name, state, budget)
  select c, c * 10 + n, 'campaign ' || n || ' of ' || c, (array['running', 'paused', 'done'])[1 + (c + n) % 3], c + n
  from generate_series(1, ${TENANT_COUNT}) c, generate_series(1, 4) n;
insert into ads (company_id, id, campaign_id, name, tags, settings)
  select company_id, id * 10 + n, id, 'ad ' || n || ' of ' || id, array['t' || n, 'x'], jsonb_build_object('rank', n)
  from campaigns, generate_series(1, 3) n;
`;

export async function load(
  cluster: Cluster,
  { citusUrl, postgresUrl }: Servers,
  folder: string,
): Promise<Readonly<Record<string, LoadFigure>>> {
  await fill(citusUrl, DISTRIBUTION);
  await fill(postgresUrl, '');
  const overCluster = await startEngine({
    ...process.env,
    ...SETTINGS,
    ENGINE_GRAPHQL_DATABASE_URL: citusUrl,
  });
  const overPlain = await startEngine({
    ...process.env,
    ...SETTINGS,
    ENGINE_GRAPHQL_DATABASE_URL: postgresUrl,
  });
  try {
    const figures: Record<string, LoadFigure> = {};
    for (const engine of [overCluster, overPlain]) await track(engine);
    for (const each of LOADED) {
      const script = join(folder, 'statement.sql');
      writeFileSync(script, await scriptOf(overCluster, each));
      figures[each.name] = await measure(each, { cluster, citusUrl, overCluster, overPlain, script });
    }
    return figures;
  } finally {
    await overCluster.stop();
    await overPlain.stop();
  }
}

const SETTINGS = { ENGINE_GRAPHQL_ADMIN_SECRET: 'load', ENGINE_GRAPHQL_LOG_LEVEL: 'error' };
const HEADERS = { 'content-type': 'application/json', 'x-engine-admin-secret': 'load' };

async function fill(url: string, distribution: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (const part of [SCHEMA, distribution, AFTER_DISTRIBUTION, ROWS]) await client.query(part);
    for (const table of ['companies', 'campaigns', 'ads']) await client.query(`vacuum analyze ${table}`);
  } finally {
    await client.end();
  }
}

async function track({ url }: Engine): Promise<void> {
  const kind = 'postgres';
  const configuration = { connection_info: { database_url: { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' } } };
  const source = { name: 'default', kind, configuration, tables: TABLES, functions: FUNCTIONS };
  await post(`${url}/v1/metadata`, { type: 'replace_metadata', args: { version: 3, sources: [source] } });
}

async function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const given = await fetch(url, {
    method: 'POST',
    headers: { ...HEADERS, ...headers },
    body: JSON.stringify(body),
  });
  const answer = (await given.json()) as { readonly errors?: unknown };
  if (!given.ok || answer.errors) throw new Error(JSON.stringify(answer).slice(0, 500));
  return answer;
}

/** Returns the statement of the request as a script of pgbench, with another tenant each time. */
async function scriptOf({ url }: Engine, { query, isOfTenant }: Loaded): Promise<string> {
  const user = isOfTenant ? sessionOf(1) : {};
  const answer = await post(`${url}/v1/graphql/explain`, { query: { query }, user });
  const [{ sql: text }] = answer as readonly [{ readonly sql: string }];
  const tenant = `\\set tenant random(1, ${TENANT_COUNT})\n`;
  // The only value of these requests that is no constant is the tenant.
  return `${isOfTenant ? tenant : ''}${text.replaceAll('$1', ':tenant')};\n`;
}

function sessionOf(tenant: number): Readonly<Record<string, string>> {
  return { 'x-engine-role': 'tenant', 'x-engine-company-id': String(tenant) };
}

type Loading = {
  readonly cluster: Cluster;
  readonly citusUrl: string;
  readonly overCluster: Engine;
  readonly overPlain: Engine;
  readonly script: string;
};

async function measure(each: Loaded, loading: Loading): Promise<LoadFigure> {
  const { cluster, citusUrl, overCluster, overPlain, script } = loading;
  const rounds: Omit<LoadFigure, 'isOfTenant'>[] = [];
  // The first round fills caches.
  for (let round = 0; round <= ROUNDS; round++) {
    const ofCluster = cluster.postmasters();
    const pgbench = await timeOf(each, ofCluster, () => runPgbench(each, citusUrl, script));
    const plainEngine = await timeOf(each, [overPlain.pid], () => send(each, overPlain));
    const before = processorTimeOf(overCluster.pid);
    const ofStatements = await timeOf(each, ofCluster, () => send(each, overCluster));
    const engine = (processorTimeOf(overCluster.pid) - before) / each.requests;
    const ratio = (engine + ofStatements) / (pgbench + plainEngine);
    if (round > 0) rounds.push({ pgbench, engine, cluster: ofStatements, plainEngine, ratio });
  }
  return {
    isOfTenant: each.isOfTenant,
    pgbench: median(rounds.map((round) => round.pgbench)),
    engine: median(rounds.map((round) => round.engine)),
    cluster: median(rounds.map((round) => round.cluster)),
    plainEngine: median(rounds.map((round) => round.plainEngine)),
    ratio: median(rounds.map((round) => round.ratio)),
  };
}

/** Returns the processor time that processes spend for one request. */
async function timeOf({ requests }: Loaded, pids: readonly number[], work: () => unknown): Promise<number> {
  const total = () => pids.reduce((sum, pid) => sum + processorTimeOf(pid), 0);
  const before = total();
  await work();
  return (total() - before) / requests;
}

function runPgbench({ requests }: Loaded, url: string, script: string): void {
  const count = ['-c', String(CLIENTS), '-t', String(requests / CLIENTS)];
  execFileSync(PGBENCH, ['-n', '-M', 'prepared', ...count, '-f', script, url], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

async function send({ query, isOfTenant, requests }: Loaded, { url }: Engine): Promise<void> {
  const client = async () => {
    for (let i = 0; i < requests / CLIENTS; i++) {
      const tenant = 1 + Math.floor(Math.random() * TENANT_COUNT);
      await post(`${url}/v1/graphql`, { query }, isOfTenant ? sessionOf(tenant) : {});
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!;
}
