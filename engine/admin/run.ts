/** One admin request: body in, status and body out. Never throws.
 *  Not here: HTTP and authentication (http/), what each operation does (handlers/). Spec: "Schema/metadata API". */
import type { Session } from '../resolve/session.ts';
import type { EngineState } from './state.ts';

export type AdminEndpoint = '/v1/query' | '/v1/metadata' | '/v2/query';

export type AdminContext = {
  readonly endpoint: AdminEndpoint;
  readonly session: Session;
  /** May errors carry `internal`; default true (`--admin-internal-errors`). */
  readonly showInternal?: boolean;
};

export type AdminResponse = { readonly status: number; readonly body: unknown };

export declare function runAdmin(
  state: EngineState,
  body: unknown,
  context: AdminContext,
): Promise<AdminResponse>;
