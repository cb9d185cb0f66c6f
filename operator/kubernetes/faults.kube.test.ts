/** Tests that faults between the operator, the API server, the engine, a database and a remote schema leave no trace: random runs, which FAULT_SEED repeats and
 *  FAULT_RUNS counts (`npm run faults`). Not here: operators that are killed (chaos.kube.test.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { faultRun, SETTLED_MS } from '../../testing/chaos/fault-run.ts';
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
    'after the last fault every status is true within 30 s, and nothing that was revoked is served',
    async () => {
      const wanted = new Map<string, Map<string, readonly string[]>>();
      const times: number[] = [];
      for (let run = 0; run < Number(runs); run++) {
        const { problems, settledMs } = await faultRun(rig.world, wanted, Number(seed) + run);
        expect(problems).toEqual([]);
        times.push(settledMs);
      }
      expect(rig.faults()).toBeGreaterThan(times.length);
      const [median, most] = [0.5, 1].map(
        (part) => times.toSorted((a, b) => a - b)[Math.ceil(times.length * part) - 1]!,
      );
      console.log(
        `${times.length} runs, ${rig.faults()} faults: all true after ${median!.toFixed(0)} ms, ${most!.toFixed(0)} at most`,
      );
    },
    Number(runs) * (SETTLED_MS + 10_000),
  );
});
