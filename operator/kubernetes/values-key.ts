/** Creates the Secret with the key that encrypts named values, so that Secrets of resources can be stored without a step by hand. An existing
 *  Secret is never read or changed: another key would make the stored values unreadable.
 *  Not here: the key's use (engine/values/keys.ts), its rotation (docs/guides/secrets.md). */
import { randomBytes } from 'node:crypto';
import { type Timers, untilResolved } from './timers.ts';
import { hasStatus, type Transport } from './transport.ts';

export type ValuesKeyOptions = {
  readonly transport: Transport;
  readonly timers: Timers;
  readonly namespace: string;
  readonly name: string;
  readonly onProblem: (problem: Error) => void;
};

/** The key of the Secret whose text the engine reads, as the chart names it. */
const KEY = 'values-key';
/** The length of the engine's longest internal key. */
const KEY_BYTES = 32;
const BACKOFF = { leastMs: 500, mostMs: 60_000 };

/** Creates the Secret unless it exists, and repeats the attempt until the API server answers. Returns true if it was created. */
export async function createValuesKey(options: ValuesKeyOptions, signal: AbortSignal): Promise<boolean> {
  const { transport, timers, namespace, name, onProblem } = options;
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  // The same in each attempt: an attempt may have succeeded although its answer was lost.
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name, namespace, labels: { 'app.kubernetes.io/managed-by': 'pergola-operator' } },
    stringData: { [KEY]: randomBytes(KEY_BYTES).toString('base64') },
  };
  const create = async () => {
    try {
      await transport.send({ method: 'POST', path, body, signal });
      return true;
    } catch (error) {
      if (hasStatus(error, 409)) return false;
      throw error;
    }
  };
  return (await untilResolved(create, { timers, backoff: BACKOFF, onProblem }, signal)) ?? false;
}
