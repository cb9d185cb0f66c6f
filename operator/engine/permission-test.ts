/** Sends the request of a PermissionTest to an engine, with the admin secret, the role and the session variables as headers.
 *  Out: the response. Throws EngineProblem when no GraphQL response comes back.
 *  Not here: the comparison with the expectation (../permission-tests/expectation.ts). */
import { isRecord, parseJson } from '@pergola/engine/metadata';
import { EngineProblem, type ResponseError, type TestRequest, type TestResponse } from '../ports.ts';
import { bodyOf, type EngineAddress } from './address.ts';

const DEFAULT_PREFIX = 'x-engine-';
const TIMEOUT_MS = 30_000;

export async function sendTest(address: EngineAddress, request: TestRequest): Promise<TestResponse> {
  const { query, operationName, variables } = request;
  const text = await post(address, request, JSON.stringify({ query, operationName, variables }));
  const body = jsonOf(text);
  if (!isRecord(body) || !('data' in body || Array.isArray(body['errors']))) {
    throw new EngineProblem('unreachable', `the engine sent no GraphQL response: ${text.slice(0, 200)}`);
  }
  const errors = Array.isArray(body['errors']) ? body['errors'].map(errorOf) : [];
  return { data: body['data'] ?? null, errors };
}

async function post(address: EngineAddress, request: TestRequest, body: string): Promise<string> {
  try {
    const response = await (address.fetch ?? fetch)(`${address.url.replace(/\/+$/, '')}/v1/graphql`, {
      method: 'POST',
      headers: headersOf(address, request),
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(address.timeoutMs ?? TIMEOUT_MS),
    });
    return await bodyOf(response);
  } catch (error) {
    const { cause, message } = error as Error;
    const detail = cause instanceof Error && cause.message !== '' ? cause.message : message;
    throw new EngineProblem('unreachable', `the request could not be sent: ${detail}`, { cause: error });
  }
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
