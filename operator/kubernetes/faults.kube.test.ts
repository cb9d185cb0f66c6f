/** Tests that faults between the operator, the API server, the engine, a database, a remote schema and webhooks leave no trace: random
 *  runs, which FAULT_SEED repeats and FAULT_RUNS counts (`npm run faults`). Not here: operators that are killed (chaos.kube.test.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { faultRun, type Progress, SETTLED_MS } from '../../testing/chaos/fault-run.ts';
import { describeKube } from '../../testing/kube.ts';
import { createFaultWorld, type FaultRig } from './testing/fault-world.ts';

const { FAULT_SEED: seed = '20261127', FAULT_RUNS: runs = '40' } = process.env;

await describeKube('an operator under faults', (kube) => {
  let rig: FaultRig;
  beforeAll(async () => {
    rig = await createFaultWorld(kube());
  }, 180_000);
  afterAll(() => rig?.close(), 60_000);

  test(
    'after the last fault nothing that was revoked is served for more than two seconds, every status becomes true, and every row is delivered',
    async () => {
      const progress: Progress = { wanted: new Map(), inserted: [] };
      const times: number[] = [];
      const revoked: number[] = [];
      for (let run = 0; run < Number(runs); run++) {
        const { problems, settledMs, revokedMs } = await faultRun(rig.world, progress, Number(seed) + run);
        expect(problems).toEqual([]);
        times.push(settledMs);
        revoked.push(revokedMs);
      }
      expect(rig.faults()).toBeGreaterThan(times.length);
      const text = (all: readonly number[]) =>
        [0.5, 0.99, 1]
          .map((part) => all.toSorted((a, b) => a - b)[Math.ceil(all.length * part) - 1]!.toFixed(0))
          .join(', ');
      console.log(
        `${times.length} runs, ${rig.faults()} faults; median, 99th percentile and most, in ms: all true after ` +
          `${text(times)}; what was revoked served for ${text(revoked)}`,
      );
    },
    Number(runs) * (SETTLED_MS + 10_000),
  );
});
