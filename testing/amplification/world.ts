/** Creates the world of the amplification cases: sixty tables in a chain of relationships in both directions, which everybody may read
 *  and write. Not here: the cases (documents.ts, answers.ts, changes.ts), the service beside them (service.ts), the engine (meter.ts). */
import pg from 'pg';
import { ADMIN_SECRET } from '../attack/limited-engine.ts';
import { type AmplificationService, servedBy } from './service.ts';

export const TABLES = 60;
const ROWS = 3;

/** Returns the name of a table; the chain is a ring. */
export function tableName(index: number): string {
  return `amplified_${(index + TABLES) % TABLES}`;
}

const LARGE_QUERY = `query large($l: [Int!]!) { ${tableName(0)}(where: { id: { _in: $l } }) { id } }`;

/** The metadata of an endpoint whose query takes a list of any length. */
export const LARGE_ENDPOINT = {
  query_collections: [{ name: 'stored', definition: { queries: [{ name: 'large', query: LARGE_QUERY }] } }],
  rest_endpoints: [
    {
      name: 'large',
      url: 'large',
      methods: ['POST'],
      definition: { query: { collection_name: 'stored', query_name: 'large' } },
    },
  ],
};

const indices = Array.from({ length: TABLES }, (_, i) => i);

const SQL = indices
  .map(
    (
      i,
    ) => `create table ${tableName(i)} (id int primary key, name text, amount numeric, flag boolean, doc jsonb, tags text[],
  at timestamptz, before_id int);
insert into ${tableName(i)} select i, 'row ' || i, i, true, '{"a": 1}', array['x'], now(), i from generate_series(1, ${ROWS}) i;`,
  )
  .join('\n');

export async function createAmplificationWorld(
  databaseUrl: string,
  engineUrl: string,
  { adminSecret = ADMIN_SECRET, service }: WorldOptions = {},
): Promise<void> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  await database.query(SQL);
  await database.end();
  const response = await fetch(`${engineUrl}/v1/metadata`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-engine-admin-secret': adminSecret },
    body: JSON.stringify({ type: 'replace_metadata', args: metadata(service) }),
  });
  if (!response.ok) throw new Error(`replace_metadata: ${await response.text()}`);
}

type WorldOptions = { readonly adminSecret?: string; readonly service?: AmplificationService };

function metadata(service: AmplificationService | undefined): unknown {
  const table = (i: number) => ({ schema: 'public', name: tableName(i) });
  const role = 'anonymous';
  const relationship = (to: number, columns: Readonly<Record<string, string>>) => ({
    manual_configuration: { remote_table: table(to), column_mapping: columns },
  });
  const tables = indices.map((i) => ({
    table: table(i),
    object_relationships: [{ name: 'before', using: relationship(i - 1, { before_id: 'id' }) }],
    array_relationships: [{ name: 'after', using: relationship(i + 1, { id: 'before_id' }) }],
    select_permissions: [{ role, permission: { columns: '*', filter: {}, allow_aggregations: true } }],
    insert_permissions: [{ role, permission: { columns: '*', check: {} } }],
    update_permissions: [{ role, permission: { columns: '*', filter: {}, check: {} } }],
    delete_permissions: [{ role, permission: { filter: {} } }],
  }));
  const configuration = { connection_info: { database_url: { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' } } };
  const source = { name: 'default', kind: 'postgres', configuration, tables };
  return { version: 3, sources: [source], ...LARGE_ENDPOINT, ...(service ? servedBy(service) : {}) };
}
