/** The flags of every command, read from its `--help`, which is printed from the table of its flags and is the one place where all commands
 *  name their flags in the same form; and the words that follow a command, which its module exports as SUBCOMMANDS.
 *  In: nothing. Out: the commands in the order of `pergola help`; `up` also takes the flags of
 *  `serve`. Not here: what is made of them (shells.ts). */
import { pathToFileURL } from 'node:url';
import { fileOf } from '../bundled.mjs';
import { COMMANDS } from '../commands.mjs';

export type CommandFlags = {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly HelpFlag[];
  /** The words of which one follows the command; empty for most commands. */
  readonly subcommands: readonly SubcommandFlags[];
};

export type SubcommandFlags = {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly HelpFlag[];
};

/** The words that may follow a command, each with what it does and the names of its flags. */
export type Subcommands = Readonly<
  Record<string, { readonly doc: string; readonly flags: readonly string[] }>
>;

export type HelpFlag = {
  /** The name without dashes: `filename`. */
  readonly long: string;
  /** The letter, where there is one: `f`. */
  readonly short?: string;
  readonly doc: string;
  readonly takesValue: boolean;
  /** The values, where the help lists them. */
  readonly values: readonly string[];
};

const HELP: HelpFlag = { long: 'help', doc: 'print the help', takesValue: false, values: [] };

export async function commandsWithFlags(): Promise<readonly CommandFlags[]> {
  const found: CommandFlags[] = [];
  // One after another, because each writes its help to standard output.
  for (const [name, [, summary]] of Object.entries(COMMANDS)) {
    const module = (await import(pathToFileURL(fileOf(name)).href)) as Command;
    const flags = flagsIn(await helpOf(module));
    const subcommands = Object.entries(module.SUBCOMMANDS ?? {}).map(([word, { doc, flags: names }]) => ({
      name: word,
      summary: doc,
      flags: flags.filter(({ long }) => names.includes(long)),
    }));
    found.push({ name, summary, flags, subcommands });
  }
  const serve = found.find(({ name }) => name === 'serve')?.flags ?? [];
  return found.map((command) =>
    command.name === 'up' ? { ...command, flags: eachOnce([...serve, ...command.flags]) } : command,
  );
}

/** Returns the flags that a help names, each at the beginning of a line: `  -f, --filename PATH   a folder`. */
export function flagsIn(help: string): readonly HelpFlag[] {
  const lines = help.matchAll(
    /^ +(?:-(\w), +)?--([a-z][\w-]*)(?:[ =]([^\s]+(?: \| [^\s]+)*))?(?: {2,}(.*))?$/gm,
  );
  const flags = [...lines].map(
    ([, short, long, value, doc = '']): HelpFlag => ({
      long: long!,
      ...(short === undefined ? {} : { short }),
      doc: doc.trim(),
      // A value in brackets may be left out, so that the next word is another flag.
      takesValue: value !== undefined && !value.startsWith('['),
      values: valuesIn(value, doc),
    }),
  );
  // Every command has --help, also one whose help does not list it.
  return eachOnce([HELP, ...flags]);
}

/** Returns the last of the flags of each name. */
function eachOnce(flags: readonly HelpFlag[]): readonly HelpFlag[] {
  return [...new Map(flags.map((flag) => [flag.long, flag])).values()];
}

/** The forms in which the text of a flag lists its values: `text: a, b, c` at the end, which flagLine writes; `a (the default), b or c`.
 *  The options of serve list them in place of the name of the value: `--log-level debug|info`. */
const LISTS: readonly RegExp[] = [
  /: ((?:[a-z][a-z-]*, )*[a-z][a-z-]*)(?: \([^()]*\))?$/,
  /^((?:[a-z]+(?: \(the default\))?, )*[a-z]+ or [a-z]+)$/,
];

function valuesIn(value: string | undefined, doc: string): readonly string[] {
  if (value === undefined) return [];
  if (/^[a-z]+$/.test(value)) return [value];
  if (/^[\w-]+(\|[\w-]+)+$/.test(value)) return value.split('|');
  const listed = LISTS.map((pattern) => pattern.exec(doc.trim())?.[1]).find(Boolean);
  return listed?.replaceAll(' (the default)', '').split(/, | or /) ?? [];
}

async function helpOf({ run }: Command): Promise<string> {
  let text = '';
  const write = process.stdout.write;
  process.stdout.write = ((part: string) => {
    text += part;
    return true;
  }) as typeof write;
  try {
    await run(['--help']);
  } finally {
    process.stdout.write = write;
  }
  return text;
}

type Command = {
  readonly run: (argv: readonly string[]) => Promise<unknown>;
  readonly SUBCOMMANDS?: Subcommands;
};
