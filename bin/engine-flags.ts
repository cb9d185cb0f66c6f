/** Flags of commands about the metadata of one engine: where it is, and a folder. From the table come parsing and help.
 *  Out: a CommandLine. Raises FlagProblem. Environment: ENGINE_GRAPHQL_ADMIN_SECRET,
 *  ENGINE_GRAPHQL_HEADER_PREFIX. */
import type { EngineAddress } from '../operator/engine/address.ts';
import { FlagProblem } from '../operator/folder/flag-problem.ts';
import {
  checkedEngineAddressOf,
  type Flag,
  type FlagTable,
  flagLines,
  parseFlagTable,
  textOf,
} from '../operator/folder/flag-table.ts';
import { SCHEMAS_FLAG } from '../operator/folder/schemas.ts';

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
  help: { short: 'h', doc: 'print this help' },
} as const satisfies Record<string, Flag>;

export type Command = {
  readonly name: string;
  readonly summary: string;
  /** The flag that may say the folder in place of a bare word. */
  readonly folderFlag: string;
  /** The flag with which there is no folder. */
  readonly insteadFlag?: string;
  /** The command's own flags, besides those that every command has. */
  readonly flags: FlagTable;
};

export type CommandLine = {
  readonly folder: string;
  readonly address: EngineAddress;
  /** Text, true, or undefined. */
  readonly flag: (name: string) => string | boolean | undefined;
};

/** The values of `--as`. */
export const FORMS = ['metadata', 'crs'] as const;

/** The flags of commands that write resources. */
export const RESOURCE_FLAGS = {
  'engine-ref': { value: 'NAME', doc: 'the Engine that the resources refer to; default main' },
  namespace: { short: 'n', value: 'NAME', doc: 'the namespace of the resources; default none' },
  ...SCHEMAS_FLAG,
} as const satisfies Record<string, Flag>;

/** Returns the parsed command line; undefined after it has printed the help. */
export function parseFlags(command: Command, argv: readonly string[]): CommandLine | undefined {
  const flags: FlagTable = { ...command.flags, ...ENGINE_FLAGS };
  const { values, words } = parseFlagTable(flags, argv, { hasWords: true });
  if (values['help'] === true) {
    process.stdout.write(help(command, flags));
    return undefined;
  }
  const text = (name: string) => textOf(values, name);
  const folders = [text(command.folderFlag) ?? [], words].flat();
  const wanted = command.insteadFlag !== undefined && text(command.insteadFlag) !== undefined ? 0 : 1;
  if (folders.length !== wanted) {
    const one = `name one folder: pergola ${command.name} FOLDER`;
    throw new FlagProblem(wanted === 1 ? one : `a folder and --${command.insteadFlag} exclude each other`);
  }
  const [folder = ''] = folders;
  const address = checkedEngineAddressOf(values, `pergola ${command.name}`);
  return { folder, address, flag: (name) => values[name] as string | boolean | undefined };
}

function help({ name, summary }: Command, flags: FlagTable): string {
  return `pergola ${name} FOLDER: ${summary}\n\n${flagLines(flags, { indent: '' })}\n`;
}
