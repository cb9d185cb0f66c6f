/** The database and the metadata of the speed measurement: a music shop with 3,500 tracks, the same rows in each run, and roles whose
 *  filters depend on the user. In: the engine's URL, that of the webhook. Out: a filled database, and an engine that serves it.
 *  Not here: the requests (workloads.ts), the server that is written by hand (by-hand/). */
import pg from 'pg';

export const ADMIN_SECRET = 'speed';
/** Both servers have as many connections, and keep them. */
export const CONNECTIONS = 8;
export const REFETCH_MS = 100;

const SCHEMA = `
create table artist (id int primary key, name text not null);
create table album (id int primary key, title text not null, artist_id int not null references artist);
create table genre (id int primary key, name text not null);
create table media_type (id int primary key, name text not null);
create table track (
  id int primary key, name text not null, composer text, album_id int not null references album,
  genre_id int not null references genre, media_type_id int not null references media_type,
  milliseconds int not null, bytes int not null, unit_price numeric(10, 2) not null);
create table playlist (id int primary key, name text not null);
create table playlist_track (
  playlist_id int not null references playlist, track_id int not null references track, primary key (playlist_id, track_id));
create table customer (
  id int primary key, name text not null, email text not null, company text, clerk_id int not null);
create table invoice (
  id int primary key, customer_id int not null references customer, issued date not null, total numeric(10, 2) not null);
create table invoice_line (
  id int primary key, invoice_id int not null references invoice, track_id int not null references track,
  unit_price numeric(10, 2) not null, quantity int not null);
create table play (
  id int primary key generated always as identity, customer_id int not null, track_id int not null, clerk_id int not null);
create table rating (
  customer_id int not null, track_id int not null, stars int not null, primary key (customer_id, track_id));
create table shipment (id int primary key generated always as identity, invoice_id int not null, address text not null);
create table shipment_by_hand (like shipment including all);
create table outbox (id int primary key generated always as identity, payload text not null, is_claimed bool not null default false);
create table counter (id int primary key, value int not null);`;

const ROWS = `
insert into artist select i, 'Artist ' || i from generate_series(1, 275) i;
insert into album select i, 'Album ' || i || ' of many', 1 + i * 7 % 275 from generate_series(1, 350) i;
insert into genre select i, 'Genre ' || i from generate_series(1, 25) i;
insert into media_type select i, 'Media type ' || i from generate_series(1, 5) i;
insert into track select i,
  (array['Love', 'Rock', 'Night', 'Blue', 'Road', 'River', 'Stone', 'Light'])[1 + i % 8] || ' song ' || i,
  case when i % 4 > 0 then 'Composer ' || i % 400 || ', "the other" ' || i % 31 end,
  1 + i % 350, least(25, 1 + i % 27), 1 + i % 5, 100000 + i * 7919 % 400000, 1000000 + i * 104729 % 9000000, 0.99 + i % 2
  from generate_series(1, 3500) i;
insert into playlist select i, 'Playlist ' || i from generate_series(1, 18) i;
insert into playlist_track select distinct 1 + i % 17, 1 + i * 13 % 3500 from generate_series(1, 8700) i;
insert into customer select i, 'Customer ' || i, 'customer' || i || '@example.com', 'Company ' || i, 3 + i % 3
  from generate_series(1, 60) i;
insert into invoice select i, 1 + i % 60, date '2024-01-01' + i, 1.98 * (1 + i % 9) from generate_series(1, 420) i;
insert into invoice_line select i, 1 + i % 420, 1 + i * 11 % 3500, 0.99, 1 + i % 3 from generate_series(1, 2240) i;
insert into rating select i, i, 3 from generate_series(1, 60) i;
insert into counter select i, 0 from generate_series(1, 100) i;
create index on album (artist_id);
create index on track (album_id);
create index on track (genre_id);
create index on playlist_track (track_id);
create index on customer (clerk_id);
create index on invoice (customer_id);
create index on invoice_line (invoice_id);`;

/** The trigger that a hand-written delivery needs; for its own table, the engine creates one. */
const OUTBOX = `
create function write_to_outbox() returns trigger language plpgsql as $$
begin
  insert into outbox (payload) values (json_build_object('event', json_build_object('op', 'INSERT', 'new', row_to_json(new)))::text);
  return null;
end $$;
create trigger write_to_outbox after insert on shipment_by_hand for each row execute function write_to_outbox();`;

/** Settings that switch off the work of Postgres that would run beside a measurement at other times in each run. */
const SETTINGS = [
  'autovacuum = off',
  "checkpoint_timeout = '1h'",
  "max_wal_size = '4GB'",
  'max_parallel_workers_per_gather = 0',
];

export async function createDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const setting of SETTINGS) await client.query(`alter system set ${setting}`);
  await client.query('select pg_reload_conf()');
  for (const text of [SCHEMA, ROWS, OUTBOX, 'vacuum analyze', 'checkpoint']) await client.query(text);
  await client.end();
}

export async function applyMetadata(engineUrl: string, webhookUrl: string): Promise<void> {
  const response = await fetch(`${engineUrl}/v1/metadata`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-engine-admin-secret': ADMIN_SECRET },
    body: JSON.stringify({ type: 'replace_metadata', args: metadata(webhookUrl) }),
  });
  if (!response.ok) throw new Error(`replace_metadata: ${response.status} ${await response.text()}`);
}

const table = (name: string) => ({ schema: 'public', name });
const to = (name: string, column: string) => ({ name, using: { foreign_key_constraint_on: column } });
const from = (name: string, of: string, column: string) => ({
  name,
  using: { foreign_key_constraint_on: { table: table(of), column } },
});
const OWN = { clerk_id: { _eq: 'X-Engine-User-Id' } };

/** Returns a select permission for each role: `staff` sees all rows, `clerk` those of the filter. */
const select = (ofClerk: object, ofStaff: object = {}) => [
  { role: 'clerk', permission: { columns: '*', filter: ofClerk } },
  { role: 'staff', permission: { columns: '*', filter: ofStaff } },
];

function metadata(webhookUrl: string): object {
  const configuration = {
    connection_info: {
      database_url: { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' },
      pool_settings: { max_connections: CONNECTIONS, idle_timeout: 3600 },
    },
  };
  const query = 'query Artist($id: Int!) { artist_by_pk(id: $id) { id name } }';
  return {
    version: 3,
    sources: [
      { name: 'default', kind: 'postgres', configuration, tables: [...catalog(), ...sales()] },
      // A source of their own: triggers read the session, for which every mutation of their source needs a transaction.
      { name: 'shipping', kind: 'postgres', configuration, tables: [shipments(webhookUrl)] },
    ],
    query_collections: [{ name: 'stored', definition: { queries: [{ name: 'artist', query }] } }],
    rest_endpoints: [
      {
        name: 'artist',
        url: 'artist/:id',
        methods: ['GET'],
        definition: { query: { collection_name: 'stored', query_name: 'artist' } },
      },
    ],
    custom_types: {
      objects: [
        {
          name: 'Quote',
          fields: [
            { name: 'price', type: 'Float!' },
            { name: 'currency', type: 'String!' },
          ],
        },
      ],
    },
    actions: [
      {
        name: 'quote',
        definition: {
          kind: 'synchronous',
          type: 'query',
          handler: `${webhookUrl}/quote`,
          arguments: [{ name: 'trackId', type: 'Int!' }],
          output_type: 'Quote',
        },
        permissions: [{ role: 'clerk' }],
      },
    ],
  };
}

/** The tables that both roles read. */
function catalog(): readonly object[] {
  return [
    {
      table: table('artist'),
      array_relationships: [from('albums', 'album', 'artist_id')],
      select_permissions: select({}),
    },
    {
      table: table('album'),
      object_relationships: [to('artist', 'artist_id')],
      array_relationships: [from('tracks', 'track', 'album_id')],
      select_permissions: select({}),
    },
    { table: table('genre'), select_permissions: select({}) },
    { table: table('media_type'), select_permissions: select({}) },
    {
      table: table('track'),
      object_relationships: [
        to('album', 'album_id'),
        to('genre', 'genre_id'),
        to('media_type', 'media_type_id'),
      ],
      select_permissions: select({ media_type_id: { _neq: 5 } }),
    },
    {
      table: table('playlist'),
      array_relationships: [from('entries', 'playlist_track', 'playlist_id')],
      select_permissions: select({}),
    },
    {
      table: table('playlist_track'),
      object_relationships: [to('track', 'track_id')],
      select_permissions: select({}),
    },
  ];
}

/** The tables of which a clerk reads and writes the own customers' rows. */
function sales(): readonly object[] {
  const customerOfClerk = { customer: OWN };
  return [
    {
      table: table('customer'),
      array_relationships: [from('invoices', 'invoice', 'customer_id')],
      select_permissions: select(OWN, OWN),
      update_permissions: [
        { role: 'staff', permission: { columns: ['company'], filter: {}, check: null } },
        { role: 'clerk', permission: { columns: ['company'], filter: OWN, check: OWN } },
      ],
    },
    {
      table: table('invoice'),
      object_relationships: [to('customer', 'customer_id')],
      array_relationships: [from('lines', 'invoice_line', 'invoice_id')],
      select_permissions: select(customerOfClerk),
    },
    {
      table: table('invoice_line'),
      object_relationships: [to('invoice', 'invoice_id'), to('track', 'track_id')],
      select_permissions: select({ invoice: customerOfClerk }),
    },
    {
      table: table('play'),
      select_permissions: select(OWN),
      insert_permissions: [
        {
          role: 'clerk',
          permission: {
            columns: ['customer_id', 'track_id'],
            check: { track_id: { _gt: 0 } },
            set: { clerk_id: 'X-Engine-User-Id' },
          },
        },
      ],
    },
    {
      table: table('rating'),
      select_permissions: select({}),
      insert_permissions: [{ role: 'clerk', permission: { columns: '*', check: { stars: { _lte: 5 } } } }],
      update_permissions: [{ role: 'clerk', permission: { columns: ['stars'], filter: {}, check: null } }],
    },
    { table: table('counter'), select_permissions: select({}) },
  ];
}

function shipments(webhookUrl: string): object {
  return {
    table: table('shipment'),
    event_triggers: [
      {
        name: 'shipped',
        definition: { insert: { columns: '*' } },
        webhook: `${webhookUrl}/event`,
        retry_conf: { num_retries: 0, interval_sec: 10, timeout_sec: 60 },
      },
    ],
  };
}
