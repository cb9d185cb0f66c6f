/** When the next pass is due because of the time alone: a grace period ends, a pause ends, a webhook is called.
 *  Pure. Not here: what a pass does then (pass/reconcile.ts). */
import { nextResumption } from '../decide/pause.ts';
import type { Report } from './report.ts';

/** Returns the next time for which something waits, in milliseconds of the wall clock; undefined when there is none. It may be past. */
export function nextDeadline({ plan, resources, verdicts }: Report, now: Date): number | undefined {
  const revocations = [...(plan?.desired.revoked.values() ?? [])].filter(({ isOver }) => !isOver);
  const resumption = nextResumption(resources, now);
  const ends = [
    ...revocations.map(({ until }) => until.getTime()),
    ...[...(plan?.desired.reserved.values() ?? [])].map((until) => until.getTime()),
    ...(resumption === undefined ? [] : [resumption]),
    ...[...verdicts.values()].flatMap(({ delivery }) =>
      delivery?.checkAt ? [delivery.checkAt.getTime()] : [],
    ),
  ];
  return ends.length === 0 ? undefined : Math.min(...ends);
}
