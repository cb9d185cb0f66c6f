/** GENERATORS: what produces cases, as an ordered table. A case is up to 1 MB that somebody else than the administrator may send or answer.
 *  In: random choices. Out: a case that runs against an engine. Not here: measuring (meter.ts), judging (run.ts). */
import { randomBody } from './documents.ts';
import type { Random } from './random.ts';

export type AmplificationCase = {
  /** A description of the generated case, for reports. */
  readonly name: string;
  readonly bytes: number;
  /** Runs the case and returns the beginning of the outcome. The engine has no plan of an earlier run with another `salt`. */
  readonly run: (engineUrl: string, salt?: number) => Promise<string>;
};

export type Generator = {
  readonly name: string;
  readonly generate: (random: Random) => AmplificationCase;
};

export const GENERATORS: readonly Generator[] = [{ name: 'documents', generate: documentCase }];

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
  const run = async (engineUrl: string, salt?: number) => {
    const response = await fetch(engineUrl + endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: salted(body, salt),
      signal: AbortSignal.timeout(GIVE_UP_MS),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    return `${response.status}, ${bytes.length} bytes: ${bytes.toString('utf8', 0, MOST_SHOWN)}`;
  };
  return { name: `${name} at ${endpoint}`, bytes: body.length, run };
}
