/** Two engines over the same schema and rows, one over a Citus cluster and one over a plain Postgres, and the differences of their answers.
 *  In: the URLs of both servers. Out: for each operation, what is wrong with the answer of the cluster, or null. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { splitSteps } from '../../engine/catalog/split-statements.ts';
import type { QualifiedName } from '../../engine/metadata/schema/common.ts';
import { finish } from '../../engine/metadata/steps.ts';
import { type GraphqlAnswer, replaceMetadata, startTestEngine, type TestEngine } from '../engine.ts';
import { openSocket } from '../websocket.ts';
import { OPERATIONS, type Operation, REFUSALS, type Refusal } from './operations.ts';
import {
  AFTER_DISTRIBUTION,
  BY_SCHEMA,
  COUNTERS,
  DISTRIBUTED_FUNCTIONS,
  DISTRIBUTION,
  FUNCTIONS,
  NATIVE,
  ROWS,
  SCHEMA,
  SEQUENCES,
  TABLES,
  TABLES_WITH_ROWS,
  TENANT_SCHEMA,
  VIEW,
} from './schema.ts';

export type Verdict = { readonly name: string; readonly problem: string | null };

/** How the cluster has the tables: each in its own way, or all of them in distributed schemas. */
export type Sharding = 'by row' | 'by schema';

type Side = { readonly engine: TestEngine; readonly client: pg.Client };

/** The most characters of an answer in a problem. */
const MOST_CHARACTERS = 400;
/** The first generated id of an operation is this times its number, on both sides, even if an earlier one has failed on one of them. */
const IDS = 100_000;

export class Comparison {
  readonly #urls: { readonly citusUrl: string; readonly postgresUrl: string };
  readonly #sharding: Sharding;
  #citus: Side | null = null;
  #postgres: Side | null = null;

  constructor(
    urls: { readonly citusUrl: string; readonly postgresUrl: string },
    sharding: Sharding = 'by row',
  ) {
    this.#urls = urls;
    this.#sharding = sharding;
  }

  async open(): Promise<void> {
    const name = `ads_${randomUUID().slice(0, 8)}`;
    const plain = new pg.Client(this.#urls.postgresUrl);
    await plain.connect();
    await plain.query(`create database ${name}`);
    await plain.end();
    const url = new URL(this.#urls.postgresUrl);
    url.pathname = `/${name}`;
    this.#postgres = await openSide(url.href, PLAIN);
    const setUp =
      this.#sharding === 'by row'
        ? ROWS_APART
        : { ...SCHEMAS_APART, rows: await insertsOf(this.#postgres.client) };
    this.#citus = await openSide(this.#urls.citusUrl, setUp);
  }

  async *run(): AsyncGenerator<Verdict> {
    // The ids of nodes have the schema of their table.
    const operations = OPERATIONS.filter(({ isRelay }) => this.#sharding === 'by row' || !isRelay);
    for (const [i, operation] of operations.entries()) {
      const before = await executions(this.#citus!);
      const [expected, actual] = await this.#both((side) => answerOf(side, operation, i + 1));
      yield { name: operation.name, problem: problemOf(expected, actual, operation) };
      if (isOfOneShard(operation)) {
        const problem = shardsProblem(before, await executions(this.#citus!));
        yield { name: `the shards of ${operation.name}`, problem };
      }
    }
    for (const operation of operations.filter(isOfOneShard).filter(isQuery)) {
      yield { name: `the tasks of ${operation.name}`, problem: await tasksProblem(this.#citus!, operation) };
    }
    for (const refusal of this.#sharding === 'by row' ? REFUSALS : [])
      yield { name: refusal.name, problem: await refusalProblem(this.#citus!, refusal) };
    if (this.#sharding === 'by schema') {
      yield { name: 'the distribution of each table', problem: await distributionProblem(this.#citus!) };
    }
    const tracked = TABLES as readonly { table: { schema: string; name: string } }[];
    // Citus loses the names of the columns of a view in its row.
    for (const { table } of tracked.filter((each) => each.table.name !== VIEW)) {
      const name = table.schema === 'public' ? table.name : `${table.schema}.${table.name}`;
      const [expected, actual] = await this.#both(
        async ({ client }) =>
          (await client.query(`select to_json(t)::text as row from ${name} t order by 1`)).rows,
      );
      yield { name: `the rows of ${name}`, problem: problemOf(expected, actual, {}) };
    }
  }

  async close(): Promise<void> {
    for (const side of [this.#citus, this.#postgres]) {
      await side?.engine.close();
      await side?.client.end();
    }
  }

  #both<T>(of: (side: Side) => Promise<T>): Promise<[T, T]> {
    return Promise.all([of(this.#postgres!), of(this.#citus!)]);
  }
}

/** The SQL before the tables are created, and the SQL that distributes them; the schema of the tables. */
type SideSetUp = {
  readonly before: string;
  readonly distribution: string;
  readonly rows: string;
  readonly schema: string;
};

const PLAIN: SideSetUp = { before: '', distribution: '', rows: ROWS, schema: 'public' };
const ROWS_APART: SideSetUp = {
  ...PLAIN,
  before: COUNTERS,
  distribution: DISTRIBUTION,
  rows: DISTRIBUTED_FUNCTIONS + ROWS,
};
const SCHEMAS_APART: SideSetUp = { ...PLAIN, before: COUNTERS + BY_SCHEMA, schema: TENANT_SCHEMA };

async function openSide(url: string, { before, distribution, rows, schema }: SideSetUp): Promise<Side> {
  const client = new pg.Client(url);
  // An error of a statement reaches who has sent it; this one is of a connection that the server ends.
  client.on('error', () => {});
  await client.connect();
  for (const part of [before, SCHEMA, distribution, AFTER_DISTRIBUTION, rows]) {
    // Citus sends a text of several statements about one shard as one.
    for (const statement of finish(splitSteps(part))) await client.query(statement);
  }
  const engine = await startTestEngine({ databaseUrl: url, experimentalFeatures: ['group_by'] });
  const source = inSchema({ tables: TABLES, functions: FUNCTIONS, ...NATIVE }, schema);
  const { status, body } = await replaceMetadata(engine, source);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { engine, client };
}

/** Returns statements that insert the rows of all tables, each as it is: Citus 13.2 fails in an INSERT that computes values from rows of a
 *  distributed schema. */
async function insertsOf(client: pg.Client): Promise<string> {
  const types = { getTypeParser: () => (text: string) => text };
  const statements: string[] = [];
  for (const name of TABLES_WITH_ROWS) {
    const text = `select * from ${name}`;
    const { rows } = await client.query<(string | null)[]>({ text, rowMode: 'array', types });
    const values = rows.map((row) => `(${row.map((value) => literal(client, value)).join(', ')})`);
    statements.push(`insert into ${name} values ${values.join(', ')};`);
  }
  return statements.join('\n');
}

function literal(client: pg.Client, value: string | null): string {
  return value === null ? 'null' : client.escapeLiteral(value);
}

/** Returns the metadata with the tables and functions of another schema, which keep their names in GraphQL. */
function inSchema(source: object, schema: string): object {
  if (schema === 'public') return source;
  const moved = JSON.parse(
    JSON.stringify(source).replaceAll('"schema":"public"', `"schema":"${schema}"`),
  ) as {
    readonly tables: readonly Named[];
    readonly functions: readonly Named[];
  };
  const named = (object: Named) => {
    const { name, schema: own } = object.table ?? object.function!;
    return own === schema ? { ...object, configuration: { custom_name: name } } : object;
  };
  return { ...moved, tables: moved.tables.map(named), functions: moved.functions.map(named) };
}

type Named = { readonly table?: QualifiedName; readonly function?: QualifiedName };

function isOfOneShard({ company, isSpread }: Operation): boolean {
  return company !== undefined && !isSpread;
}

function isQuery({ query }: Operation): boolean {
  return query.startsWith('{');
}

/** The plans that the coordinator has run so far, by the number of their shards. */
type Executions = { readonly one: number; readonly several: number };

async function executions({ client }: Side): Promise<Executions> {
  const { rows } = await client.query<Executions>(
    `select query_execution_single_shard::int as one, query_execution_multi_shard::int as several
     from citus_stat_counters where name = current_database()`,
  );
  return rows[0] ?? { one: 0, several: 0 };
}

/** Returns what is wrong unless every plan that has run meanwhile was for one shard. */
function shardsProblem(before: Executions, after: Executions): string | null {
  const [one, several] = [after.one - before.one, after.several - before.several];
  return one > 0 && several === 0 ? null : `${one} plans for one shard, ${several} for several`;
}

/** Returns what is wrong unless a request of a tenant is one task for one shard, with the tasks of its CTEs. */
async function tasksProblem({ engine }: Side, { query, company }: Operation): Promise<string | null> {
  const user = { 'x-engine-role': 'tenant', 'x-engine-company-id': String(company) };
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ query: { query }, user });
  const response = await engine.fetch('/v1/graphql/explain', { method: 'POST', headers, body });
  const answer: unknown = await response.json();
  if (!Array.isArray(answer)) return short(answer);
  type Explained = {
    readonly plan: readonly string[];
    readonly distributions?: Readonly<Record<string, string>>;
  };
  const roots = answer as readonly Explained[];
  if (roots.some(({ distributions = {} }) => Object.keys(distributions).length === 0)) {
    return 'explain names the distribution of no table';
  }
  const tasks = roots.flatMap(({ plan }) => plan.filter((line) => line.includes('Task Count:')));
  const several = tasks.filter((line) => !line.endsWith('Task Count: 1'));
  return tasks.length > 0 && several.length === 0
    ? null
    : `${several.length} of ${tasks.length} parts have several tasks`;
}

/** Returns what is wrong unless each table is reported as one shard. */
async function distributionProblem({ engine }: Side): Promise<string | null> {
  const { body } = await engine.admin('get_inconsistent_metadata', { include_keys: true });
  const { distributions = {} } = body as { readonly distributions?: Readonly<Record<string, string>> };
  const texts = Object.values(distributions);
  const areShards = texts.every((text) => /^on one shard \(colocation \d+\)$/.test(text));
  return texts.length === TABLES_WITH_ROWS.length && areShards ? null : short(distributions);
}

/** Returns what is wrong unless a declaration is refused and leaves nothing. */
async function refusalProblem(
  { engine, client }: Side,
  { sql, type, args, reason }: Refusal,
): Promise<string | null> {
  await client.query(sql);
  const { body } = await engine.admin(type, { source: 'default', ...args });
  if (!JSON.stringify(body).includes(reason)) return `${short(body)} without "${reason}"`;
  const { rows } = await client.query(`select tgname from pg_trigger where tgname like 'pergola%'`);
  return rows.length > 0 ? `triggers are left: ${short(rows)}` : null;
}

async function answerOf(
  { engine, client }: Side,
  operation: Operation,
  number: number,
): Promise<GraphqlAnswer<unknown>> {
  const { query, variables, company, isRelay } = operation;
  const headers = company === undefined ? {} : { 'x-engine-company-id': String(company) };
  const role = company === undefined ? 'admin' : 'tenant';
  if (query.startsWith('subscription'))
    return firstAnswer(engine, operation, { ...headers, 'x-engine-role': role });
  const restarts = SEQUENCES.map((each) => `setval('${each}', ${number * IDS})`);
  if (query.startsWith('mutation')) await client.query(`select ${restarts.join(', ')}`);
  if (!isRelay) return engine.graphql(query, { role, headers, ...(variables ? { variables } : {}) });
  const body = JSON.stringify({ query, variables });
  const type = { 'content-type': 'application/json', 'x-engine-role': role };
  const answer = await engine.fetch('/v1beta1/relay', {
    method: 'POST',
    body,
    headers: { ...headers, ...type },
  });
  return answer.json() as never;
}

async function firstAnswer(
  engine: TestEngine,
  { query }: Operation,
  headers: Readonly<Record<string, string>>,
): Promise<GraphqlAnswer<unknown>> {
  const socket = await openSocket(engine.url, 'graphql-transport-ws', {
    ...headers,
    'x-engine-admin-secret': engine.adminSecret,
  });
  try {
    socket.send({ type: 'connection_init' });
    await socket.next();
    socket.send({ type: 'subscribe', id: '1', payload: { query } });
    const { type, payload } = await socket.next();
    return (type === 'error' ? { errors: payload } : payload) as GraphqlAnswer<unknown>;
  } finally {
    socket.close();
  }
}

function problemOf(
  expected: unknown,
  actual: unknown,
  { isUnordered, isError }: Pick<Operation, 'isUnordered' | 'isError'>,
): string | null {
  const form = isUnordered ? asSets : (value: unknown) => value;
  if (isDeepStrictEqual(form(expected), form(actual))) {
    return reasonOf(expected) !== null && !isError ? `both answer ${reasonOf(expected)}` : null;
  }
  return `${reasonOf(actual) ?? short(actual)} instead of ${reasonOf(expected) ?? short(expected)}`;
}

/** Returns the words of the database in an answer that is an error. */
function reasonOf(answer: unknown): string | null {
  const [error] = (answer as GraphqlAnswer<unknown>).errors ?? [];
  if (!error) return null;
  const { internal } = error.extensions as { internal?: { error?: { message?: string } } };
  return `the error "${internal?.error?.message ?? error.message}"`;
}

/** Returns the value with the items of each list in the order of their texts. */
function asSets(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(asSets).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, asSets(each)]));
}

function short(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
