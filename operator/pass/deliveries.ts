/** The deliveries that applied resources wait for. In: the report so far. Out: the report with their state.
 *  Not here: which resources wait for one, and what its record means (status/delivery.ts). */
import type { CustomResource } from '../kinds.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { Ports } from '../ports/ports.ts';
import { awaitedCall, deliveryOf } from '../status/delivery.ts';
import type { Attempt } from './attempt.ts';

/** Returns the report with the state of awaited deliveries of applied resources. An engine that cannot say it leaves them as they are. */
export async function withDeliveries(
  { engine, clock }: Ports,
  resources: readonly CustomResource[],
  report: Attempt,
): Promise<Attempt> {
  if (report.problem) return report;
  const awaited = resources.flatMap((cr) => {
    const isApplied = report.verdicts.get(cr.metadata.uid)?.outcome.reason === 'Applied';
    const call = isApplied ? awaitedCall(cr) : undefined;
    return call ? [{ cr, call }] : [];
  });
  if (awaited.length === 0) return report;
  try {
    const records = await engine.deliveries(awaited.map(({ call }) => call));
    const verdicts = new Map(report.verdicts);
    for (const [i, { cr, call }] of awaited.entries()) {
      const delivery = deliveryOf(cr, call, records[i], clock.now());
      verdicts.set(cr.metadata.uid, { ...verdicts.get(cr.metadata.uid)!, delivery });
    }
    return { ...report, verdicts };
  } catch (error) {
    if (error instanceof EngineProblem) return report;
    throw error;
  }
}
