/** Requests of all shapes over the schema of schema.ts. A cluster must answer them as a plain Postgres does: the same rows, and where a
 *  request has an order, in the same order. Not here: how they are run and compared (.ci/citus.ts). */

export type Operation = {
  readonly name: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** The company of a request by a tenant; absent: the administrator sends it. */
  readonly company?: number;
  /** True when the request defines no order, so that lists are compared as sets. */
  readonly isUnordered?: true;
  /** True when Postgres refuses it. */
  readonly isError?: true;
  /** True when a tenant's rows of it are on several shards. */
  readonly isSpread?: true;
  /** True for a request to the endpoint of Relay. */
  readonly isRelay?: true;
};

const BY_ID = 'order_by: {id: asc}';
const BY_COMPANY = 'order_by: [{company_id: asc}, {id: asc}]';

/** Reads. None of them changes a row. */
const READS: readonly Operation[] = [
  { name: 'a list without an order', query: '{ companies { id name } }', isUnordered: true },
  { name: 'a list in order', query: `{ companies(${BY_ID}) { id name seats } }` },
  {
    name: 'a list in descending order with nulls',
    query: '{ companies(order_by: [{seats: desc_nulls_last}, {id: desc}]) { id } }',
  },
  { name: 'a list with a limit', query: `{ companies(${BY_ID}, limit: 5) { id name } }` },
  { name: 'a page', query: `{ campaigns(${BY_COMPANY}, limit: 5, offset: 7) { company_id id } }` },
  {
    name: 'distinct rows',
    query: '{ campaigns(distinct_on: state, order_by: [{state: asc}, {budget: desc}]) { state budget } }',
  },
  {
    name: 'a filter over all shards',
    query: `{ campaigns(where: {state: {_eq: "paused"}}, ${BY_COMPANY}) { company_id id name } }`,
  },
  {
    name: 'a filter over a relationship',
    query: `{ companies(where: {campaigns: {budget: {_gt: "1500"}}}, ${BY_ID}) { id } }`,
  },
  {
    name: 'a filter over an object relationship',
    query: `{ campaigns(where: {company: {name: {_like: "%3"}}}, ${BY_COMPANY}) { id } }`,
  },
  {
    name: 'a filter over a reference table',
    query: `{ companies(where: {plan: {name: {_eq: "plan 2"}}}, ${BY_ID}) { id } }`,
  },
  {
    name: 'an order by an object',
    query: '{ companies(order_by: [{plan: {monthly: desc}}, {id: asc}]) { id plan { name } } }',
  },
  {
    name: 'an order by an object with a limit',
    query: '{ campaigns(order_by: [{company: {name: asc}}, {id: asc}], limit: 6) { id company { name } } }',
  },
  {
    name: 'an order by an aggregate',
    query: '{ companies(order_by: [{campaigns_aggregate: {count: asc}}, {id: asc}]) { id } }',
  },
  { name: 'a nested list', query: `{ companies(${BY_ID}) { id campaigns(${BY_ID}) { id name } } }` },
  {
    name: 'a nested list with a limit',
    query: `{ companies(${BY_ID}) { id campaigns(${BY_ID}, limit: 2) { id } } }`,
  },
  {
    name: 'a nested list in a limited list',
    query: `{ companies(${BY_ID}, limit: 4) { id campaigns(${BY_ID}) { id } } }`,
  },
  {
    name: 'limits at three levels',
    query: `{ companies(${BY_ID}, limit: 4) { id campaigns(${BY_ID}, limit: 2) { id ads(${BY_ID}, limit: 1) { id clicks(${BY_ID}) { price } } } } }`,
  },
  {
    name: 'three levels',
    query: `{ companies(${BY_ID}) { campaigns(${BY_ID}) { id ads(${BY_ID}) { id name tags settings } } } }`,
  },
  {
    name: 'objects upwards',
    query: `{ clicks(order_by: [{company_id: asc}, {id: asc}], where: {price: {_gt: "6"}}) { id ad { name campaign { name company { name plan { name } } } } } }`,
  },
  {
    name: 'objects in a limited list',
    query: `{ ads(${BY_COMPANY}, limit: 5) { id campaign { name company { name plan { name } } } } }`,
  },
  {
    name: 'a nested aggregate',
    query: `{ companies(${BY_ID}) { id campaigns_aggregate { aggregate { count sum { budget } } } } }`,
  },
  {
    name: 'a nested aggregate in a limited list',
    query: `{ companies(${BY_ID}, limit: 3) { id clicks_aggregate { aggregate { count avg { price } } } } }`,
  },
  {
    name: 'a nested aggregate with nodes',
    query: `{ companies(${BY_ID}, limit: 3) { id campaigns_aggregate(${BY_ID}) { aggregate { count } nodes { id } } } }`,
  },
  {
    name: 'an aggregate',
    query: '{ clicks_aggregate { aggregate { count sum { price } max { clicked_at } min { price } } } }',
  },
  {
    name: 'an aggregate of a filter',
    query:
      '{ campaigns_aggregate(where: {state: {_eq: "done"}}) { aggregate { count(columns: state, distinct: true) avg { budget } } } }',
  },
  {
    name: 'an aggregate with nodes',
    query: `{ campaigns_aggregate(${BY_COMPANY}) { aggregate { count } nodes { id name } } }`,
  },
  {
    name: 'an aggregate of a page',
    query: `{ campaigns_aggregate(${BY_COMPANY}, limit: 7) { aggregate { count sum { budget } } nodes { id } } }`,
  },
  {
    name: 'a row by key',
    query: '{ campaigns_by_pk(company_id: 3, id: 31) { name state company { name } } }',
  },
  {
    name: 'a row by key with lists',
    query: `{ companies_by_pk(id: 5) { name campaigns(${BY_ID}) { id ads(${BY_ID}) { id } } plan { name } } }`,
  },
  {
    name: 'a row of another tenant by key, with relationships',
    query: '{ campaigns_by_pk(company_id: 5, id: 51) { name company { name plan { name } } ads { id } } }',
    company: 3,
  },
  { name: 'no row by key', query: '{ companies_by_pk(id: 999) { name } }' },
  {
    name: 'a list of a tenant',
    query: `{ campaigns(${BY_ID}) { id name ads(${BY_ID}) { id clicks_aggregate: clicks(${BY_ID}) { price } } } }`,
    company: 4,
  },
  {
    name: 'a limited list of a tenant',
    query: `{ campaigns(${BY_ID}, limit: 2) { id ads(${BY_ID}, limit: 2) { id campaign { company { plan { name } } } } } }`,
    company: 4,
  },
  {
    name: 'a dashboard of a tenant',
    query: `{ companies { name plan { name } campaigns_aggregate { aggregate { count } } } clicks_aggregate { aggregate { count sum { price } } } ads(${BY_ID}, limit: 3) { name } }`,
    company: 8,
  },
  { name: 'a reference table', query: `{ plans(${BY_ID}) { id name } }` },
  { name: 'lists of a reference table', query: `{ plans(${BY_ID}) { id companies(${BY_ID}) { id } } }` },
  {
    name: 'aggregates of a reference table',
    query: `{ plans(${BY_ID}) { id companies_aggregate { aggregate { count sum { seats } } } } }`,
  },
  {
    name: 'a reference table with a limit',
    query: `{ plans(${BY_ID}, limit: 2) { id companies(${BY_ID}, limit: 2) { id campaigns(${BY_ID}) { id } } } }`,
  },
  { name: 'a local table', query: `{ notes(${BY_ID}, limit: 7) { id text plan { name } } }` },
  { name: 'a reference table over local rows', query: `{ plans(${BY_ID}) { notes(${BY_ID}) { id } } }` },
  {
    name: 'a schema of one shard',
    query: `{ billing_invoices(${BY_ID}, limit: 5) { id total lines(${BY_ID}) { text } } }`,
  },
  {
    name: 'another distribution',
    query: `{ visits(${BY_ID}, where: {company_id: {_lt: "5"}}) { id page } }`,
  },
  {
    name: 'roots of several kinds',
    query: `{ plans(${BY_ID}) { id } notes_aggregate { aggregate { count } } companies(${BY_ID}, limit: 2) { id } }`,
  },
  { name: 'a computed field', query: `{ campaigns(${BY_COMPANY}, limit: 4) { label } }` },
  { name: 'a computed field of a tenant', query: `{ campaigns(${BY_ID}) { label } }`, company: 6 },
  {
    name: 'a function',
    query: `{ search_campaigns(args: {search: "campaign 2%"}, ${BY_COMPANY}) { id name } }`,
  },
  {
    name: 'an aggregate with nodes and their lists',
    query: `{ campaigns_aggregate(${BY_COMPANY}, where: {budget: {_lt: "1000"}}) { aggregate { count } nodes { id ads(${BY_ID}) { id } company { plan { name } } } } }`,
  },
  {
    name: 'an aggregate of a page with lists',
    query: `{ campaigns_aggregate(${BY_COMPANY}, limit: 5) { aggregate { count } nodes { id ads(${BY_ID}) { id } } } }`,
  },
  {
    name: 'nested distinct rows',
    query: `{ companies(${BY_ID}, limit: 6) { id campaigns(distinct_on: state, order_by: [{state: asc}, {id: desc}]) { state id } } }`,
  },
  {
    name: 'relationships that are not colocated',
    query: `{ companies(${BY_ID}) { id visits(${BY_ID}) { id page } } }`,
  },
  {
    name: 'objects that are not colocated',
    query: `{ visits(${BY_ID}, limit: 9) { id company { name plan { name } campaigns(${BY_ID}, limit: 1) { id } } } }`,
  },
  {
    name: 'a filter that is not colocated',
    query: `{ visits(where: {company: {name: {_like: "%7"}}}, ${BY_ID}) { id } companies(where: {visits: {id: {_lt: "9"}}}, ${BY_ID}) { id } }`,
  },
  {
    name: 'an order that is not colocated',
    query: '{ visits(order_by: [{company: {seats: desc_nulls_last}}, {id: asc}], limit: 5) { id } }',
  },
  {
    name: 'aggregates that are not colocated',
    query: `{ companies(${BY_ID}, limit: 3) { id visits_aggregate { aggregate { count max { id } } } } }`,
  },
  {
    name: 'an order by local rows of reference rows',
    query: `{ companies(order_by: [{plan: {notes_aggregate: {count: asc}}}, {id: asc}], limit: 6) { id plan { name notes_aggregate { aggregate { count } } } } }`,
  },
  {
    name: 'limits of each row at three levels that are not colocated',
    query: `{ plans(${BY_ID}) { id companies(order_by: {id: desc}, limit: 2) { id visits(order_by: {id: desc}, limit: 2) { id company { campaigns(${BY_ID}, limit: 1, offset: 1) { id } } } } } }`,
  },
  {
    name: 'distinct rows of each row that are not colocated',
    query: `{ companies(${BY_ID}, limit: 5) { id notes(distinct_on: plan_id, order_by: [{plan_id: asc}, {id: desc}]) { id plan_id } } }`,
  },
  {
    name: 'local rows of distributed ones',
    query: `{ companies(${BY_ID}, limit: 3) { id notes(${BY_ID}) { id plan { name } } } }`,
  },
  {
    name: 'a filter and lists that are not colocated',
    query: `{ companies(${BY_ID}, where: {visits: {id: {_gt: "50"}}, campaigns: {id: {_gt: "100"}}}) { id campaigns(${BY_ID}) { id } visits(${BY_ID}) { id } } }`,
  },
  {
    name: 'an order by an aggregate that is not colocated',
    query:
      '{ companies(order_by: [{visits_aggregate: {max: {id: desc}}}, {id: asc}], limit: 7, where: {invoices: {id: {_gt: "3"}}}) { id visits_aggregate { aggregate { count } } } }',
  },
  {
    name: 'another schema',
    query: `{ companies(${BY_ID}, where: {invoices: {total: {_gt: "90"}}}) { id invoices(${BY_ID}) { id lines(${BY_ID}) { id } } } }`,
  },
  {
    name: 'rows of several kinds of a tenant',
    query: `{ companies { name visits(${BY_ID}) { id } notes(${BY_ID}) { id } invoices(${BY_ID}) { id } campaigns(${BY_ID}) { id } } }`,
    company: 9,
    isSpread: true,
  },
  {
    name: 'limits of each row that are not colocated',
    query: `{ companies(${BY_ID}, limit: 5) { id visits(order_by: {id: desc}, limit: 2, offset: 1) { id } notes(${BY_ID}, limit: 1) { id } } }`,
  },
  {
    name: 'limits of each row of a reference table',
    query: `{ plans(${BY_ID}) { id companies(order_by: [{seats: desc_nulls_last}, {id: asc}], limit: 3) { id campaigns(order_by: {id: desc}, limit: 1) { id ads(${BY_ID}, limit: 1) { id } } } } }`,
  },
  {
    name: 'a limit, lists and aggregates at each level',
    query: `{ companies(order_by: {id: desc}, limit: 4, offset: 2) { id campaigns_aggregate { aggregate { count avg { budget } } nodes { state } } campaigns(${BY_ID}, limit: 2) { id ads_aggregate { aggregate { count } } ads(${BY_ID}) { id clicks_aggregate { aggregate { sum { price } } } } } } }`,
    isUnordered: true,
  },
  {
    name: 'aggregates of each row of a reference table in a limited list',
    query: `{ plans(${BY_ID}, limit: 2) { id companies_aggregate(where: {seats: {_gt: 20}}) { aggregate { count max { seats } } } notes_aggregate { aggregate { count } } } }`,
  },
  {
    name: 'several roots of a tenant with limits',
    query: `{ a: campaigns(${BY_ID}, limit: 2) { id ads(${BY_ID}) { id } } b: ads(${BY_ID}, limit: 2) { id } c: clicks_aggregate { aggregate { count } } }`,
    company: 11,
  },
  {
    name: 'a function of a tenant',
    query: `{ search_campaigns(args: {search: "campaign%"}, ${BY_ID}, limit: 2) { id company { name } ads(${BY_ID}) { id } } }`,
    company: 12,
    isSpread: true,
  },
  {
    name: 'a function on the shard of its argument',
    query: `{ campaigns_of(args: {company: "3", search: "campaign%"}, ${BY_ID}) { id name label company { name plan { name } } ads(${BY_ID}) { id } } }`,
  },
  {
    name: 'a page and an aggregate of a function on the shard of its argument',
    query: `{ campaigns_of(args: {company: "5", search: "%"}, order_by: {id: desc}, limit: 2, where: {ads: {name: {_like: "ad 1%"}}}) { id } campaigns_of_aggregate(args: {company: "5", search: "%"}) { aggregate { count sum { budget } } } }`,
  },
  {
    name: 'rows and nodes of a function on the shard of its argument in an order',
    query: `{ campaigns_of(args: {company: "5", search: "%"}, order_by: {name: desc}) { id } page: campaigns_of(args: {company: "5", search: "%"}, order_by: {name: desc}, limit: 2) { id label } campaigns_of_aggregate(args: {company: "5", search: "%"}, order_by: {name: desc}) { aggregate { count } nodes { id } } }`,
  },
  {
    name: 'rows of a function on the shard of its argument in an order',
    query: '{ campaigns_of(args: {company: "5", search: "%"}, order_by: {name: desc}) { id } }',
  },
  {
    name: 'a page of a function on the shard of its argument',
    query:
      '{ campaigns_of(args: {company: "5", search: "%"}, order_by: {name: desc}, limit: 2, offset: 1) { id } }',
  },
  {
    name: 'nodes of a function on the shard of its argument in an order',
    query:
      '{ campaigns_of_aggregate(args: {company: "5", search: "%"}, order_by: {name: desc}) { aggregate { count } nodes { id } } }',
  },
  {
    name: 'nodes of a page of a function on the shard of its argument',
    query:
      '{ campaigns_of_aggregate(args: {company: "5", search: "%"}, order_by: {name: desc}, limit: 2) { aggregate { count max { id } } nodes { id } } }',
  },
  {
    name: 'distinct rows of a function on the shard of its argument',
    query:
      '{ campaigns_of(args: {company: "5", search: "%"}, distinct_on: state, order_by: [{state: asc}, {id: desc}]) { id state } }',
  },
  {
    name: 'a function of a tenant on the shard of its argument',
    query: `{ campaigns_of(args: {company: "12", search: "%"}, ${BY_ID}) { id ads(${BY_ID}) { id } company { visits(${BY_ID}) { id } } } }`,
    company: 12,
    isSpread: true,
  },
  {
    name: 'a function of another tenant on the shard of its argument',
    query: '{ campaigns_of(args: {company: "13", search: "%"}) { id } }',
    company: 12,
    isSpread: true,
  },
  {
    name: 'an aggregate of a function',
    query:
      '{ search_campaigns_aggregate(args: {search: "campaign 1%"}) { aggregate { count sum { budget } } } }',
  },
  {
    name: 'an order and a filter by a computed field',
    query:
      '{ campaigns(where: {label: {_like: "%(done)"}}, order_by: [{label: asc}, {company_id: asc}], limit: 5) { label } }',
  },
  { name: 'a view', query: `{ running_campaigns(${BY_COMPANY}) { id name } }` },
  {
    name: 'a view and its relationships',
    query: `{ running_campaigns(${BY_COMPANY}, limit: 5) { id company { name } ads(${BY_ID}) { id } } }`,
  },
  {
    name: 'a view of a tenant',
    query: `{ running_campaigns(${BY_ID}) { id ads(${BY_ID}) { id } } }`,
    company: 3,
  },
  {
    name: 'a native query',
    query:
      '{ spending(args: {least: "20"}, order_by: {company_id: desc}) { company_id total company { name } } }',
  },
  {
    name: 'a filter by an aggregate',
    query: `{ companies(where: {campaigns_aggregate: {count: {predicate: {_gt: 3}}}}, ${BY_ID}) { id } }`,
  },
  {
    name: 'groups',
    query:
      '{ campaigns_group_by(keys: [state], order_by: {keys: {state: desc}}) { keys { state } aggregate { count sum { budget } } } }',
  },
  {
    name: 'groups that pass conditions over relationships',
    query:
      '{ campaigns_group_by(keys: [state], order_by: {keys: {state: desc}}, having: {count: {predicate: {_gt: 1}, filter: {ads: {name: {_like: "ad 1%"}}}}}) { keys { state } aggregate { count } } plans_group_by(keys: [name], order_by: {keys: {name: asc}}, limit: 2, having: {count: {predicate: {_gt: 0}, filter: {companies: {visits: {id: {_gt: "9"}}}}}}) { keys { name } } }',
  },
  {
    name: 'groups by the distribution',
    query:
      '{ campaigns_group_by(keys: [company_id], order_by: {keys: {company_id: desc}}) { keys { company_id } aggregate { count } } }',
  },
  {
    name: 'a connection',
    query:
      '{ companies_connection(first: 4, order_by: {name: asc}) { edges { cursor node { name } } pageInfo { hasNextPage hasPreviousPage endCursor } } }',
    isRelay: true,
  },
  {
    name: 'a connection with lists',
    query: `{ companies_connection(first: 3, order_by: {id: desc}) { edges { node { name campaigns(${BY_ID}) { name } plan { name } } } pageInfo { hasNextPage } } }`,
    isRelay: true,
  },
  {
    name: 'nested connections',
    query: `{ companies_connection(order_by: {id: asc}) { edges { node { name campaigns_connection(first: 2, order_by: {id: desc}) { edges { node { name } } pageInfo { hasNextPage } } } } } }`,
    isRelay: true,
  },
];

/** The company that the writes are about. */
const NEW = 1000;

/** Writes, in order: each finds the rows that the ones before have left. */
const WRITES: readonly Operation[] = [
  {
    name: 'an insert',
    query: `mutation { insert_companies_one(object: {id: ${NEW}, name: "new", plan_id: 1}) { id name } }`,
  },
  {
    name: 'an insert with relationships',
    query: `mutation { insert_companies(objects: [{id: 1001, name: "b", plan_id: 2}, {id: 1002, name: "c"}]) { affected_rows returning { id plan { name } campaigns { id } } } }`,
  },
  {
    name: 'an insert of children',
    query: `mutation { insert_campaigns(objects: [{company_id: ${NEW}, name: "one"}, {company_id: ${NEW}, name: "two", budget: "5"}]) { affected_rows returning { id state company { name } ads_aggregate: ads { id } } } }`,
  },
  {
    name: 'a nested insert',
    query: `mutation { insert_companies_one(object: {id: 1003, name: "nested", campaigns: {data: [{name: "first"}, {name: "second"}]}}) { id campaigns(${BY_ID}) { id name } } }`,
  },
  {
    name: 'a nested insert of an object',
    query:
      'mutation { insert_campaigns_one(object: {name: "up", company: {data: {id: 1004, name: "parent"}}}) { id name company { id name } } }',
  },
  {
    name: 'an insert of a tenant',
    query:
      'mutation { insert_campaigns_one(object: {company_id: 5, name: "mine"}) { name company { name } } }',
    company: 5,
  },
  {
    name: 'an insert for another tenant',
    isError: true,
    query: 'mutation { insert_campaigns_one(object: {company_id: 6, name: "theirs"}) { name } }',
    company: 5,
  },
  {
    name: 'an upsert',
    query: `mutation { insert_companies(objects: [{id: ${NEW}, name: "again"}, {id: 1005, name: "fresh"}], on_conflict: {constraint: companies_pkey, update_columns: [name]}) { affected_rows returning { id name plan { name } } } }`,
  },
  {
    name: 'an upsert that does nothing',
    query: `mutation { insert_companies(objects: [{id: ${NEW}, name: "ignored"}], on_conflict: {constraint: companies_pkey, update_columns: []}) { affected_rows } }`,
  },
  {
    name: 'an update',
    query: `mutation { update_campaigns(where: {company_id: {_eq: "${NEW}"}}, _set: {state: "paused"}) { affected_rows } }`,
  },
  {
    name: 'an update over all shards',
    query:
      'mutation { update_campaigns(where: {budget: {_gt: "2800"}}, _inc: {budget: "1"}) { affected_rows } }',
  },
  {
    name: 'an update with relationships',
    query: `mutation { update_companies(where: {id: {_eq: "${NEW}"}}, _set: {seats: 9}) { returning { id seats campaigns(${BY_ID}) { name state } plan { name } } } }`,
  },
  {
    name: 'an update by key',
    query: `mutation { update_companies_by_pk(pk_columns: {id: ${NEW}}, _set: {name: "renamed"}) { name campaigns_aggregate { aggregate { count } } } }`,
  },
  {
    name: 'an update of a tenant',
    query:
      'mutation { update_campaigns(where: {name: {_like: "campaign 1%"}}, _set: {state: "stopped"}) { affected_rows returning { id ads(order_by: {id: asc}) { id } } } }',
    company: 9,
  },
  {
    name: 'several updates',
    query:
      'mutation { update_campaigns_many(updates: [{where: {company_id: {_eq: "10"}}, _set: {state: "a"}}, {where: {company_id: {_eq: "11"}}, _set: {state: "b"}}]) { affected_rows } }',
  },
  {
    name: 'several mutations',
    query: `mutation { a: insert_notes_one(object: {company_id: ${NEW}, text: "x"}) { text } b: insert_campaigns_one(object: {company_id: ${NEW}, name: "three"}) { name } c: update_companies_by_pk(pk_columns: {id: 2}, _inc: {seats: 1}) { seats } }`,
  },
  {
    name: 'an insert into a reference table',
    query:
      'mutation { insert_plans_one(object: {id: 4, name: "plan 4", monthly: "1"}) { id companies { id } } }',
  },
  {
    name: 'an insert into a schema of one shard',
    query:
      'mutation { insert_billing_invoices_one(object: {company_id: 1, total: "9", lines: {data: [{text: "l"}]}}) { total lines { text } } }',
  },
  {
    name: 'a delete',
    query: 'mutation { delete_clicks(where: {company_id: {_eq: "12"}}) { affected_rows } }',
  },
  {
    name: 'a delete with relationships',
    query:
      'mutation { delete_clicks(where: {company_id: {_eq: "13"}, ad_id: {_lt: "1312"}}) { affected_rows returning { ad { name campaign { name } } } } }',
    isUnordered: true,
  },
  { name: 'a delete by key', query: 'mutation { delete_campaigns_by_pk(company_id: 1000, id: -1) { id } }' },
  {
    name: 'an update over relationships that are not colocated',
    query:
      'mutation { update_visits(where: {company: {name: {_eq: "company 14"}}}, _set: {page: "changed"}) { affected_rows } }',
  },
  {
    name: 'an update of local rows over distributed ones',
    query:
      'mutation { update_companies(where: {visits: {id: {_lt: "4"}}}, _set: {seats: 77}) { affected_rows } }',
  },
  {
    name: 'a delete over relationships',
    query:
      'mutation { delete_clicks(where: {ad: {campaign: {state: {_eq: "done"}}}, company_id: {_in: ["18", "19"]}}) { affected_rows } }',
  },
  {
    name: 'a delete of a tenant that names another',
    query: 'mutation { delete_campaigns(where: {company_id: {_eq: "10"}}) { affected_rows } }',
    company: 9,
  },
  {
    name: 'an update by key of a tenant that names another',
    query:
      'mutation { update_campaigns_by_pk(pk_columns: {company_id: "10", id: "101"}, _set: {state: "stolen"}) { id } }',
    company: 9,
  },
  {
    name: 'an update of a tenant over relationships that name another',
    query:
      'mutation { update_campaigns(where: {ads: {company_id: {_eq: "10"}}}, _set: {state: "stolen"}) { affected_rows } }',
    company: 9,
  },
  {
    name: 'an update over nested relationships that are not colocated',
    query:
      'mutation { update_visits(where: {company: {campaigns: {ads: {name: {_like: "ad 1%"}}}}}, _set: {page: "nested"}) { affected_rows } }',
  },
  {
    name: 'an insert with aggregates of relationships',
    query: `mutation { insert_companies(objects: [{id: 1010, name: "x", plan_id: 3}]) { returning { id campaigns_aggregate { aggregate { count } } plan { name companies_aggregate { aggregate { count } } } visits { id } } } }`,
  },
  {
    name: 'a nested insert at three levels',
    query: `mutation { insert_companies_one(object: {id: 1011, name: "deep", campaigns: {data: [{name: "c", ads: {data: [{name: "a", clicks: {data: [{clicked_at: "2026-02-02", price: "1"}]}}]}}]}}) { id campaigns { name ads { name clicks_aggregate { aggregate { count sum { price } } } } } } }`,
  },
  {
    name: 'a nested insert that is not colocated',
    query: `mutation { insert_companies_one(object: {id: 1012, name: "far", visits: {data: [{id: 901, page: "p"}]}, notes: {data: [{text: "n"}]}, plan: {data: {id: 9, name: "plan 9", monthly: "9"}}}) { id plan { name } visits { id page } notes { text } } }`,
  },
  {
    name: 'an upsert of several rows with relationships',
    query: `mutation { insert_campaigns(objects: [{company_id: 3, id: 32, name: "last"}, {company_id: 3, id: 31, name: "again"}, {company_id: 3, id: 39, name: "fresh"}], on_conflict: {constraint: campaigns_pkey, update_columns: [name]}) { affected_rows returning { id name company { plan { name } campaigns_aggregate { aggregate { count } } } ads(${BY_ID}) { id } } } }`,
  },
  {
    name: 'several updates with relationships',
    query: `mutation { update_campaigns_many(updates: [{where: {company_id: {_eq: "14"}, id: {_eq: "141"}}, _set: {state: "x"}}, {where: {company_id: {_eq: "15"}, id: {_eq: "151"}}, _inc: {budget: "1"}}]) { affected_rows returning { state company { name campaigns_aggregate { aggregate { max { budget } } } } ads(${BY_ID}) { id } } } }`,
  },
  {
    name: 'an update of a reference table with lists',
    query: `mutation { update_plans_by_pk(pk_columns: {id: 2}, _set: {name: "second"}) { name companies(${BY_ID}, limit: 3) { id campaigns_aggregate { aggregate { count } } } } }`,
  },
  {
    name: 'an insert of a local row with a reference row',
    query: `mutation { insert_notes_one(object: {company_id: 1, plan_id: 2, text: "t"}) { text plan { name companies_aggregate { aggregate { count } } } } }`,
  },
  {
    name: 'a reference table after all rows of one with a foreign key to it',
    query:
      'mutation { a: update_companies(where: {}, _inc: {seats: 1}) { affected_rows } b: update_plans_by_pk(pk_columns: {id: 3}, _set: {name: "third"}) { name } }',
  },
  {
    name: 'several mutations, one of which fails',
    isError: true,
    query: `mutation { a: insert_companies_one(object: {id: 1020, name: "rolled back"}) { id } b: insert_campaigns_one(object: {company_id: 999999, name: "no company"}) { id } }`,
  },
  {
    name: 'a function that writes on the shard of its argument',
    query: 'mutation { pause_campaigns(args: {company: "17"}, order_by: {id: asc}) { id state } }',
  },
  {
    name: 'a reference table by rows that refer to it',
    query:
      'mutation { update_plans(where: {companies: {id: {_eq: "6"}}}, _inc: {monthly: "1"}) { affected_rows } }',
  },
  {
    name: 'a delete over a function of the row',
    query:
      'mutation { delete_clicks(where: {ad: {campaign: {label: {_like: "%(done)"}}}}) { affected_rows } }',
  },
  {
    name: 'an update over a function of the row',
    query:
      'mutation { update_campaigns(where: {label: {_like: "%(paused)"}}, _set: {budget: "1"}) { affected_rows } }',
    company: 20,
  },
  {
    name: 'an insert with a function of the row',
    query:
      'mutation { insert_campaigns_one(object: {company_id: 2, name: "labelled"}) { label company { campaigns_aggregate { aggregate { count } } } } }',
  },
  {
    name: 'an insert of several rows of a tenant with relationships',
    query: `mutation { insert_campaigns(objects: [{company_id: 21, name: "p"}, {company_id: 21, name: "q"}]) { affected_rows returning { name label company { name plan { name } } ads(${BY_ID}) { id } } } }`,
    company: 21,
  },
  {
    name: 'an upsert of a tenant',
    query: `mutation { insert_campaigns(objects: [{company_id: 22, id: 221, name: "again"}, {company_id: 22, id: 229, name: "fresh"}], on_conflict: {constraint: campaigns_pkey, update_columns: [name]}) { affected_rows returning { id name ads(${BY_ID}) { id } } } }`,
    company: 22,
  },
  {
    name: 'an upsert with a condition on the rows that exist',
    query: `mutation { insert_campaigns(objects: [{company_id: 3, id: 31, name: "paused only"}, {company_id: 4, id: 41, name: "paused only"}, {company_id: 4, id: 395, name: "fresh"}], on_conflict: {constraint: campaigns_pkey, update_columns: [name], where: {_or: [{state: {_eq: "paused"}}, {_not: {company_id: {_lt: 9}}}]}}) { affected_rows returning { id name } } }`,
  },
  {
    name: 'an upsert of one key twice',
    isError: true,
    query: `mutation { insert_campaigns(objects: [{company_id: 3, id: 391, name: "one"}, {company_id: 4, id: 391, name: "other"}, {company_id: 3, id: 391, name: "two"}], on_conflict: {constraint: campaigns_pkey, update_columns: [name]}) { affected_rows returning { id name } } }`,
  },
  {
    name: 'an upsert of one key twice without rows',
    isError: true,
    query: `mutation { insert_campaigns(objects: [{company_id: 3, id: 392, name: "one"}, {company_id: 3, id: 392, name: "two"}], on_conflict: {constraint: campaigns_pkey, update_columns: [name]}) { affected_rows } }`,
  },
  {
    name: 'an upsert of one key twice that does nothing',
    query: `mutation { insert_campaigns(objects: [{company_id: 3, id: 393, name: "one"}, {company_id: 3, id: 393, name: "two"}], on_conflict: {constraint: campaigns_pkey}) { affected_rows returning { id name } } }`,
  },
  {
    name: 'two upserts of one key in one request',
    query: `mutation { ${['a', 'b'].map((alias) => `${alias}: insert_campaigns(objects: [{company_id: 3, id: 394, name: "${alias}"}, {company_id: 4, id: 394, name: "${alias}"}], on_conflict: {constraint: campaigns_pkey, update_columns: [name]}) { returning { id name } }`).join(' ')} }`,
  },
  {
    name: 'an upsert of one local key twice',
    isError: true,
    query: `mutation { insert_notes(objects: [{id: 391, company_id: 3, text: "one"}, {id: 391, company_id: 3, text: "two"}], on_conflict: {constraint: notes_pkey, update_columns: [text]}) { returning { id text } } }`,
  },
  {
    name: 'a nested insert of a tenant',
    query: `mutation { insert_campaigns_one(object: {company_id: 23, name: "n", ads: {data: [{name: "a", clicks: {data: [{clicked_at: "2026-02-02", price: "1"}]}}, {name: "b"}]}}) { name ads(${BY_ID}) { name clicks_aggregate: clicks(${BY_ID}) { price } } } }`,
    company: 23,
  },
  {
    name: 'several updates of a tenant',
    query: `mutation { update_campaigns_many(updates: [{where: {id: {_eq: "241"}}, _set: {state: "x"}}, {where: {ads: {name: {_like: "ad 2%"}}}, _inc: {budget: "1"}}]) { affected_rows returning { id state budget } } }`,
    company: 24,
    isUnordered: true,
  },
  {
    name: 'an update by key of a tenant with relationships',
    query: `mutation { update_campaigns_by_pk(pk_columns: {company_id: "25", id: "251"}, _set: {name: "renamed"}) { name company { name plan { name } campaigns_aggregate { aggregate { count } } } } }`,
    company: 25,
  },
  {
    name: 'several mutations of a tenant',
    query: `mutation { a: insert_campaigns_one(object: {company_id: 26, name: "r"}) { name } b: update_campaigns(where: {state: {_eq: "done"}}, _set: {budget: "7"}) { affected_rows } c: delete_clicks(where: {price: {_gt: "5"}}) { affected_rows } }`,
    company: 26,
  },
  {
    name: 'a delete of a tenant over relationships',
    query: `mutation { delete_clicks(where: {ad: {campaign: {state: {_eq: "paused"}}}}) { affected_rows returning { id ad { name campaign { label } } } } }`,
    company: 27,
    isUnordered: true,
  },
  {
    name: 'a delete by key of a tenant',
    query: 'mutation { delete_clicks_by_pk(company_id: "28", id: "281111") { id ad { name } } }',
    company: 28,
  },
];

/** Subscriptions; the first answer counts. */
const SUBSCRIPTIONS: readonly Operation[] = [
  {
    name: 'a live query',
    query: `subscription { campaigns(${BY_COMPANY}, limit: 3) { id company { name } } }`,
  },
  {
    name: 'a live query of a tenant',
    query: `subscription { campaigns(${BY_ID}) { id ads(${BY_ID}) { id } } }`,
    company: 15,
  },
  {
    name: 'a stream of a tenant',
    query:
      'subscription { clicks_stream(batch_size: 3, cursor: {initial_value: {id: "0"}, ordering: ASC}) { id price ad { name } } }',
    company: 16,
  },
  {
    name: 'a stream over all shards',
    query:
      'subscription { clicks_stream(batch_size: 4, cursor: {initial_value: {id: "0"}, ordering: ASC}) { id price } }',
  },
];

export const OPERATIONS: readonly Operation[] = [...READS, ...SUBSCRIPTIONS, ...WRITES];

/** A declaration that a cluster refuses, with a part of the reason. */
export type Refusal = {
  readonly name: string;
  readonly sql: string;
  readonly type: string;
  readonly args: object;
  readonly reason: string;
};

export const REFUSALS: readonly Refusal[] = [
  {
    name: 'a function in SQL over a distributed table',
    sql: `create function sql_search(search text) returns setof campaigns stable language sql
      as $$ select * from campaigns where name like search $$`,
    type: 'pg_track_function',
    args: { function: 'sql_search' },
    reason: 'Write it in PL/pgSQL',
  },
  {
    name: 'a computed field that reads other shards',
    sql: `create function campaign_count(company companies) returns bigint stable language plpgsql
      as $$ begin return (select count(*) from campaigns where company_id = company.id); end $$`,
    type: 'pg_add_computed_field',
    args: { table: 'companies', name: 'count', definition: { function: 'campaign_count' } },
    reason: 'Use a relationship and its aggregates',
  },
  ...['campaigns', 'plans'].map((table) => ({
    name: `an event trigger on ${table}`,
    sql: 'select 1',
    type: 'pg_create_event_trigger',
    args: { name: `on_${table}`, table, insert: { columns: '*' }, webhook: 'http://127.0.0.1:9' },
    reason: 'Citus has triggers on local tables only',
  })),
];
