/** Writes the status `Applying` to resources with an unprocessed generation while a pass is slow. A quick pass writes none, and neither does
 *  a pass over very many resources: the writes would cost more than the pass, and `observedGeneration` says the same.
 *  Not here: the statuses after the pass (pass/reconcile.ts). */
import type { CustomResource } from '../kinds.ts';
import type { StatusSink } from '../ports/statuses.ts';
import { type StatusContext, statusOf } from '../status/conditions.ts';
import type { Timers } from './timers.ts';

const SLOW_MS = 1000;
const MOST_REPORTED = 100;
const APPLYING = {
  outcome: { reason: 'Applying', message: 'the engine is being asked' },
  wasWritten: false,
  failing: [],
} as const;

export type SlowPassOptions = {
  readonly sink: StatusSink;
  readonly timers: Timers;
  readonly context: () => StatusContext;
};

/** Starts the timer of a pass that begins now. The returned sink publishes only after the `Applying` statuses are written; `end` cancels
 *  the timer and waits for them. */
export function reportSlowPass(
  resources: () => readonly CustomResource[],
  { sink, timers, context }: SlowPassOptions,
): { readonly sink: StatusSink; readonly end: () => Promise<void> } {
  let reported: Promise<unknown> | undefined;
  const cancel = timers.after(SLOW_MS, () => {
    const waiting = resources().filter(
      ({ status, metadata }) => status?.observedGeneration !== metadata.generation,
    );
    if (waiting.length === 0 || waiting.length > MOST_REPORTED) return;
    reported = sink.publish(waiting.map((cr) => ({ cr, status: statusOf(cr, APPLYING, context()) })));
  });
  const end = async () => {
    cancel();
    await reported;
  };
  const publish: StatusSink['publish'] = async (changes) => {
    await end();
    return sink.publish(changes);
  };
  return { sink: { publish }, end };
}
