/** Starts what deploy/examples/every-kind refers to: a database, a billing service, and an engine with their addresses.
 *  Not here: the examples (testing/examples.ts). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { EVERY_KIND } from '../../testing/examples.ts';
import { type RemoteService, startRemote } from '../../testing/remote.ts';

export const EVERY_KIND_SCHEMA = readFileSync(join(EVERY_KIND, 'seed.sql'), 'utf8');

const BILLING = `
  type Query { invoices(authorId: Int!): [Invoice] }
  type Invoice { id: ID, total: Int }
`;

export type EveryKind = {
  readonly database: TestDatabase;
  readonly engine: TestEngine;
  readonly billing: RemoteService;
  readonly close: () => Promise<void>;
};

export function startBilling(): Promise<RemoteService> {
  return startRemote(BILLING, { 'Query.invoices': () => [{ id: 'i1', total: 3 }] });
}

/** The environment variables of the engine that the examples refer to. */
export function environmentFor(database: TestDatabase, billing: RemoteService): Record<string, string> {
  return {
    ARCHIVE_URL: database.url,
    BILLING_URL: billing.url,
    BILLING_TOKEN: 'token',
    AUTH_URL: 'http://127.0.0.1:9',
    AUTH_KEY: 'key',
    JOBS_URL: 'http://127.0.0.1:9',
  };
}

export async function startEveryKind(): Promise<EveryKind> {
  const database = await createDatabase();
  await database.sql(EVERY_KIND_SCHEMA);
  const billing = await startBilling();
  const engine = await startTestEngine({
    databaseUrl: database.url,
    env: environmentFor(database, billing),
    enableAllowlist: true,
  });
  return {
    database,
    engine,
    billing,
    close: async () => {
      await engine.close();
      await billing.close();
      await database.drop();
    },
  };
}
