/** A multi-tenant schema, its rows and its metadata, for a Citus cluster and a plain Postgres beside it. In: nothing. Out: SQL and metadata.
 *  Companies, campaigns, ads and clicks are distributed by company; visits by themselves; plans are a reference table; notes are local; the
 *  schema billing is one shard. Not here: requests (operations.ts), the comparison (.ci/citus.ts). */

/** The tables and functions, the same on both databases. */
export const SCHEMA = `
create table plans (id int primary key, name text not null, monthly numeric(10, 2) not null);
create table companies (id bigint primary key, name text not null, plan_id int, seats int);
create table campaigns (
  company_id bigint not null, id bigserial, name text not null, state text not null default 'running',
  budget numeric(10, 2), primary key (company_id, id));
create table ads (
  company_id bigint not null, id bigserial, campaign_id bigint not null, name text not null, tags text[], settings jsonb,
  primary key (company_id, id));
create table clicks (
  company_id bigint not null, id bigserial, ad_id bigint not null, clicked_at timestamptz not null, price numeric(10, 4) not null,
  primary key (company_id, id));
create table visits (id bigint primary key, company_id bigint not null, page text not null);
create table notes (id bigserial primary key, company_id bigint not null, plan_id int, text text not null);
create schema billing;
`;

/** Statements that distribute the tables. A schema is distributed before its tables are created. */
export const DISTRIBUTION = `
select create_reference_table('plans');
select create_distributed_table('companies', 'id');
select create_distributed_table('campaigns', 'company_id', colocate_with => 'companies');
select create_distributed_table('ads', 'company_id', colocate_with => 'companies');
select create_distributed_table('clicks', 'company_id', colocate_with => 'companies');
select create_distributed_table('visits', 'id', colocate_with => 'none');
select citus_schema_distribute('billing');
`;

/** A statement with which Citus counts the plans for one shard and those for several in later sessions. Citus documentation, "citus_stat_counters". */
export const COUNTERS = `
do $$ begin execute format('alter database %I set citus.enable_stat_counters to on', current_database()); end $$;
`;

/** The schema of a tenant in a cluster that is sharded by schema. */
export const TENANT_SCHEMA = 'tenant_1';

/** Statements before the tables are created: each schema is one shard, and names without a schema are those of the tenant. */
export const BY_SCHEMA = `
set citus.enable_schema_based_sharding to on;
create schema ${TENANT_SCHEMA};
do $$ begin execute format('alter database %I set search_path to ${TENANT_SCHEMA}, public', current_database()); end $$;
set search_path to ${TENANT_SCHEMA}, public;
`;

/** Foreign keys, which Citus accepts only between tables that are distributed already; the tables of the schema that is one shard; and the
 *  functions, which Citus creates on the workers, too. */
export const AFTER_DISTRIBUTION = `
alter table companies add foreign key (plan_id) references plans (id);
alter table campaigns add foreign key (company_id) references companies (id);
alter table ads add foreign key (company_id, campaign_id) references campaigns (company_id, id);
alter table clicks add foreign key (company_id, ad_id) references ads (company_id, id);
create table billing.invoices (id bigserial primary key, company_id bigint not null, total numeric(10, 2) not null);
create table billing.lines (id bigserial primary key, invoice_id bigint not null references billing.invoices (id), text text not null);
create view running_campaigns as select company_id, id, name, budget from campaigns where state = 'running';
create function campaign_label(campaign campaigns) returns text immutable language plpgsql
  as $$ begin return campaign.name || ' (' || campaign.state || ')'; end $$;
create function campaigns_of(company bigint, search text) returns setof campaigns stable language plpgsql
  as $$ begin return query select * from campaigns where company_id = company and name like search order by id; end $$;
create function pause_campaigns(company bigint) returns setof campaigns language plpgsql
  as $$ begin return query update campaigns set state = 'paused' where company_id = company returning *; end $$;
create function search_campaigns(search text) returns setof campaigns stable language plpgsql
  as $$ begin return query select * from campaigns where name like search order by company_id, id; end $$;
`;

/** Statements by which the coordinator calls functions on the worker that has the rows of their first argument. */
export const DISTRIBUTED_FUNCTIONS = `
select create_distributed_function('campaigns_of(bigint, text)', 'company', colocate_with => 'companies');
select create_distributed_function('pause_campaigns(bigint)', 'company', colocate_with => 'companies');
select create_distributed_function('campaign_label(campaigns)');
`;

export const ROWS = `
insert into plans select n, 'plan ' || n, n * 10 from generate_series(1, 3) n;
insert into companies select n, 'company ' || n, 1 + n % 3, case when n % 4 > 0 then n * 5 end from generate_series(1, 30) n;
insert into campaigns (company_id, id, name, state, budget)
  select c, c * 10 + n, 'campaign ' || n || ' of ' || c, (array['running', 'paused', 'done'])[1 + (c + n) % 3], c * 100 + n
  from generate_series(1, 30) c, generate_series(1, 4) n where c % 7 > 0 or n < 2;
insert into ads (company_id, id, campaign_id, name, tags, settings)
  select company_id, id * 10 + n, id, 'ad ' || n || ' of ' || id, array['t' || n, 'x'], jsonb_build_object('rank', n)
  from campaigns, generate_series(1, 3) n where id % 5 > 0;
insert into clicks (company_id, id, ad_id, clicked_at, price)
  select company_id, id * 10 + n, id, timestamptz '2026-01-01' + n * interval '1 hour' + id * interval '1 minute', n * 0.25 + id % 7
  from ads, generate_series(1, 2) n where id % 4 > 0;
insert into visits select n, 1 + n % 30, 'page ' || n from generate_series(1, 90) n;
insert into notes (id, company_id, plan_id, text) select n, 1 + n % 30, 1 + n % 3, 'note ' || n from generate_series(1, 60) n;
insert into billing.invoices (id, company_id, total) select n, 1 + n % 30, n * 3 from generate_series(1, 60) n;
insert into billing.lines (id, invoice_id, text) select n, 1 + n % 60, 'line ' || n from generate_series(1, 120) n;
`;

/** The tables, each after those that it refers to. */
export const TABLES_WITH_ROWS: readonly string[] = [
  'plans',
  'companies',
  'campaigns',
  'ads',
  'clicks',
  'visits',
  'notes',
  'billing.invoices',
  'billing.lines',
];

/** The view among the tables. */
export const VIEW = 'running_campaigns';

/** The tables with generated ids. */
export const SEQUENCES: readonly string[] = [
  'campaigns_id_seq',
  'ads_id_seq',
  'clicks_id_seq',
  'notes_id_seq',
  'billing.invoices_id_seq',
  'billing.lines_id_seq',
];

type Mapping = Readonly<Record<string, string>>;
type Name = { readonly schema: string; readonly name: string };

const named = (name: string, schema = 'public'): Name => ({ schema, name });

function related(name: string, table: Name, mapping: Mapping): object {
  return { name, using: { manual_configuration: { remote_table: table, column_mapping: mapping } } };
}

const OWN = { company_id: { _eq: 'x-engine-company-id' } };
const TENANT = 'tenant';

/** Permissions of a tenant, who reads and writes the rows of its company. */
function tenantOf(
  column: string,
  {
    isFixed = false,
    computed = [],
  }: { readonly isFixed?: boolean; readonly computed?: readonly string[] } = {},
): object {
  const filter = { [column]: OWN.company_id };
  const reads = { columns: '*', filter, allow_aggregations: true, computed_fields: computed };
  return {
    select_permissions: [{ role: TENANT, permission: reads }],
    insert_permissions: [{ role: TENANT, permission: { columns: '*', check: filter } }],
    update_permissions: [{ role: TENANT, permission: { columns: '*', filter, check: filter } }],
    ...(isFixed ? {} : { delete_permissions: [{ role: TENANT, permission: { filter } }] }),
  };
}

const toCompany = related('company', named('companies'), { company_id: 'id' });

/** Table objects of the metadata. */
export const TABLES: readonly object[] = [
  {
    table: named('plans'),
    array_relationships: [
      related('companies', named('companies'), { id: 'plan_id' }),
      related('notes', named('notes'), { id: 'plan_id' }),
    ],
    select_permissions: [
      { role: TENANT, permission: { columns: '*', filter: {}, allow_aggregations: true } },
    ],
  },
  {
    table: named('companies'),
    object_relationships: [related('plan', named('plans'), { plan_id: 'id' })],
    array_relationships: [
      related('campaigns', named('campaigns'), { id: 'company_id' }),
      related('ads', named('ads'), { id: 'company_id' }),
      related('clicks', named('clicks'), { id: 'company_id' }),
      related('visits', named('visits'), { id: 'company_id' }),
      related('notes', named('notes'), { id: 'company_id' }),
      related('invoices', named('invoices', 'billing'), { id: 'company_id' }),
    ],
    ...tenantOf('id', { isFixed: true }),
  },
  {
    table: named('campaigns'),
    object_relationships: [toCompany],
    array_relationships: [related('ads', named('ads'), { company_id: 'company_id', id: 'campaign_id' })],
    computed_fields: [
      { name: 'label', definition: { function: named('campaign_label'), table_argument: 'campaign' } },
    ],
    ...tenantOf('company_id', { computed: ['label'] }),
  },
  {
    table: named('ads'),
    object_relationships: [
      toCompany,
      related('campaign', named('campaigns'), { company_id: 'company_id', campaign_id: 'id' }),
    ],
    array_relationships: [related('clicks', named('clicks'), { company_id: 'company_id', id: 'ad_id' })],
    ...tenantOf('company_id'),
  },
  {
    table: named('clicks'),
    object_relationships: [related('ad', named('ads'), { company_id: 'company_id', ad_id: 'id' })],
    ...tenantOf('company_id'),
  },
  {
    table: named('visits'),
    object_relationships: [toCompany],
    ...tenantOf('company_id'),
  },
  {
    table: named('running_campaigns'),
    object_relationships: [toCompany],
    array_relationships: [related('ads', named('ads'), { company_id: 'company_id', id: 'campaign_id' })],
    select_permissions: [{ role: TENANT, permission: { columns: '*', filter: OWN } }],
  },
  {
    table: named('notes'),
    object_relationships: [related('plan', named('plans'), { plan_id: 'id' })],
    ...tenantOf('company_id'),
  },
  {
    table: named('invoices', 'billing'),
    array_relationships: [related('lines', named('lines', 'billing'), { id: 'invoice_id' })],
    ...tenantOf('company_id'),
  },
  {
    table: named('lines', 'billing'),
    object_relationships: [related('invoice', named('invoices', 'billing'), { invoice_id: 'id' })],
  },
];

/** A native query, and the model of its rows. */
export const NATIVE: object = {
  logical_models: [
    {
      name: 'spending',
      fields: [
        { name: 'company_id', type: { scalar: 'bigint', nullable: true } },
        { name: 'total', type: { scalar: 'numeric', nullable: true } },
      ],
    },
  ],
  native_queries: [
    {
      root_field_name: 'spending',
      arguments: { least: { type: 'numeric' } },
      code: 'select company_id, sum(price) as total from clicks group by company_id having sum(price) > {{least}}',
      returns: 'spending',
      object_relationships: [
        {
          name: 'company',
          using: { remote_table: named('companies'), column_mapping: { company_id: 'id' } },
        },
      ],
    },
  ],
};

/** The tracked functions. */
export const FUNCTIONS: readonly object[] = [
  { function: named('search_campaigns') },
  { function: named('campaigns_of') },
  { function: named('pause_campaigns'), configuration: { exposed_as: 'mutation' } },
];
