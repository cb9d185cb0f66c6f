/** An engine without HTTP for tests of the admin room: a real Postgres, a started EngineState, and admin requests as values. */
import { createDatabase, type TestDatabase } from '../../../testing/database.ts';
import { ADMIN_ROLE } from '../../resolve/session.ts';
import { EngineState, type EngineStateOptions, type StateEvent } from '../../state/state.ts';
import type { AdminEndpoint } from '../request.ts';
import { type AdminResponse, runAdmin } from '../run.ts';

export type AdminTestEngine = {
  readonly database: TestDatabase;
  readonly state: EngineState;
  readonly events: StateEvent[];
  /** Sends a request as the administrator to /v1/metadata. */
  readonly metadata: (body: unknown) => Promise<AdminResponse>;
  /** Sends a request as the administrator to /v1/query. */
  readonly query: (body: unknown) => Promise<AdminResponse>;
  readonly send: (body: unknown, endpoint: AdminEndpoint, role?: string) => Promise<AdminResponse>;
  /** Sends `run_sql` to /v1/query. */
  readonly sql: (sql: string, args?: Readonly<Record<string, unknown>>) => Promise<AdminResponse>;
  /** Sends a request to /v1/query and returns the body. Throws unless the status is 200. */
  readonly must: (body: unknown) => Promise<unknown>;
  readonly close: () => Promise<void>;
};

/** Starts an engine on a new database, or another engine on the database of `sharedWith`. */
export async function startTestEngine(
  options: Partial<EngineStateOptions> = {},
  sharedWith?: AdminTestEngine,
): Promise<AdminTestEngine> {
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
  const send: AdminTestEngine['send'] = (body, endpoint, role = ADMIN_ROLE) =>
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
