/** GENERATORS: what produces cases, as an ordered table. A case is up to 1 MB that somebody else than the administrator may send, answer or
 *  declare. In: random choices and the world. Out: a case that runs against an engine. Not here: measuring (meter.ts), judging (run.ts). */
import { ADMIN_SECRET } from '../attack/limited-engine.ts';
import { randomAnswer } from './answers.ts';
import { type RandomChange, randomMigration, randomResource } from './changes.ts';
import { randomBody } from './documents.ts';
import type { Random } from './random.ts';
import type { AmplificationService } from './service.ts';

export type AmplificationCase = {
  /** A description of the generated case, for reports. */
  readonly name: string;
  readonly bytes: number;
  /** Runs the case and returns the beginning of the outcome. The engine has no plan of an earlier run with another `salt`. */
  readonly run: (engineUrl: string, salt?: number) => Promise<string>;
};

export type Generator = {
  readonly name: string;
  /** `number` is different in each case of a run. */
  readonly generate: (random: Random, service: AmplificationService, number: number) => AmplificationCase;
};

export const GENERATORS: readonly Generator[] = [
  { name: 'documents', generate: documentCase },
  { name: 'answers', generate: answerCase },
  { name: 'resources', generate: (random) => changeCase(randomResource(random)) },
  { name: 'migrations', generate: (random, _, number) => changeCase(randomMigration(random, number)) },
];

const ENDPOINTS = ['/v1/graphql', '/v1/graphql', '/v1alpha1/graphql', '/v1beta1/relay'] as const;
const MOST_SHOWN = 160;
const GIVE_UP_MS = 120_000;

const BEGINNING = '{"query":"';

/** Returns the body with a comment in each document, so that an engine has no plan of the same body with another `salt`. */
export function salted(body: string, salt = 0): string {
  return salt === 0 ? body : body.replaceAll(BEGINNING, `${BEGINNING}#${salt}\\n`);
}

function documentCase(random: Random): AmplificationCase {
  const endpoint = random.pick(ENDPOINTS);
  const { name, body } = randomBody(random);
  const run = (engineUrl: string, salt?: number) => send(engineUrl + endpoint, salted(body, salt));
  return { name: `${name} at ${endpoint}`, bytes: body.length, run };
}

function answerCase(random: Random, service: AmplificationService): AmplificationCase {
  const { name, query, body, headers } = randomAnswer(random);
  const run = (engineUrl: string, salt?: number) =>
    service.answering(body, headers, () =>
      send(`${engineUrl}/v1/graphql`, salted(JSON.stringify({ query }), salt), SECRET),
    );
  return { name, bytes: body.length, run };
}

function changeCase({ name, operation }: RandomChange): AmplificationCase {
  const body = JSON.stringify(operation);
  return { name, bytes: body.length, run: (engineUrl) => send(`${engineUrl}/v1/metadata`, body, SECRET) };
}

const SECRET = { 'x-engine-admin-secret': ADMIN_SECRET };

async function send(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    signal: AbortSignal.timeout(GIVE_UP_MS),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return `${response.status}, ${bytes.length} bytes: ${bytes.toString('utf8', 0, MOST_SHOWN)}`;
}
