/** Sends the request of a PermissionTest to an engine, with the admin secret, the role and the session variables as headers.
 *  Out: the response. Throws EngineProblem when no GraphQL response comes back, and when the rate of the role refuses the request.
 *  Not here: the comparison with the expectation (../permission-tests/expectation.ts). */
import { isRecord, parseJson } from '@pergola/engine/metadata';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { ResponseError, TestRequest, TestResponse } from '../ports/permission-test.ts';
import type { EngineAddress } from './address.ts';
import { receive } from './request.ts';

const DEFAULT_PREFIX = 'x-engine-';

export async function sendTest(address: EngineAddress, request: TestRequest): Promise<TestResponse> {
  const { query, operationName, variables } = request;
  const { status, text } = await receive(address, '/v1/graphql', {
    method: 'POST',
    headers: headersOf(address, request),
    body: JSON.stringify({ query, operationName, variables }),
    redirect: 'manual',
  });
  const body = jsonOf(text);
  if (!isRecord(body) || !('data' in body || Array.isArray(body['errors']))) {
    throw new EngineProblem('unreachable', `the engine sent no GraphQL response (${status})`);
  }
  const errors = Array.isArray(body['errors']) ? body['errors'].map(errorOf) : [];
  // Clients of the role use the same rate, so such an answer says nothing about permissions.
  const refusal = errors.find(({ code }) => code === 'rate-limit-exceeded');
  if (refusal) throw new EngineProblem('unreachable', refusal.message);
  return { data: body['data'] ?? null, errors };
}

/** The session variables of a resource have the prefix of its engine, or x-engine-. */
function headersOf(
  { adminSecret, client = 'pergola-operator', headerPrefix: prefix = DEFAULT_PREFIX }: EngineAddress,
  { role, sessionVariables = {} }: TestRequest,
): Record<string, string> {
  const variables = Object.entries(sessionVariables).map(([name, value]) => {
    const lower = name.toLowerCase();
    return [
      lower.startsWith(DEFAULT_PREFIX) ? prefix + lower.slice(DEFAULT_PREFIX.length) : lower,
      value,
    ] as const;
  });
  return {
    ...Object.fromEntries(variables),
    'content-type': 'application/json',
    // The engine counts what its clients use.
    'graphql-client-name': client,
    [`${prefix}role`]: role,
    ...(adminSecret === undefined ? {} : { [`${prefix}admin-secret`]: adminSecret }),
  };
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function errorOf(error: unknown): ResponseError {
  const { message, extensions } = (isRecord(error) ? error : {}) as {
    readonly message?: unknown;
    readonly extensions?: unknown;
  };
  const { code, path } = isRecord(extensions) ? extensions : {};
  return { code: String(code ?? ''), message: String(message ?? ''), path: String(path ?? '$') };
}
