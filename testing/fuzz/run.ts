/** Runs blocks of fuzz requests. Each block begins with the same world and its own seed, so that a single block repeats what it found.
 *  In: a Postgres, a seed, the number of blocks. Out: problems with their requests, and memory after each block.
 *  Not here: the requests (requests.ts) and how answers are judged (send.ts). */
import fc from 'fast-check';
import { buildClientSchema, getIntrospectionQuery } from 'graphql';
import { toDirectory } from '../../engine/metadata/directory.ts';
import { parseMetadata } from '../../engine/metadata/parse.ts';
import { Choices, LARGEST } from '../../engine/oracle/testing/choices.ts';
import { whatHangs } from './hanging.ts';
import { type Ground, makeRequest } from './requests.ts';
import { NO_ANSWER, send } from './send.ts';
import { ADMIN_SECRET, Subject } from './subject.ts';
import { admin, rebuild } from './world.ts';

export const BLOCK_SIZE = 500;
/** The number of random numbers that a request is generated from. */
const NUMBERS = 250;
/** The number of concurrent requests. */
const AT_ONCE = 6;

export type Problem = { readonly block: number; readonly what: string; readonly request: string };
export type Block = {
  readonly block: number;
  readonly problems: readonly Problem[];
  readonly memoryMb: number;
};

/** Runs the blocks from `from` on. An engine that has ended is started again. */
export async function* fuzz(
  databaseUrl: string,
  options: { readonly seed: number; readonly from: number; readonly blocks: number },
): AsyncGenerator<Block> {
  let subject = await Subject.start(databaseUrl);
  try {
    for (let block = options.from; block < options.from + options.blocks; block++) {
      if (!subject.isAlive) subject = await Subject.start(databaseUrl);
      yield await blockOf(subject, databaseUrl, options.seed, block);
    }
  } finally {
    await subject.stop();
  }
}

/** Runs a block. Throws with what the engine does when the world cannot be rebuilt, or the engine does not answer. */
async function blockOf(subject: Subject, databaseUrl: string, seed: number, block: number): Promise<Block> {
  try {
    const problems = await runBlock(subject, databaseUrl, seed, block);
    return { block, problems, memoryMb: subject.isAlive ? await subject.memoryMb() : 0 };
  } catch (error) {
    const where = subject.isAlive ? await subject.stopHanging() : 'has ended';
    throw new Error(`block ${block}: ${(error as Error).message}; the engine ${where}`, { cause: error });
  }
}

async function runBlock(
  subject: Subject,
  databaseUrl: string,
  seed: number,
  block: number,
): Promise<readonly Problem[]> {
  await rebuild(subject.url, databaseUrl);
  const ground = await groundOf(subject.url);
  const numbers = fc.array(fc.nat(LARGEST), { minLength: NUMBERS, maxLength: NUMBERS });
  const requests = fc
    .sample(numbers, { seed: seed + block, numRuns: BLOCK_SIZE })
    .map((told) => makeRequest(new Choices(told), ground));
  const problems: Problem[] = [];
  const rest = requests.values();
  const sendRest = async () => {
    for (const request of rest) {
      if (!subject.isAlive) return;
      const wrong = await send(subject.url, request);
      // An engine that hangs would let every further request wait as long.
      const where = wrong === NO_ANSWER && subject.isAlive ? await whatHangs(subject, databaseUrl) : '';
      for (const what of [...(wrong === null ? [] : [wrong + where]), ...subject.takeProblems()]) {
        problems.push({ block, what, request: JSON.stringify(request) });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sendRest));
  return problems;
}

/** Returns the schema and the metadata that requests are generated from. */
async function groundOf(url: string): Promise<Ground> {
  const response = await fetch(`${url}/v1/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-engine-admin-secret': ADMIN_SECRET },
    body: JSON.stringify({ query: getIntrospectionQuery() }),
  });
  const { data } = (await response.json()) as { data: never };
  const metadata = parseMetadata(await admin(url, 'export_metadata', {}));
  return { schema: buildClientSchema(data), directory: toDirectory(metadata) };
}
