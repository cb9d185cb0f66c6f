/** `pergola completion SHELL`: prints a script that completes commands and flags in bash, zsh or fish.
 *  Exit codes: 0 printed, 2 wrong usage. Not here: the scripts (completion/shells.ts), reading the flags (completion/flags.ts). */
import { FlagProblem, runCommand } from '../operator/folder/flag-problem.ts';
import { commandsWithFlags, type Subcommands } from './completion/flags.ts';
import { SHELLS, type Shell } from './completion/shells.ts';

const HELP = `pergola completion SHELL: print the completion of commands and flags for bash, zsh or fish.

  pergola completion bash > ~/.local/share/bash-completion/completions/pergola
  pergola completion zsh  > "\${fpath[1]}/_pergola"
  pergola completion fish > ~/.config/fish/completions/pergola.fish

A new shell has it. Print it again after an update of pergola.

  -h, --help   print this help
`;

/** The shells, as words that follow the command. */
export const SUBCOMMANDS: Subcommands = Object.fromEntries(
  Object.keys(SHELLS).map((shell) => [shell, { doc: `print the completion for ${shell}`, flags: ['help'] }]),
);

export function run(argv: readonly string[]): Promise<number> {
  return runCommand('completion', () => shellIn(argv), complete, { help: HELP });
}

async function complete(shell: Shell): Promise<number> {
  process.stdout.write(SHELLS[shell](await commandsWithFlags()));
  return 0;
}

function shellIn(argv: readonly string[]): Shell | undefined {
  if (argv.includes('--help') || argv.includes('-h')) return undefined;
  const [name, ...rest] = argv;
  const names = Object.keys(SHELLS).join(', ');
  if (name === undefined) throw new FlagProblem(`the shell is required: ${names}`);
  if (rest.length > 0 || !Object.hasOwn(SHELLS, name)) {
    throw new FlagProblem(`there is no completion for ${argv.join(' ')}; there is one for ${names}`);
  }
  return name as Shell;
}
