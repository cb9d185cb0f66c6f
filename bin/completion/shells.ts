/** The completion scripts of shells: one function per shell. In: commands with their flags. Out: the script. Pure.
 *  A file name completes every argument that is no flag. */
import type { CommandFlags, HelpFlag } from './flags.ts';

export const SHELLS = { bash, zsh, fish } as const;
export type Shell = keyof typeof SHELLS;

function bash(commands: readonly CommandFlags[]): string {
  const names = [...commands.map(({ name }) => name), 'version', 'help'].join(' ');
  const flags = commands.map(
    ({ name, flags }) => `    ${name}) flags=${quoted(flags.map(dashed).join(' '))} ;;`,
  );
  const values = commands.flatMap(({ name, flags }) =>
    flags
      .filter((flag) => flag.values.length > 0)
      .flatMap((flag) =>
        spellings(flag).map(
          (spelling) => `    ${quoted(`${name} ${spelling}`)}) values=${quoted(flag.values.join(' '))} ;;`,
        ),
      ),
  );
  return `# The completion of pergola for bash. pergola completion bash prints it.
_pergola() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} flags='' values=''
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W ${quoted(names)} -- "$word"))
    return
  fi
  case $command in
${flags.join('\n')}
    help) [[ $COMP_CWORD -eq 2 ]] && COMPREPLY=($(compgen -W ${quoted(names)} -- "$word")); return ;;
  esac
  case "$command $before" in
${values.join('\n')}
  esac
  if [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$word"))
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  fi
}
complete -o default -F _pergola pergola
`;
}

function zsh(commands: readonly CommandFlags[]): string {
  const described = commands.map(({ name, summary }) => `    ${quoted(`${name}:${escapedColon(summary)}`)}`);
  const cases = commands.map(({ name, flags }) => {
    const specs = flags.flatMap((flag) =>
      spellings(flag).map((spelling) => `      ${quoted(zshSpec(flag, spelling))} \\`),
    );
    return [`    ${name}) _arguments \\`, ...specs, "      '*:file:_files' ;;"].join('\n');
  });
  return `#compdef pergola
# The completion of pergola for zsh. pergola completion zsh prints it.
_pergola() {
  local -a commands=(
${described.join('\n')}
    'version:print the version'
    'help:print the help of a command'
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join('\n')}
    help) _describe command commands ;;
  esac
}
# The file is the function when zsh loads it by its name, and is sourced otherwise.
if [[ $funcstack[1] == _pergola ]]; then _pergola "$@"; else compdef _pergola pergola; fi
`;
}

function zshSpec({ doc, takesValue, values }: HelpFlag, spelling: string): string {
  const text = doc.replaceAll(/[[\]\\]/g, '\\$&').replaceAll(':', '\\:');
  if (!takesValue) return `*${spelling}[${text}]`;
  return `*${spelling}[${text}]:value:${values.length > 0 ? `(${values.join(' ')})` : '_files'}`;
}

function fish(commands: readonly CommandFlags[]): string {
  const names = [
    ...commands.map(({ name, summary }) => [name, summary]),
    ['version', 'print the version'],
    ['help', 'print the help of a command'],
  ];
  const subcommands = names.map(
    ([name, summary]) => `complete -c pergola -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary!)}`,
  );
  const flags = commands.flatMap(({ name, flags }) =>
    flags.map((flag) =>
      [
        `complete -c pergola -n ${quoted(`__fish_seen_subcommand_from ${name}`)}`,
        `-l ${flag.long}`,
        ...(flag.short === undefined ? [] : [`-s ${flag.short}`]),
        ...(flag.takesValue ? ['-r'] : []),
        ...(flag.values.length > 0 ? [`-f -a ${quoted(flag.values.join(' '))}`] : []),
        `-d ${quoted(flag.doc)}`,
      ].join(' '),
    ),
  );
  return `# The completion of pergola for fish. pergola completion fish prints it.\n${[...subcommands, ...flags].join('\n')}\n`;
}

function dashed({ long }: HelpFlag): string {
  return `--${long}`;
}

function spellings({ long, short }: HelpFlag): readonly string[] {
  return short === undefined ? [`--${long}`] : [`--${long}`, `-${short}`];
}

function escapedColon(text: string): string {
  return text.replaceAll(':', '\\:');
}

/** Returns a text in single quotes, which mean the same in all three shells but for the quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
