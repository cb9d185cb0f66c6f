/** Introspects a remote schema. Out: its Upstream, or the error that explains why it has none.
 *  Not here: reading the introspection result (resolve/introspection.ts), HTTP (http.ts). */
import { EngineError, fail } from '../errors/engine-error.ts';
import { quotedJson } from '../errors/quoted.ts';
import { inSlices } from '../limits/slices.ts';
import type { RemoteSchemaDefinition } from '../metadata/schema/remote-schema.ts';
import { AnswerMemory } from '../outgoing/answer-memory.ts';
import { INTROSPECTION_QUERY, readingIntrospection } from '../resolve/introspection.ts';
import type { RemoteEndpoint } from '../resolve/model/remote-schema.ts';
import { endpointOf, type Upstream } from '../resolve/remote-schema.ts';
import { ADMIN_ROLE, SESSION_PREFIX, type Session } from '../resolve/session.ts';
import type { OutboundContext } from '../webhook/outbound.ts';
import { SentSecrets } from '../webhook/sent-secrets.ts';
import { postToRemote, type RequestOrigin } from './http.ts';

const ENGINE_ITSELF: Session = {
  role: ADMIN_ROLE,
  variables: { [`${SESSION_PREFIX}role`]: ADMIN_ROLE },
  mayUseBackendOnly: false,
};

/** The limits of an introspection: its time, and the number of types, fields, arguments, values and members. */
export type IntrospectionLimits = { readonly timeLimitMs: number; readonly mostDefinitions: number };

/** The most bytes of an introspection for each definition it may have. Its JSON is parsed at once. */
const BYTES_OF_DEFINITION = 256;

/** Returns an error for a service that cannot be reached, or whose introspection is invalid or too large. It never throws one. */
export async function introspectRemote(
  definition: RemoteSchemaDefinition,
  outbound: Pick<OutboundContext, 'variables' | 'headerPrefix' | 'trusts'>,
  { timeLimitMs, mostDefinitions }: IntrospectionLimits,
): Promise<Upstream> {
  const memory = new AnswerMemory();
  const secrets = new SentSecrets(outbound.variables);
  try {
    const endpoint = endpointOf(definition);
    const body = JSON.stringify({ query: INTROSPECTION_QUERY, operationName: 'IntrospectionQuery' });
    const origin = {
      session: ENGINE_ITSELF,
      outbound: { ...outbound, variables: secrets.read, headers: {}, memory },
      timeLimitMs,
      isRepeatable: true,
      isParsed: true,
      limit: limitOf(mostDefinitions),
    };
    const answer = await postToRemote(endpoint, body, origin);
    const introspection = dataOf(answer.body.toString(), endpoint, answer.status, secrets);
    return { introspection, schema: await inSlices(readingIntrospection(introspection, mostDefinitions)) };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { error };
  } finally {
    memory.release();
  }
}

function limitOf(mostDefinitions: number): NonNullable<RequestOrigin['limit']> {
  const bytes = mostDefinitions * BYTES_OF_DEFINITION;
  const text = `the introspection has more bytes than ${bytes}, the limit of --max-remote-schema-size ${mostDefinitions}`;
  return { bytes, exceeded: new EngineError('remoteSchemaInvalid', { text }) };
}

function dataOf(text: string, { url }: RemoteEndpoint, status: number, secrets: SentSecrets): unknown {
  const body = parsed(text);
  if (body?.data !== undefined && body.data !== null) return body.data;
  const internal = secrets.redactedJson({ status, body: quotedJson(body?.errors) ?? text.slice(0, 1000) });
  const reason = `there is no introspection in it (status ${status})`;
  return fail('remoteAnswerInvalid', { url, reason }, { internal });
}

function parsed(text: string): { readonly data?: unknown; readonly errors?: unknown } | null {
  try {
    return JSON.parse(text) as object | null;
  } catch {
    return null;
  }
}
