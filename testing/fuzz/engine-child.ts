/** Runs the engine of a fuzz run in a process of its own, so that its memory and its exit can be observed. In: the database's URL.
 *  Out, as messages: its URL, unexpected errors, and its memory after a garbage collection. */
import { loadOptions } from '../../engine/config/load-options.ts';
import { startEngine } from '../../engine/main.ts';

export type FromChild =
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'unexpected'; readonly error: string }
  | { readonly kind: 'memory'; readonly bytes: number };

const [databaseUrl, adminSecret] = process.argv.slice(2);
const flags = ['--database-url', databaseUrl!, '--admin-secret', adminSecret!, '--server-port', '0'];
const options = loadOptions(
  [...flags, '--server-host', '127.0.0.1', '--unauthorized-role', 'anonymous', '--enable-console', 'true'],
  {},
);
const send = (message: FromChild) => process.send!(message);

const engine = await startEngine(options, process.env, {
  observe: (observation) => {
    if (observation.kind !== 'unexpected') return;
    const { error } = observation;
    send({
      kind: 'unexpected',
      error: error instanceof Error ? (error.stack ?? String(error)) : String(error),
    });
  },
  flush: () => {},
});
process.on('message', () => {
  const collect = (globalThis as unknown as { gc: () => void }).gc;
  // The first collection may run finalizers that free more.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  send({ kind: 'memory', bytes: heapUsed + external });
});
process.on('disconnect', () => process.exit());
send({ kind: 'ready', url: engine.url });
