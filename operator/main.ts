/** `pergola operator`: reconciles engines with the custom resources of a Kubernetes cluster until it is stopped; `pergola operator
 *  migrate-storage` runs once.
 *  Exit codes: 0 stopped, 1 start failed or lease lost (restart it), 2 wrong options.
 *  Not here: the operator itself (kubernetes/operator.ts), its options (kubernetes/options.ts). */
import { pino } from 'pino';
import { run as migrateStorage } from './commands/migrate-storage.ts';
import { defaultKubeConfig } from './kubernetes/kube-config.ts';
import { startOperator } from './kubernetes/operator.ts';
import { help, loadOptions, OptionProblem } from './kubernetes/options.ts';

export async function run(argv: readonly string[]): Promise<number> {
  if (argv[0] === 'migrate-storage') return migrateStorage(argv.slice(1));
  try {
    const options = loadOptions(argv, process.env);
    if (!options) {
      process.stdout.write(help());
      return 0;
    }
    const config = await defaultKubeConfig();
    const operator = await startOperator(config, options, pino({ level: options.logLevel }));
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void operator.stop());
    return (await operator.ended) ? 0 : 1;
  } catch (error) {
    const isOption = error instanceof OptionProblem;
    const hint = isOption ? '\nSee: pergola operator --help' : '';
    process.stderr.write(`pergola operator: ${(error as Error).message}${hint}\n`);
    return isOption ? 2 : 1;
  }
}
