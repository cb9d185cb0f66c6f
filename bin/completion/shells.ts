/** The completion scripts of shells: one function per shell. In: commands with their flags. Out: the script. Pure.
 *  A file name completes every argument that is no flag. */
import type { CommandFlags, HelpFlag } from './flags.ts';

export const SHELLS = { bash, zsh, fish } as const;
export type Shell = keyof typeof SHELLS;

function bash(commands: readonly CommandFlags[]): string {
  const names = [...commands.map(({ name }) => name), 'version', 'help'].join(' ');
  const lines = scopesOf(commands);
  const flags = lines.map(
    ({ key, flags }) => `    ${quoted(key)}) flags=${quoted(flags.map(dashed).join(' '))} ;;`,
  );
  const values = lines.flatMap(({ key, flags }) =>
    flags
      .filter((flag) => flag.values.length > 0)
      .flatMap((flag) =>
        spellings(flag).map(
          (spelling) => `    ${quoted(`${key} ${spelling}`)}) values=${quoted(flag.values.join(' '))} ;;`,
        ),
      ),
  );
  const nested = commands.filter(({ subcommands }) => subcommands.length > 0);
  const words = nested.map(
    ({ name, subcommands }) =>
      `      ${name}) words=${quoted(subcommands.map((one) => one.name).join(' '))} ;;`,
  );
  const pairs = nested.flatMap(({ name, subcommands }) =>
    subcommands.map((one) => quoted(`${name} ${one.name}`)),
  );
  return `# The completion of pergola for bash. pergola completion bash prints it.
_pergola() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} words='' flags='' values=''
  COMPREPLY=()
  # Bash makes a word of the = in --flag=value.
  if [[ $word == = ]]; then
    word=''
  elif [[ $before == = ]]; then
    before=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W ${quoted(names)} -- "$word"))
    return
  fi
  if [[ $COMP_CWORD -eq 2 && $word != -* ]]; then
    case $command in
${words.join('\n')}
      help) words=${quoted(names)} ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    return
  fi
  case "$command \${COMP_WORDS[2]}" in
    ${pairs.join(' | ')}) command="$command \${COMP_WORDS[2]}" ;;
  esac
  case $command in
${flags.join('\n')}
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
  const described = commands.map(({ name, summary }) => `    ${zshItem(name, summary)}`);
  const cases = commands.map((command) =>
    command.subcommands.length > 0 ? zshNested(command) : zshCase(command, '    '),
  );
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

/** Returns the case of a command whose first word is one of its subcommands. */
function zshNested({ name, flags, subcommands }: CommandFlags): string {
  const items = subcommands.map((one) => `        ${zshItem(one.name, one.summary)}`);
  return [
    `    ${name})`,
    '      if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then',
    '        local -a subcommands=(',
    ...items,
    '        )',
    '        _describe command subcommands',
    '        return',
    '      fi',
    '      local subcommand=$words[2]',
    '      case $subcommand in',
    `        ${subcommands.map((one) => one.name).join('|')}) shift words; (( CURRENT-- )) ;;`,
    '      esac',
    '      case $subcommand in',
    ...subcommands.map((one) => zshCase(one, '        ')),
    zshCase({ name: '*', flags }, '        '),
    '      esac ;;',
  ].join('\n');
}

function zshCase({ name, flags }: Pick<CommandFlags, 'name' | 'flags'>, indent: string): string {
  const specs = flags.flatMap((flag) =>
    spellings(flag).map((spelling) => `${indent}  ${quoted(zshSpec(flag, spelling))} \\`),
  );
  return [`${indent}${name}) _arguments \\`, ...specs, `${indent}  '*:file:_files' ;;`].join('\n');
}

function zshItem(name: string, summary: string): string {
  return quoted(`${name}:${summary.replaceAll(':', '\\:')}`);
}

function zshSpec({ doc, takesValue, values }: HelpFlag, spelling: string): string {
  const text = doc.replaceAll(/[[\]\\]/g, '\\$&').replaceAll(':', '\\:');
  if (!takesValue) return `*${spelling}[${text}]`;
  // The value is the next word, or the rest of this one: --flag=value, -fvalue.
  const joint = spelling.startsWith('--') ? '=' : '+';
  return `*${spelling}${joint}[${text}]:value:${values.length > 0 ? `(${values.join(' ')})` : '_files'}`;
}

function fish(commands: readonly CommandFlags[]): string {
  const names: readonly (readonly [string, string])[] = [
    ...commands.map(({ name, summary }) => [name, summary] as const),
    ['version', 'print the version'],
    ['help', 'print the help of a command'],
  ];
  const words = [
    ...names.map(([name, summary]) => fishWord('__pergola_are', name, summary)),
    ...names.map(([name, summary]) => fishWord('__pergola_are help', name, summary)),
    ...commands.flatMap(({ name, subcommands }) =>
      subcommands.map((one) => fishWord(`__pergola_are ${name}`, one.name, one.summary)),
    ),
  ];
  const flags = scopesOf(commands).flatMap(({ key, isNested, flags }) =>
    flags.map((flag) => fishFlag(`${isNested ? '__pergola_are' : '__pergola_begin'} ${key}`, flag)),
  );
  return `# The completion of pergola for fish. pergola completion fish prints it.
# True when the words between pergola and the cursor begin with the arguments.
function __pergola_begin
    set -l words (commandline -opc)
    set -e words[1]
    test (count $words) -ge (count $argv); or return 1
    for i in (seq (count $argv))
        test "$words[$i]" = "$argv[$i]"; or return 1
    end
end
# True when they are the arguments.
function __pergola_are
    set -l words (commandline -opc)
    test (count $words) -eq (math (count $argv) + 1); and __pergola_begin $argv
end
${[...words, ...flags].join('\n')}
`;
}

function fishWord(condition: string, word: string, summary: string): string {
  return `complete -c pergola -n ${quoted(condition)} -f -a ${word} -d ${quoted(summary)}`;
}

function fishFlag(condition: string, { long, short, doc, takesValue, values }: HelpFlag): string {
  return [
    `complete -c pergola -n ${quoted(condition)}`,
    `-l ${long}`,
    ...(short === undefined ? [] : [`-s ${short}`]),
    ...(takesValue ? ['-r'] : []),
    ...(values.length > 0 ? [`-f -a ${quoted(values.join(' '))}`] : []),
    `-d ${quoted(doc)}`,
  ].join(' ');
}

/** The words before the flags, such as `plan` and `migrate up`, each with the flags that may follow. */
type Scope = {
  readonly key: string;
  readonly flags: readonly HelpFlag[];
  /** True for a command that a subcommand follows first; its flags are the ones in place of a subcommand. */
  readonly isNested: boolean;
};

function scopesOf(commands: readonly CommandFlags[]): readonly Scope[] {
  return commands.flatMap(({ name, flags, subcommands }) => [
    { key: name, flags, isNested: subcommands.length > 0 },
    ...subcommands.map((one) => ({ key: `${name} ${one.name}`, flags: one.flags, isNested: false })),
  ]);
}

function dashed({ long }: HelpFlag): string {
  return `--${long}`;
}

function spellings({ long, short }: HelpFlag): readonly string[] {
  return short === undefined ? [`--${long}`] : [`--${long}`, `-${short}`];
}

/** Returns a text in single quotes, which mean the same in all three shells but for the quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
