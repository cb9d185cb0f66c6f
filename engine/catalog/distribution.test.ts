/** Twin of distribution.ts: the rows of a cluster's catalog, as Citus 13 has them, and the questions to a database that is no cluster. */
import { beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { distributionsOf, printDistribution } from './distribution.ts';
import { introspect } from './introspect.ts';

const row = (
  table: string,
  method: string,
  replication: string,
  colocation: number,
  column: string | null,
) => ({
  table,
  method,
  replication,
  colocation,
  column,
});

const database = testDatabase();
beforeAll(async () => {
  await database.sql('create table author (id int primary key)');
});

test('a table is distributed by a column, on one shard, a reference table or local', async () => {
  const rows = [
    row('1', 'h', 's', 2, 'company_id'),
    row('2', 'n', 's', 4, null),
    row('3', 'n', 't', 1, null),
    row('4', 'n', 's', 0, null),
  ];
  const query = async (text: string) => ({ rows: /pg_proc|pg_rewrite/.test(text) ? [] : rows });
  const { tables, local } = await distributionsOf({ query });
  expect([...tables].map(([oid, distribution]) => [oid, printDistribution(distribution)])).toEqual([
    [1, 'distributed by company_id (colocation 2)'],
    [2, 'on one shard (colocation 4)'],
    [3, 'a reference table'],
  ]);
  expect([...local]).toEqual([4]);
});

test('a function reads shards when its body has the name of such a table or view as a word, depends on one, or calls such a function; a view when it reads one', async () => {
  // A table and a function in the form of those of Citus.
  await database.sql(`
    create table campaigns (id int); create table plans (id int); create table "odd.name" (id int);
    create table pg_dist_partition (logicalrelid regclass, partmethod char, repmodel char, colocationid int, partkey text);
    create table notes (id int); create table unknown_notes (id int);
    insert into pg_dist_partition values ('notes', 'n', 's', 0, null), ('campaigns', 'h', 's', 2, 'id'), ('"odd.name"', 'n', 's', 3, null), ('plans', 'n', 't', 1, null);
    create function column_to_column_name(regclass, text) returns text language sql as 'select $2';
    create function by_name() returns bigint language sql as 'select count(*) from Campaigns';
    create function in_plpgsql() returns bigint language plpgsql as 'begin return (select count(*) from campaigns); end';
    create function odd() returns bigint language sql as 'select count(*) from "odd.name"';
    do $do$ begin
      -- PostgreSQL 13 keeps every body as text.
      if current_setting('server_version_num')::int >= 140000 then
        execute 'create function parsed() returns bigint language sql begin atomic select count(*) from campaigns; end';
      else
        execute $s$create function parsed() returns bigint language sql as 'select count(*) from campaigns'$s$;
      end if;
    end $do$;
    create function of_reference() returns bigint language sql as 'select count(*) from plans';
    create function of_local() returns bigint language sql as 'select count(*) from notes';
    create view of_shards as select id from campaigns; create view of_view as select id from of_shards; create view of_none as select 1 as id;
    create materialized view kept as select id from campaigns; create function of_kept() returns bigint language sql as 'select count(*) from kept';
    create function over_view() returns bigint language sql as 'select count(*) from of_view';
    create function over_view_in_plpgsql() returns bigint language plpgsql as 'begin return (select count(*) from of_shards); end';
    create function calls() returns bigint language sql as 'select over_view() + 1';
    create function calls_in_plpgsql() returns bigint language plpgsql as 'begin return public."by_name" (); end';
    create function calls_a_caller() returns bigint language sql as 'select calls()';
    create function calls_plpgsql() returns bigint language sql as 'select in_plpgsql()';
    create function mentions() returns text language sql as $$ select 'by_name, calls' $$;
    create function of_unknown() returns bigint language sql as 'select count(*) from unknown_notes';
    create function another_word() returns text language sql as $$ select 'campaign, my_campaigns, oddXname' $$`);
  const query = async (text: string) => ({
    rows: await database.sql(
      text.replaceAll(/pg_catalog\.(pg_dist_partition|column_to_column_name)/g, 'public.$1'),
    ),
  });
  const { functions, views } = await distributionsOf({ query });
  const relations = await database.sql('select oid::int as oid, relname::text as name from pg_class');
  const seen = relations.filter(({ oid }) => views.has(oid as number)).map(({ name }) => name);
  expect(seen.sort()).toEqual(['of_shards', 'of_view']);
  const named = await database.sql(
    `select oid::int as oid, proname::text as name from pg_proc where proname <> ''`,
  );
  const nameOf = new Map(named.map(({ oid, name }) => [oid, name]));
  expect(new Map([...functions].map(([oid, language]) => [nameOf.get(oid), language]))).toEqual(
    new Map([
      ['by_name', 'sql'],
      ['in_plpgsql', 'other'],
      ['odd', 'sql'],
      ['parsed', 'sql'],
      ['of_reference', 'sql'],
      ['of_local', 'sql'],
      ['over_view', 'sql'],
      ['over_view_in_plpgsql', 'other'],
      ['calls', 'sql'],
      ['calls_in_plpgsql', 'sql'],
      ['calls_a_caller', 'sql'],
    ]),
  );
});

test('a database that is no cluster is not asked for distributions', async () => {
  const texts: string[] = [];
  const catalog = await introspect({
    query: async (text, values) => {
      texts.push(text);
      return { rows: await database.sql(text, values) };
    },
  });
  expect(catalog).not.toHaveProperty('hasCitus');
  expect(catalog.tables.get('public.author') ?? [...catalog.tables.values()][0]).not.toHaveProperty(
    'distribution',
  );
  expect(texts.filter((text) => text.includes('pg_dist_'))).toEqual([]);
});
