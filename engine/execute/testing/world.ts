/** A world to ask: a real database with a schema of the test's own, its metadata resolved, and `ask` as different people. */
import { createDatabase, type TestDatabase } from '../../../testing/database.ts';
import { introspect } from '../../catalog/introspect.ts';
import { Sources } from '../../database/sources.ts';
import { EngineError, toGraphqlError } from '../../errors/engine-error.ts';
import { parseMetadata } from '../../metadata/parse.ts';
import type { Model } from '../../resolve/model/model.ts';
import type { ResolveOptions } from '../../resolve/model/options.ts';
import { resolve } from '../../resolve/resolve.ts';
import type { Session } from '../../resolve/session.ts';
import { answer } from '../answer.ts';
import { bodyText } from '../splice.ts';

export type Asked = {
  readonly data?: Record<string, unknown>;
  readonly errors?: readonly { message: string; extensions: { code: string; path: string } }[];
};

export type World = {
  readonly source: TestDatabase;
  readonly sources: Sources;
  readonly model: Model;
  /** As `user` 1 unless told otherwise; `{role: 'admin'}` is the administrator. */
  readonly ask: (
    query: string,
    variables?: Record<string, unknown>,
    session?: Partial<Session>,
  ) => Promise<Asked>;
  /** Puts the rows back. */
  readonly reset: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** `tables` and `functions` are those of one source, `default`. */
export async function openWorld(
  schema: string,
  {
    tables,
    functions = [],
  }: { readonly tables: readonly unknown[]; readonly functions?: readonly unknown[] },
  options: ResolveOptions = { stringifyNumericTypes: false },
): Promise<World> {
  const source = await createDatabase();
  await source.sql(schema);
  const sources = new Sources({ env: { WORLD: source.url }, folders: [] });
  const configuration = { connection_info: { database_url: { from_env: 'WORLD' } } };
  const metadata = parseMetadata({
    version: 3,
    sources: [{ name: 'default', kind: 'postgres', configuration, tables, functions }],
  });
  sources.publish(metadata.sources);
  const catalogs = new Map([['default', await introspect(sources.get('default'))]]);
  const { model, inconsistencies } = resolve(metadata, catalogs, options);
  if (inconsistencies.length > 0) throw new Error(JSON.stringify(inconsistencies));
  return {
    source,
    sources,
    model,
    ask: async (query, variables = {}, session = {}) => {
      const who = { ...USER, ...session };
      const asked = answer({ query, variables }, { model, session: who, databases: sources });
      return JSON.parse(bodyText(await asked.catch(refused))) as Asked;
    },
    reset: async () => {
      await source.sql(schema);
    },
    close: async () => {
      await sources.close();
      await source.drop();
    },
  };
}

const USER: Session = {
  role: 'user',
  variables: { 'x-engine-role': 'user', 'x-engine-user-id': '1' },
  mayUseBackendOnly: false,
};

function refused(error: unknown): string {
  if (!(error instanceof EngineError)) throw error;
  return JSON.stringify({ errors: [toGraphqlError(error, false)] });
}
