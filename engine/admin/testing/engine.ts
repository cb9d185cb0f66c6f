/** An engine without HTTP for tests of the admin room: a real Postgres, a started EngineState, admin requests by value. */
import { createDatabase, type TestDatabase } from '../../../testing/database.ts';
import { ADMIN_ROLE } from '../../resolve/session.ts';
import { type AdminEndpoint, type AdminResponse, runAdmin } from '../run.ts';
import { EngineState, type EngineStateOptions, type StateEvent } from '../state.ts';

export type TestEngine = {
  readonly database: TestDatabase;
  readonly state: EngineState;
  readonly events: StateEvent[];
  /** As the administrator, on /v1/metadata. */
  readonly metadata: (body: unknown) => Promise<AdminResponse>;
  /** As the administrator, on /v1/query. */
  readonly query: (body: unknown) => Promise<AdminResponse>;
  readonly send: (body: unknown, endpoint: AdminEndpoint, role?: string) => Promise<AdminResponse>;
  /** `run_sql` on /v1/query; its result, or an error with the body of the refusal. */
  readonly sql: (sql: string, args?: Readonly<Record<string, unknown>>) => Promise<AdminResponse>;
  /** The same on /v1/query; raises unless it answers 200. */
  readonly must: (body: unknown) => Promise<unknown>;
  readonly close: () => Promise<void>;
};

/** A new database with an engine on it, or another engine on the database of one. */
export async function startTestEngine(
  options: Partial<EngineStateOptions> = {},
  sharedWith?: TestEngine,
): Promise<TestEngine> {
  const database = sharedWith?.database ?? (await createDatabase());
  const events: StateEvent[] = [];
  const state = new EngineState({
    metadataDatabaseUrl: database.url,
    hasDatabaseUrl: true,
    stringifyNumericTypes: false,
    pollIntervalMs: 0,
    report: (event) => events.push(event),
    ...options,
    env: { ENGINE_GRAPHQL_DATABASE_URL: database.url, ...options.env },
  });
  await state.start();
  const send: TestEngine['send'] = (body, endpoint, role = ADMIN_ROLE) =>
    runAdmin(state, body, { endpoint, session: { role, variables: {}, mayUseBackendOnly: true } });
  const must = async (body: unknown): Promise<unknown> => {
    const response = await send(body, '/v1/query');
    if (response.status !== 200) throw new Error(JSON.stringify(response));
    return response.body;
  };
  return {
    database,
    state,
    events,
    send,
    must,
    metadata: (body) => send(body, '/v1/metadata'),
    query: (body) => send(body, '/v1/query'),
    sql: (sql, args = {}) => send({ type: 'run_sql', args: { sql, ...args } }, '/v1/query'),
    close: async () => {
      await state.close(AbortSignal.timeout(10_000));
      if (!sharedWith) await database.drop();
    },
  };
}

export const op = (type: string, args: unknown = {}): { type: string; args: unknown } => ({ type, args });
