/** Compares the lanes with reality once no request runs: the contents of the databases, the metadata that each engine returns, and its
 *  answers to a role. Out: problems; none when all agree with each other and with the acknowledged requests.
 *  Not here: sending the requests (writer.ts). */
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { ABSENT, type LaneState, ROLE, type SourceName } from './lane.ts';
import { post } from './post.ts';
import { secretAt } from './secret-echo.ts';
import type { Writer } from './writer.ts';

export type Databases = Readonly<Record<SourceName, pg.Client>>;

/** How long a replica may take to follow a changed value. */
const FOLLOW_MS = 2000;

type Found = Pick<LaneState, 'table' | 'column' | 'hasTrigger'>;
type Table = {
  readonly table: { readonly name: string };
  readonly configuration?: { readonly comment?: string };
  readonly select_permissions?: readonly { readonly permission: { readonly columns: readonly string[] } }[];
  readonly event_triggers?: readonly unknown[];
};
type Document = {
  readonly resource_version: number;
  readonly metadata: {
    readonly sources: readonly { readonly name: string; readonly tables: readonly Table[] }[];
  };
};

/** Returns the problems of all lanes, and sets the state of each lane to the one found. */
export async function problemsOf(
  writers: readonly Writer[],
  urls: readonly string[],
  databases: Databases,
): Promise<readonly string[]> {
  const version = await storedVersion(databases.default);
  const documents = await Promise.all(urls.map((url) => documentAt(url, version)));
  const different = documents.filter((document) => !isDeepStrictEqual(document, documents[0]));
  const problems = different.map(() => 'two engines have different documents');
  for (const url of urls) problems.push(...(await inconsistenciesAt(url)));
  for (const writer of writers) {
    problems.push(
      ...writer.problems.splice(0),
      ...(await problemsOfLane(writer, urls, databases, documents[0]!)),
    );
  }
  return problems;
}

async function problemsOfLane(
  writer: Writer,
  urls: readonly string[],
  databases: Databases,
  document: Document,
): Promise<readonly string[]> {
  const { name, source } = writer.lane;
  const client = databases[source];
  const inDatabase = await inDatabaseOf(client, name);
  const tracked = trackedAs(document, source, name);
  const told = (what: string) =>
    `${name} in ${source}: ${what}; possible ${JSON.stringify(writer.possible)}, in the database ` +
    `${JSON.stringify(inDatabase)}, in the metadata ${JSON.stringify(tracked)}`;
  const { note, ...inMetadata } = tracked;
  if (!isDeepStrictEqual(inDatabase, inMetadata)) return [told('metadata and database disagree')];
  const rows = inDatabase.table === null ? 0 : await countOf(client, inDatabase.table);
  const secret = await sharedSecret(urls, name);
  if (secret === null) return [told('the engines send different secrets')];
  const state: LaneState = { ...inDatabase, note, rows, secret };
  if (!writer.possible.some((possible) => isDeepStrictEqual(possible, state)))
    return [told(`${rows} rows, ${JSON.stringify(secret)}, lost`)];
  writer.possible = [state];
  const wrong = await Promise.all(urls.map((url) => isAnswered(url, state)));
  return wrong.filter((is) => !is).map(() => told('a role is answered otherwise'));
}

async function inDatabaseOf(client: pg.Client, lane: string): Promise<Found> {
  const found = await client.query(
    `select c.relname, a.attname, exists (
              select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal) as has_trigger
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum = 2
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname like $1`,
    [`${lane}\\_%`],
  );
  const { table, column, hasTrigger } = ABSENT;
  if (found.rows.length === 0) return { table, column, hasTrigger };
  const [row] = found.rows;
  const names = found.rows.map(({ relname }) => relname).join(' and ');
  return { table: names, column: row.attname, hasTrigger: row.has_trigger };
}

function trackedAs(
  { metadata }: Document,
  source: SourceName,
  lane: string,
): Found & Pick<LaneState, 'note'> {
  const tables = metadata.sources.find(({ name }) => name === source)?.tables ?? [];
  const [table] = tables.filter((one) => one.table.name.startsWith(`${lane}_`));
  if (!table) {
    const { rows: _rows, secret: _secret, ...absent } = ABSENT;
    return absent;
  }
  return {
    table: table.table.name,
    column: table.select_permissions?.[0]?.permission.columns.find((name) => name !== 'id') ?? '',
    hasTrigger: (table.event_triggers ?? []).length > 0,
    note: table.configuration?.comment ?? '',
  };
}

async function countOf(client: pg.Client, table: string): Promise<number> {
  const found = await client.query(`select count(*)::int as n from ${table}`);
  return found.rows[0].n;
}

/** Returns the named value that all engines send; null when they still differ after two seconds. */
async function sharedSecret(urls: readonly string[], lane: string): Promise<string | null> {
  const deadline = Date.now() + FOLLOW_MS;
  for (;;) {
    const secrets = await Promise.all(urls.map((url) => secretAt(url, lane)));
    if (secrets.every((secret) => secret === secrets[0])) return secrets[0] ?? null;
    if (Date.now() > deadline) return null;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Returns true when the role receives all rows through GraphQL, under the current name of the column. */
async function isAnswered(url: string, { table, column, rows }: LaneState): Promise<boolean> {
  if (table === null) return true;
  const answer = await post(
    `${url}/v1/graphql`,
    { query: `{ ${table} { ${column} } }` },
    { 'x-engine-role': ROLE },
  );
  const found = JSON.parse(answer?.text ?? '{}') as { data?: Record<string, unknown[]> };
  return found.data?.[table]?.length === rows;
}

async function storedVersion(client: pg.Client): Promise<number> {
  const found = await client.query('select resource_version::int as version from pergola.metadata');
  return found.rows[0].version;
}

/** Returns the document of an engine once it has loaded the version. */
async function documentAt(url: string, version: number): Promise<Document> {
  for (;;) {
    const answer = await post(`${url}/v1/metadata`, { type: 'export_metadata', version: 2, args: {} });
    const document = JSON.parse(answer?.text ?? 'null') as Document;
    if (document.resource_version >= version) return document;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function inconsistenciesAt(url: string): Promise<readonly string[]> {
  const answer = await post(`${url}/v1/metadata`, { type: 'get_inconsistent_metadata', args: {} });
  const { is_consistent: isConsistent } = JSON.parse(answer?.text ?? '{}') as { is_consistent?: boolean };
  return isConsistent ? [] : [`inconsistent: ${answer?.text}`];
}
