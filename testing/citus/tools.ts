/** Tools on the tables of a Citus cluster: `run_sql`, migrations, and the API that `pergola up --init` makes of what they leave. In: the URL of a
 *  cluster, a folder for files. Out: what is wrong with each step. Not here: the same on a plain Postgres (bin/, engine/admin). */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { replaceMetadata, startTestEngine, type TestEngine } from '../engine.ts';
import { pergola } from '../program.ts';
import type { Verdict } from './comparison.ts';

/** Yields the verdict of each step, of which each takes what the one before has left. */
export async function* tools(url: string, folder: string): AsyncGenerator<Verdict> {
  yield { name: 'migrations', problem: await migrate(url, folder) };
  yield { name: 'up --init', problem: await up(url, folder) };
  const engine = await startTestEngine({ databaseUrl: url });
  try {
    await replaceMetadata(engine, { tables: [{ table: 'campaigns' }] });
    for (const step of STEPS)
      yield { name: `run_sql: ${step.name}`, problem: await sqlProblem(engine, step) };
  } finally {
    await engine.close();
  }
}

const MIGRATIONS: Readonly<Record<string, string>> = {
  '1_tables.sql': `
create table plans (id int primary key, name text not null);
create table companies (id bigint primary key, name text not null, plan_id int);
create table campaigns (company_id bigint not null, id bigint not null, name text not null, primary key (company_id, id));
create table ads (company_id bigint not null, id bigint not null, campaign_id bigint, primary key (company_id, id));
select create_reference_table('plans');
select create_distributed_table('companies', 'id');
select create_distributed_table('campaigns', 'company_id', colocate_with => 'companies');
select create_distributed_table('ads', 'company_id', colocate_with => 'companies');
alter table companies add foreign key (plan_id) references plans (id);
alter table campaigns add foreign key (company_id) references companies (id);
alter table ads add foreign key (company_id, campaign_id) references campaigns (company_id, id);
insert into plans values (1, 'plan 1');
insert into companies select n, 'company ' || n, 1 from generate_series(1, 9) n;
insert into campaigns select c, n, 'campaign ' || n from generate_series(1, 9) c, generate_series(1, 3) n;
insert into ads select company_id, id * 10, id from campaigns;
`,
  '2_columns.sql': `
alter table campaigns add column state text not null default 'running';
alter table ads add column name text;
update ads set name = 'ad ' || id::text;
`,
  '3_index.sql': `-- pergola: no-transaction
create index concurrently campaigns_name on campaigns (name);
`,
};

async function migrate(url: string, folder: string): Promise<string | null> {
  const migrations = join(folder, 'migrations');
  mkdirSync(migrations, { recursive: true });
  for (const [name, text] of Object.entries(MIGRATIONS)) writeFileSync(join(migrations, name), text);
  for (const command of ['up', 'up', 'verify']) {
    const { ended, output } = pergola(['migrate', command, '-f', migrations, '--database-url', url]);
    if ((await ended) !== 0) return `${command}: ${output.stdout}${output.stderr}`;
  }
  return null;
}

const REQUEST = `{ companies(order_by: {id: desc}, limit: 2, where: {plan: {name: {_eq: "plan 1"}}}) {
  id campaigns(order_by: {id: asc}, limit: 1) { name state ads { name campaign { company { id } } } } } }`;
const ANSWER = {
  companies: [9, 8].map((id) => {
    const ads = [{ name: 'ad 10', campaign: { company: { id } } }];
    return { id, campaigns: [{ name: 'campaign 1', state: 'running', ads }] };
  }),
};
/** The name of the table of a shard. */
const SHARD = /_\d{6}\b/;
const SECRET = 'tools';
/** The last line of `pergola up` when it has begun, and its address. */
const READY = 'Ctrl-C stops everything';
const CONSOLE = /Console +(http:\S+?)\/console\//;

async function up(url: string, folder: string): Promise<string | null> {
  const resources = join(folder, 'resources');
  const where = ['--database-url', url, '--data', join(folder, 'data'), '--port', '0'];
  const { child, output, ended } = pergola(['up', resources, '--init', ...where, '--admin-secret', SECRET]);
  try {
    while (!output.stdout.includes(READY) && child.exitCode === null) await sleep(50);
    const served = CONSOLE.exec(output.stdout)?.[1];
    if (served === undefined) return output.stdout + output.stderr;
    const files = readdirSync(resources, { recursive: true, encoding: 'utf8' });
    const shards = files.filter((file) => SHARD.test(file));
    if (shards.length > 0) return `resources of shards: ${shards.join(', ')}`;
    const headers = { 'content-type': 'application/json', 'x-engine-admin-secret': SECRET };
    const body = JSON.stringify({ query: REQUEST });
    const answer = await fetch(`${served}/v1/graphql`, { method: 'POST', headers, body });
    const { data, ...rest } = (await answer.json()) as { readonly data?: unknown };
    return isDeepStrictEqual(data, ANSWER) ? null : JSON.stringify({ data, ...rest });
  } finally {
    child.kill('SIGINT');
    await ended;
  }
}

/** SQL, and its result or a part of its error. */
type Step = {
  readonly name: string;
  readonly args: { readonly sql: string; readonly [option: string]: unknown };
  readonly result?: readonly (readonly string[])[];
  readonly error?: string;
  /** A request that has an answer afterwards. */
  readonly request?: string;
};

const STEPS: readonly Step[] = [
  {
    name: 'several statements that create, distribute and change a table',
    args: {
      sql: `create table clicks (company_id bigint, id bigint, primary key (company_id, id));
        select create_distributed_table('clicks', 'company_id', colocate_with => 'companies');
        alter table clicks add column price numeric; alter table clicks add column page text default 'a; b';
        alter table clicks add foreign key (company_id) references companies (id);
        insert into clicks (company_id, id, price) select n, n, n / 2.0 from generate_series(1, 4) n;
        update clicks set price = price + 1 where company_id > 2;
        select sum(price) as total, max(page) as page from clicks`,
    },
    result: [
      ['total', 'page'],
      ['7.00000000000000000000', 'a; b'],
    ],
  },
  {
    name: 'a column is renamed',
    args: { sql: 'alter table campaigns rename column state to status' },
    request: '{ campaigns(where: {status: {_eq: "running"}}) { status } }',
  },
  {
    name: 'a table is renamed',
    args: { sql: 'alter table campaigns rename to promotions; alter table promotions add column note text' },
    request: '{ promotions(where: {note: {_is_null: true}}) { note } }',
  },
  {
    name: 'statements of which one fails leave nothing',
    args: { sql: 'alter table promotions add column lost int; select 1 / 0' },
    error: 'division by zero',
    request: '{ promotions { note } }',
  },
  {
    name: 'nothing is left of those',
    args: {
      sql: "select count(*)::text as n from information_schema.columns where column_name = 'lost'",
      read_only: true,
    },
    result: [['n'], ['0']],
  },
  {
    name: 'an index outside of a transaction',
    args: {
      sql: 'create index concurrently clicks_price on clicks (price); drop index concurrently clicks_price',
      no_transaction: true,
    },
  },
  {
    name: 'a tracked table is dropped',
    args: { sql: 'drop table ads; drop table promotions cascade', cascade: true },
  },
];

/** Returns what is wrong with the result of the SQL, or with the request afterwards. */
async function sqlProblem(
  engine: TestEngine,
  { args, result, error, request }: Step,
): Promise<string | null> {
  const { body } = await engine.admin<{ readonly result?: unknown }>('run_sql', args);
  const isRight =
    error === undefined
      ? 'result' in body && (result === undefined || isDeepStrictEqual(body.result, result))
      : JSON.stringify(body).includes(error);
  if (!isRight) return JSON.stringify(body);
  if (request === undefined) return null;
  const { errors } = await engine.graphql(request);
  return errors ? JSON.stringify(errors) : null;
}
