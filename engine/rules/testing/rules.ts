/** Starts an engine with a fixture database for tests of rules, and reduces its answers to what a rule is about: the data, or the
 *  code, path and message of the first error. Not here: inputs and expectations, which each test generates from its rule. */
import { createDatabase, type TestDatabase } from '../../../testing/database.ts';
import { startTestEngine, type TestEngine, type TestEngineOptions } from '../../../testing/engine.ts';

export type RuleFixture = {
  /** SQL that creates the tables, in an empty database. */
  readonly sql: string;
  /** The tables to track, by name. */
  readonly tables: readonly string[];
  /** Operations of `/v1/metadata` to perform after that, as pairs of type and arguments. Each must succeed. */
  readonly operations?: readonly (readonly [type: string, args: object])[];
  readonly options?: Omit<TestEngineOptions, 'databaseUrl'>;
};

export type RuleWorld = {
  readonly database: TestDatabase;
  readonly engine: TestEngine;
  readonly close: () => Promise<void>;
};

/** The first error of an answer, in the same form for every endpoint. */
export type Refusal = { readonly code: string; readonly path: string; readonly message: string };

/** The operations that relate the tables `owner` and `note` by the column `note.owner_id`. */
export const NOTES_OF_OWNER = [
  'pg_create_array_relationship',
  {
    table: 'owner',
    name: 'notes',
    using: { foreign_key_constraint_on: { table: 'note', columns: ['owner_id'] } },
  },
] as const;
export const OWNER_OF_NOTE = [
  'pg_create_object_relationship',
  { table: 'note', name: 'owner', using: { foreign_key_constraint_on: 'owner_id' } },
] as const;

/** Starts a database and an engine on it, with the tables tracked and the operations performed. */
export async function startWorld({
  sql,
  tables,
  operations = [],
  options = {},
}: RuleFixture): Promise<RuleWorld> {
  const database = await createDatabase();
  await database.sql(sql);
  const engine = await startTestEngine({ ...options, databaseUrl: database.url });
  const track = tables.map((table) => ['pg_track_table', { table }] as const);
  for (const [type, args] of [...track, ...operations]) {
    const { status, body } = await engine.admin(type, args);
    if (status !== 200) throw new Error(`${type} failed: ${JSON.stringify(body)}`);
  }
  const close = async () => {
    await engine.close();
    await database.drop();
  };
  return { database, engine, close };
}

/** Sends a GraphQL request and returns its data, or its first error. */
export async function graphqlOutcome(
  engine: TestEngine,
  query: string,
  options?: Parameters<TestEngine['graphql']>[1],
): Promise<{ readonly data: unknown } | Refusal> {
  const { data, errors } = await engine.graphql(query, options);
  const [error] = errors ?? [];
  return error ? { ...error.extensions, message: error.message } : { data };
}

/** Performs an admin operation and returns its body, or its error. */
export async function adminOutcome(
  engine: TestEngine,
  type: string,
  args: unknown,
  options?: Parameters<TestEngine['admin']>[2],
): Promise<{ readonly data: unknown } | Refusal> {
  const { status, body } = await engine.admin<{ code: string; path: string; error: string }>(
    type,
    args,
    options,
  );
  return status === 200 ? { data: body } : { code: body.code, path: body.path, message: body.error };
}
