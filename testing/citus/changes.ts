/** Tables of a Citus cluster that are distributed, moved and undistributed by another client while an engine answers requests for their rows. In: the URL
 *  of a cluster. Out: for each change, an answer that differs from that of a plain Postgres, or that the engine has not noticed the change.
 *  Not here: how it is noticed (engine/catalog/fingerprint.ts). */
import { isDeepStrictEqual } from 'node:util';
import { type GraphqlAnswer, replaceMetadata, startTestEngine, type TestEngine } from '../engine.ts';
import type { Verdict } from './comparison.ts';
import { runSql } from './worlds.ts';

const SCHEMA = [
  'create table parent (id int primary key, name text not null)',
  'create table child (parent_id int not null, id int not null, note text, primary key (parent_id, id))',
  "insert into parent select n, 'parent ' || n from generate_series(1, 20) n",
  'insert into child select 1 + n % 20, n from generate_series(1, 60) n',
];

const [LOCAL, REFERENCE] = ['a local table', 'a reference table'];

type Change = {
  readonly name: string;
  readonly sql: string;
  /** The distributions of both tables afterwards: `parent, child`. */
  readonly found: RegExp;
};

const CHANGES: readonly Change[] = [
  {
    name: 'a table is distributed',
    sql: "select create_distributed_table('parent', 'id')",
    found: new RegExp(`^distributed by id .*, ${LOCAL}$`),
  },
  {
    name: 'a table is distributed with it',
    sql: "select create_distributed_table('child', 'parent_id', colocate_with => 'parent')",
    found: /^distributed by id (.*), distributed by parent_id \1$/,
  },
  {
    name: 'a table gets another colocation',
    sql: "select update_distributed_table_colocation('child', 'none')",
    found: /^distributed by id (.*), distributed by parent_id (?!\1)/,
  },
  {
    name: 'a table is colocated again',
    sql: "select update_distributed_table_colocation('child', 'parent')",
    found: /^distributed by id (.*), distributed by parent_id \1$/,
  },
  {
    name: 'a table is distributed by another column',
    sql: "select alter_distributed_table('child', distribution_column => 'id', colocate_with => 'none')",
    found: /^distributed by id (.*), distributed by id (?!\1)/,
  },
  {
    name: 'a table is undistributed',
    sql: "select undistribute_table('child')",
    found: new RegExp(`^distributed by id .*, ${LOCAL}$`),
  },
  {
    name: 'a table becomes a reference table',
    sql: "select create_reference_table('child')",
    found: new RegExp(`^distributed by id .*, ${REFERENCE}$`),
  },
  {
    name: 'a distributed table becomes local below a reference table',
    sql: "select undistribute_table('parent')",
    found: new RegExp(`^${LOCAL}, ${REFERENCE}$`),
  },
];

type Data = Readonly<Record<string, unknown>>;

const lists = (from: number, step: number, count: number) =>
  Array.from({ length: count }, (_, i) => from + i * step);

/** Requests that no change may make differ, with their answers. */
const REQUESTS: readonly { readonly query: string; readonly data: Data }[] = [
  {
    query: '{ parent(order_by: {id: desc}) { id } }',
    data: { parent: lists(20, -1, 20).map((id) => ({ id })) },
  },
  {
    query: '{ parent(order_by: {id: desc}) { id children(order_by: {id: asc}, limit: 2) { id } } }',
    data: {
      parent: lists(20, -1, 20).map((id) => ({
        id,
        children: lists(id === 1 ? 20 : id - 1, 20, 2).map((child) => ({ id: child })),
      })),
    },
  },
  {
    query:
      '{ child(order_by: {id: desc}, limit: 3, where: {parent: {name: {_like: "parent 1%"}}}) { id parent { name } } }',
    data: {
      child: [60, 58, 57].map((id) => ({ id, parent: { name: `parent ${1 + (id % 20)}` } })),
    },
  },
  {
    query: 'mutation { update_child(where: {parent: {id: {_lt: 4}}}, _set: {note: "n"}) { affected_rows } }',
    data: { update_child: { affected_rows: 9 } },
  },
];

/** The refusal of a write to a local table that Citus does not know by a condition on rows that it knows. */
const REFUSED = 'distribution-unsupported';
/** The time between two checks of the source, in seconds. */
const INTERVAL = 1;
/** The time within which a change is noticed. */
const MOST_MS = 20_000;

/** Yields the verdict of each change. */
export async function* changes(url: string): AsyncGenerator<Verdict> {
  await runSql(url, SCHEMA);
  const engine = await startTestEngine({ databaseUrl: url, sourceCheckInterval: INTERVAL });
  try {
    const { status, body } = await replaceMetadata(engine, { tables: TABLES });
    if (status !== 200) throw new Error(JSON.stringify(body));
    for (const change of CHANGES) yield { name: change.name, problem: await problemOf(engine, url, change) };
  } finally {
    await engine.close();
  }
}

const related = (name: string, table: string, mapping: Readonly<Record<string, string>>) => ({
  name,
  using: { manual_configuration: { remote_table: table, column_mapping: mapping } },
});

const TABLES: readonly object[] = [
  { table: 'parent', array_relationships: [related('children', 'child', { id: 'parent_id' })] },
  { table: 'child', object_relationships: [related('parent', 'parent', { parent_id: 'id' })] },
];

/** Returns what is wrong with the answers from the change until it is noticed, and afterwards. */
async function problemOf(engine: TestEngine, url: string, { sql, found }: Change): Promise<string | null> {
  await runSql(url, [sql]);
  let distributions = '';
  for (const end = Date.now() + MOST_MS; Date.now() < end; ) {
    for (const request of REQUESTS) {
      const answer = await engine.graphql(request.query);
      if (!isRight(answer, request.data)) return `${request.query} is answered ${JSON.stringify(answer)}`;
    }
    // The first answers after the change was noticed are compared, too.
    if (found.test(distributions)) return null;
    distributions = await distributionsOf(engine);
  }
  return `the engine has ${distributions}`;
}

function isRight({ data, errors }: GraphqlAnswer<Data>, expected: Data): boolean {
  return errors ? errors[0]!.extensions.code === REFUSED : isDeepStrictEqual(data, expected);
}

async function distributionsOf(engine: TestEngine): Promise<string> {
  const { body } = await engine.admin('get_inconsistent_metadata', { include_keys: true });
  const { distributions = {} } = body as { readonly distributions?: Readonly<Record<string, string>> };
  const of = (table: string) => Object.entries(distributions).find(([key]) => key.includes(table))?.[1];
  return `${of('parent')}, ${of('child')}`;
}
