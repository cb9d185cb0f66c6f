/** `pergola migrate create|up|status|verify`: versioned SQL for the database of a source.
 *  Exit codes: 0 done, 1 anything wrong, wrong flags included; 2 from `status`: migrations are pending.
 *  Not here: flags (migrate/flags.ts), each command (migrate/*.ts), migrations themselves (engine/migrate/). */
import { nearest } from '../engine/errors/nearest.ts';
import { MigrationRefusal } from '../engine/migrate/run-migrations.ts';
import { FlagProblem, reportFailure } from '../operator/folder/flag-problem.ts';
import { create } from './migrate/create.ts';
import { HELP, parseMigrateFlags } from './migrate/flags.ts';
import { status, verify } from './migrate/status.ts';
import { up } from './migrate/up.ts';

export { SUBCOMMANDS } from './migrate/flags.ts';

const COMMANDS = { create, up, status, verify };

export async function run(argv: readonly string[]): Promise<number> {
  try {
    const [name, ...rest] = argv;
    if (name === undefined || ['-h', '--help', 'help'].includes(name)) {
      process.stdout.write(HELP);
      return name === undefined ? 1 : 0;
    }
    if (!isCommand(name)) throw new FlagProblem(unknown(name));
    const flags = parseMigrateFlags(name, rest);
    if (flags) return await COMMANDS[name](flags);
    process.stdout.write(HELP);
    return 0;
  } catch (error) {
    if (!(error instanceof MigrationRefusal)) return reportFailure('migrate', error, 1);
    return reportFailure('migrate', new Error(`no migration was run:\n${error.message}`));
  }
}

function isCommand(name: string): name is keyof typeof COMMANDS {
  return Object.hasOwn(COMMANDS, name);
}

function unknown(name: string): string {
  const near = nearest(name, Object.keys(COMMANDS));
  const all = Object.keys(COMMANDS).join(', ');
  return `there is no command ${name}; ${near ? `did you mean ${near}?` : `use one of ${all}`}`;
}
