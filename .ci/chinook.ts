/** Declares the Chinook database as custom resources (every table with its foreign-key relationships, three roles) and compares the
 *  answers to the benchmark's queries with SQL that psql runs. In: the data and bench folders (--shared). Out: the comparisons that
 *  failed, `N passed, N failed`, --out JSON. Not here: speed (the benchmark's own rig). */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { startEngine } from '../testing/engine-process.ts';

const { values: options } = parseArgs({
  options: { shared: { type: 'string', default: '../shared' }, out: { type: 'string' } },
});
const shared = resolve(options.shared);
const SECRET = 'chinook';
const folder = mkdtempSync(join(tmpdir(), 'pergola-chinook-'));
const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
const counts = { passed: 0, failed: 0 };

type Relationship = {
  name: string;
  using: { foreign_key_constraint_on: string | { column: string; table: { schema: string; name: string } } };
};
type Rule = { columns: string[]; filter: object };
type TrackedTable = {
  table: { schema: string; name: string };
  object_relationships?: Relationship[];
  array_relationships?: Relationship[];
  select_permissions?: { role: string; permission: Rule }[];
};
type BenchQuery = {
  name: string;
  variants: Record<string, unknown>[];
  mutation?: boolean;
  nocheck?: boolean;
  engine: { query: string };
  sql: {
    root: string;
    text: string | ((v: object) => string);
    params: (v: object, session: { userId: number }) => unknown[];
  };
};

try {
  await run();
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`chinook: ${counts.passed} passed, ${counts.failed} failed`);
if (options.out) writeFileSync(options.out, JSON.stringify(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;

async function run(): Promise<void> {
  // The dump is in a Windows code page; as UTF-8 it silently loses rows.
  const dump = gunzipSync(readFileSync(join(shared, 'data/chinook/dump.sql.gz')));
  psql(dump, { PGCLIENTENCODING: 'WIN1252' });
  const { url, stop } = await startEngine({
    ...process.env,
    ENGINE_GRAPHQL_DATABASE_URL: postgres.url,
    ENGINE_GRAPHQL_ADMIN_SECRET: SECRET,
  });
  try {
    const tables = trackedTables();
    const resources = join(folder, 'resources');
    execFileSync('mkdir', ['-p', resources]);
    writeFileSync(
      join(resources, 'chinook.json'),
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: toResources(tables) }),
    );
    const applied = execFileSync(
      'node',
      ['bin/pergola.mjs', 'apply', '-f', resources, '--engine', url, '-o', 'json'],
      {
        env: { ...process.env, ENGINE_GRAPHQL_ADMIN_SECRET: SECRET },
        encoding: 'utf8',
      },
    );
    check('every custom resource is Ready', applied.length > 0);
    await compareBenchQueries(url);
    await compareRoles(url, tables);
  } finally {
    await stop();
  }
}

function trackedTables(): TrackedTable[] {
  const file = JSON.parse(readFileSync(join(shared, 'data/chinook/replace_metadata.json'), 'utf8')) as {
    args: { metadata: { sources: { tables: TrackedTable[] }[] } };
  };
  return file.args.metadata.sources[0]!.tables;
}

/** A Table per table with its relationships and the employee's permission inline; a TablePermission for each customer rule
 *  and for a third role that sees the catalogue of music only, without prices and composers. */
function toResources(tables: TrackedTable[]): object[] {
  const resource = (kind: string, name: string, spec: object) => ({
    apiVersion: 'pergola.dev/v1alpha1',
    kind,
    metadata: { name },
    spec,
  });
  const music = new Set(['Album', 'Artist', 'Genre', 'MediaType', 'Playlist', 'PlaylistTrack', 'Track']);
  return tables.flatMap((t) => {
    const name = t.table.name.toLowerCase();
    const rule = (role: string) => t.select_permissions?.find((p) => p.role === role)?.permission;
    const employee = rule('employee');
    const customer = rule('customer');
    return [
      resource('Table', name, {
        table: t.table.name,
        objectRelationships: (t.object_relationships ?? []).map((r) => ({
          name: r.name,
          foreignKey: { columns: [r.using.foreign_key_constraint_on] },
        })),
        arrayRelationships: (t.array_relationships ?? []).map((r) => {
          const on = r.using.foreign_key_constraint_on as { column: string; table: { name: string } };
          return { name: r.name, foreignKey: { columns: [on.column], table: on.table.name } };
        }),
        permissions: employee
          ? [{ role: 'employee', select: { columns: employee.columns, filter: employee.filter } }]
          : [],
      }),
      ...(customer
        ? [
            resource('TablePermission', `${name}-customer`, {
              table: t.table.name,
              role: 'customer',
              select: customer,
            }),
          ]
        : []),
      ...(music.has(t.table.name)
        ? [
            resource('TablePermission', `${name}-listener`, {
              table: t.table.name,
              role: 'listener',
              select: listenerRule(t),
            }),
          ]
        : []),
    ];
  });
}

function listenerRule(t: TrackedTable): Rule {
  const columns = t.select_permissions?.[0]?.permission.columns ?? [];
  const hidden = ['UnitPrice', 'Composer', 'Bytes'];
  const filter = t.table.name === 'Track' ? { Genre: { Name: { _in: ['Jazz', 'Blues'] } } } : {};
  return { columns: columns.filter((column) => !hidden.includes(column)), filter };
}

async function compareBenchQueries(url: string): Promise<void> {
  const { queries } = (await import(join(shared, 'bench/queries/queries.mjs'))) as { queries: BenchQuery[] };
  for (const query of queries.filter((q) => !q.nocheck)) {
    for (const variables of query.variants) {
      const text = typeof query.sql.text === 'function' ? query.sql.text(variables) : query.sql.text;
      const expected = JSON.parse(
        psqlQuery(text, query.sql.params(variables, { userId: 4 })) || 'null',
      ) as unknown;
      const answer = await graphql(url, query.engine.query, query.mutation ? 'admin' : 'employee', variables);
      const actual = (answer.data as Record<string, unknown> | undefined)?.[query.sql.root];
      check(`${query.name} ${JSON.stringify(variables)}`, isDeepStrictEqual(actual, expected), answer.errors);
    }
  }
}

async function compareRoles(url: string, tables: TrackedTable[]): Promise<void> {
  const listener = await graphql(
    url,
    '{ Track(order_by: {TrackId: asc}) { TrackId Name Genre { Name } } }',
    'listener',
  );
  const jazz = psqlQuery(
    `select json_agg(json_build_object('TrackId', t."TrackId", 'Name', t."Name", 'Genre', json_build_object('Name', g."Name")) order by t."TrackId")
     from "Track" t join "Genre" g using ("GenreId") where g."Name" in ('Jazz', 'Blues')`,
    [],
  );
  check(
    'a listener sees jazz and blues only',
    isDeepStrictEqual((listener.data as { Track: unknown })?.Track, JSON.parse(jazz)),
    listener.errors,
  );
  const hidden = await graphql(url, '{ Track { UnitPrice } }', 'listener');
  check(
    'a listener has no prices',
    hidden.errors?.[0]?.message === "field 'UnitPrice' not found in type: 'Track'",
    hidden,
  );
  const invoices = await graphql(url, '{ Invoice { InvoiceId } }', 'listener');
  check(
    'a listener has no invoices',
    invoices.errors?.[0]?.message === "field 'Invoice' not found in type: 'query_root'",
    invoices,
  );
  for (const user of [1, 2, 59]) {
    const own = await graphql(
      url,
      '{ Customer { CustomerId } Invoice(order_by: {InvoiceId: asc}) { InvoiceId } }',
      'customer',
      {},
      user,
    );
    const expected = psqlQuery(
      `select json_build_object('Customer', (select json_agg(json_build_object('CustomerId', "CustomerId")) from "Customer" where "CustomerId" = ${user}),
        'Invoice', (select json_agg(json_build_object('InvoiceId', "InvoiceId") order by "InvoiceId") from "Invoice" where "CustomerId" = ${user}))`,
      [],
    );
    check(
      `customer ${user} sees their own rows only`,
      isDeepStrictEqual(own.data, JSON.parse(expected)),
      own.errors,
    );
  }
  for (const { table } of tables) {
    const all = await graphql(url, `{ ${table.name} { __typename } }`, 'admin');
    const rows = Number(psqlQuery(`select count(*) from "${table.name}"`, []));
    check(
      `admin sees all ${rows} rows of ${table.name}`,
      (all.data as Record<string, unknown[]>)?.[table.name]?.length === rows,
      all.errors,
    );
  }
}

function check(name: string, holds: boolean, detail?: unknown): void {
  counts[holds ? 'passed' : 'failed']++;
  if (!holds) console.log(`FAIL ${name} ${detail === undefined ? '' : JSON.stringify(detail).slice(0, 400)}`);
}

type Answer = { data?: unknown; errors?: { message: string }[] };

async function graphql(
  url: string,
  query: string,
  role: string,
  variables: object = {},
  user = 4,
): Promise<Answer> {
  const response = await fetch(`${url}/v1/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-engine-admin-secret': SECRET,
      'x-engine-role': role,
      'x-engine-user-id': String(user),
    },
    body: JSON.stringify({ query, variables }),
  });
  return (await response.json()) as Answer;
}

function psql(input: Buffer | string, environment: Record<string, string> = {}): string {
  return execFileSync('psql', ['-qAtX', '-v', 'ON_ERROR_STOP=1', postgres.url], {
    input,
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
    maxBuffer: 1 << 28,
  });
}

/** Runs a statement with its values through PREPARE, because psql does not bind parameters. */
function psqlQuery(text: string, values: unknown[]): string {
  const literal = (value: unknown) =>
    typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`;
  const call = values.length > 0 ? `(${values.map(literal).join(', ')})` : '';
  return psql(`prepare q as ${text};\nexecute q${call};\n`).trim();
}
