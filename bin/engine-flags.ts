/** Flags of commands about the metadata of one engine: where it is, and a folder. From the table come parsing and help.
 *  Out: a CommandLine, or a FlagProblem with a message. Environment: ENGINE_GRAPHQL_ADMIN_SECRET,
 *  ENGINE_GRAPHQL_HEADER_PREFIX. */
import { parseArgs } from 'node:util';
import type { EngineAddress } from '../operator/engine/client.ts';

export class FlagProblem extends Error {}

export type Flag = { readonly short?: string; readonly value?: string; readonly doc: string };

const ENGINE_FLAGS = {
  engine: { value: 'URL', doc: 'the engine; default http://127.0.0.1:8080' },
  'admin-secret': {
    value: 'TEXT',
    doc: 'the admin secret of the engine; default ENGINE_GRAPHQL_ADMIN_SECRET',
  },
  'header-prefix': {
    value: 'TEXT',
    doc: 'the header prefix of the engine; default ENGINE_GRAPHQL_HEADER_PREFIX, else x-engine-',
  },
  help: { doc: 'this text' },
} as const satisfies Record<string, Flag>;

export type Command = {
  readonly name: string;
  readonly summary: string;
  /** The flag that may say the folder in place of a bare word. */
  readonly folderFlag: string;
  /** The flag with which there is no folder. */
  readonly insteadFlag?: string;
  /** The command's own flags, besides those that every command has. */
  readonly flags: Readonly<Record<string, Flag>>;
};

export type CommandLine = {
  readonly folder: string;
  readonly address: EngineAddress;
  /** Text, true, or undefined. */
  readonly flag: (name: string) => string | boolean | undefined;
};

/** The flags of commands that write resources. */
export const RESOURCE_FLAGS = {
  'engine-ref': { value: 'NAME', doc: 'the Engine that the resources refer to; default main' },
  namespace: { short: 'n', value: 'NAME', doc: 'the namespace of the resources; default none' },
} as const satisfies Record<string, Flag>;

/** Returns the parsed command line; undefined after it has printed the help. */
export function parseFlags(command: Command, argv: readonly string[]): CommandLine | undefined {
  const flags: Readonly<Record<string, Flag>> = { ...command.flags, ...ENGINE_FLAGS };
  const { values, positionals } = parsed(flags, argv);
  if (values['help'] === true) {
    process.stdout.write(help(command, flags));
    return undefined;
  }
  const text = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined);
  const folders = [text(command.folderFlag) ?? [], positionals].flat();
  const wanted = command.insteadFlag !== undefined && text(command.insteadFlag) !== undefined ? 0 : 1;
  if (folders.length !== wanted) {
    const one = `name one folder: pergola ${command.name} FOLDER`;
    throw new FlagProblem(wanted === 1 ? one : `a folder and --${command.insteadFlag} exclude each other`);
  }
  const [folder = ''] = folders;
  const address = {
    url: text('engine') ?? 'http://127.0.0.1:8080',
    adminSecret: text('admin-secret') ?? process.env['ENGINE_GRAPHQL_ADMIN_SECRET'],
    headerPrefix: text('header-prefix') ?? process.env['ENGINE_GRAPHQL_HEADER_PREFIX'],
    client: `pergola ${command.name}`,
  };
  return { folder, address, flag: (name) => values[name] };
}

function parsed(flags: Readonly<Record<string, Flag>>, argv: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { value, short }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: true });
  } catch (error) {
    throw new FlagProblem(error instanceof Error ? error.message : String(error));
  }
}

function help({ name, summary }: Command, flags: Readonly<Record<string, Flag>>): string {
  const lines = Object.entries(flags).map(([flag, { short, value, doc }]) => {
    const long = value === undefined ? `--${flag}` : `--${flag} ${value}`;
    const shown = short === undefined ? long : `-${short}, ${long}`;
    return `  ${shown.padEnd(28)} ${doc}`;
  });
  return `pergola ${name} FOLDER: ${summary}\n\n${lines.join('\n')}\n`;
}

/** The exit code of a command that ran into something: 2 for its flags, 1 for the rest. */
export function complain({ name }: Command, error: unknown): number {
  const isFlags = error instanceof FlagProblem;
  const hint = isFlags ? `\nSee: pergola ${name} --help` : '';
  process.stderr.write(`pergola ${name}: ${error instanceof Error ? error.message : String(error)}${hint}\n`);
  return isFlags ? 2 : 1;
}
