/** Runs operator/kubernetes/faults.kube.test.ts with many runs: changes of resources while the API server, the engine, a database, a remote
 *  schema and webhooks fail by random rules. In: --runs, --seed; KUBEBUILDER_ASSETS, or Go. Out: the output of the test, with the seed of a
 *  run that failed; --out JSON {passed, failed}; exit 1.
 *  A smaller run is part of `make test`. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    out: { type: 'string' },
  },
});

console.log(`seed ${options.seed}`);
const { status } = spawnSync('npx', ['vitest', 'run', 'operator/kubernetes/faults.kube.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, FAULT_RUNS: options.runs, FAULT_SEED: options.seed },
});
const isPassed = status === 0;
const counts = { passed: isPassed ? Number(options.runs) : 0, failed: isPassed ? 0 : 1 };
if (options.out) writeFileSync(options.out, JSON.stringify(counts));
process.exitCode = isPassed ? 0 : 1;
