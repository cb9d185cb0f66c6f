/** The flags of every command, read from its `--help`, which is the one place where all commands name their flags in the same form.
 *  In: nothing. Out: the commands in the order of `pergola help`; `up` also takes the flags of
 *  `serve`. Not here: what is made of them (shells.ts). */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { COMMANDS } from '../commands.mjs';

export type CommandFlags = {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly HelpFlag[];
};

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

const ROOT = join(import.meta.dirname, '../..');

export async function commandsWithFlags(): Promise<readonly CommandFlags[]> {
  const found: CommandFlags[] = [];
  // One after another, because each writes its help to standard output.
  for (const [name, [file, summary]] of Object.entries(COMMANDS)) {
    found.push({ name, summary, flags: flagsIn(await helpOf(file)) });
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
      takesValue: value !== undefined,
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

/** A help lists values in place of the name of the value (`--output json`), or after a colon (`the format: text, json`). */
function valuesIn(value: string | undefined, doc: string): readonly string[] {
  if (value === undefined) return [];
  if (/^[a-z]+$/.test(value)) return [value];
  const [, listed] = /^the format: ((?:\w+, )*\w+)$/.exec(doc.trim()) ?? [];
  return listed?.split(', ') ?? [];
}

async function helpOf(file: string): Promise<string> {
  const { run } = (await import(pathToFileURL(join(ROOT, file)).href)) as Command;
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

type Command = { readonly run: (argv: readonly string[]) => Promise<unknown> };
