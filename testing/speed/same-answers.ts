/** Checks that the engine and the server that is written by hand answer the same, before anything is timed. In: both servers. Out: an
 *  error that names the first workload whose answers differ. */
import { isDeepStrictEqual } from 'node:util';
import type { Servers, Target } from './servers.ts';
import { CLERK, type Workload } from './workloads.ts';
import { ADMIN_SECRET } from './world.ts';

export async function checkSameAnswers(
  { engine, byHand }: Servers,
  workloads: readonly Workload[],
): Promise<void> {
  for (const workload of workloads) {
    for (const variant of workload.variants) {
      const [of, by] = [await answerOf(engine, workload, variant), await answerOf(byHand, workload, variant)];
      if (!isDeepStrictEqual(of, by) || isEmpty(of)) {
        const show = (answer: unknown) => JSON.stringify(answer).slice(0, 600);
        throw new Error(`${workload.name}: the engine answers ${show(of)}\nand the other server ${show(by)}`);
      }
    }
  }
}

async function answerOf(
  { port }: Target,
  workload: Workload,
  variant: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const headers = {
    'x-engine-admin-secret': ADMIN_SECRET,
    'x-engine-role': workload.role,
    'x-engine-user-id': String(CLERK),
    'accept-encoding': workload.isCompressed ? 'gzip' : 'identity',
  };
  const origin = `http://127.0.0.1:${port}`;
  const response = workload.path
    ? await fetch(`${origin}${workload.path(variant)}`, { headers })
    : await fetch(`${origin}/v1/graphql`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ query: workload.query, variables: variant }),
      });
  return (await response.json()) as Record<string, unknown>;
}

/** True for errors, and for a result of no rows, which would time something else than the title says. */
function isEmpty(answer: Record<string, unknown>): boolean {
  const roots = Object.values((answer['data'] ?? answer) as Record<string, unknown>);
  return (
    'errors' in answer || roots.some((root) => root === null || (Array.isArray(root) && root.length === 0))
  );
}
