/** The flags of plan, apply and watch: one table for parsing and help.
 *  Out: the command, or a FlagProblem. Environment: ENGINE_GRAPHQL_ADMIN_SECRET, ENGINE_GRAPHQL_HEADER_PREFIX, NO_COLOR. */
import { parseArgs } from 'node:util';
import { type EngineAddress, engineClient } from '../engine/client.ts';
import type { EnginePort, ReconcileOptions } from '../ports.ts';
import { FolderSource } from './folder-source.ts';

export class FlagProblem extends Error {}

const FLAGS = {
  filename: { short: 'f', value: 'FOLDER', doc: 'the folder with custom resources (required)' },
  engine: { value: 'URL', doc: 'the URL of the engine (default http://127.0.0.1:8080)' },
  'admin-secret': { value: 'TEXT', doc: 'the admin secret (default ENGINE_GRAPHQL_ADMIN_SECRET)' },
  'header-prefix': {
    value: 'TEXT',
    doc: 'the prefix of the header names of the engine (default ENGINE_GRAPHQL_HEADER_PREFIX, else x-engine-)',
  },
  manager: { value: 'NAME', doc: 'the owner of the objects in the ledger (default folder)' },
  output: { short: 'o', value: 'json', doc: 'print JSON' },
  'confirm-prune': { value: 'HASH', doc: 'confirm deletions that were held back' },
  help: { short: 'h', doc: 'print this help' },
} as const satisfies Record<string, { short?: string; value?: string; doc: string }>;

export type FolderCommand = {
  readonly source: FolderSource;
  readonly address: EngineAddress;
  readonly engine: EnginePort;
  readonly isJson: boolean;
  /** Returns the options. Call it after each snapshot: an Engine document may have changed them. */
  readonly options: () => ReconcileOptions;
};

/** Returns the command; undefined after printing help. */
export function parseFlags(
  command: string,
  summary: string,
  argv: readonly string[],
): FolderCommand | undefined {
  const values = parsed(argv);
  if (values['help'] === true) {
    process.stdout.write(help(command, summary));
    return undefined;
  }
  const folder = values['filename'];
  if (typeof folder !== 'string') throw new FlagProblem('the folder is required: -f FOLDER');
  if (values['output'] !== undefined && values['output'] !== 'json') {
    throw new FlagProblem(`-o ${String(values['output'])} is not supported; use -o json`);
  }
  return commandOf(folder, values);
}

function commandOf(folder: string, values: Values): FolderCommand {
  const source = new FolderSource(folder);
  const text = (name: keyof typeof FLAGS): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const address: EngineAddress = {
    url: text('engine') ?? 'http://127.0.0.1:8080',
    adminSecret: text('admin-secret') ?? process.env['ENGINE_GRAPHQL_ADMIN_SECRET'],
    headerPrefix: text('header-prefix') ?? process.env['ENGINE_GRAPHQL_HEADER_PREFIX'],
  };
  return {
    source,
    address,
    engine: engineClient(address),
    isJson: values['output'] === 'json',
    options: () =>
      folderOptions(source, {
        manager: text('manager'),
        headerPrefix: address.headerPrefix,
        confirmPrune: text('confirm-prune'),
      }),
  };
}

const PROGRESS_DEADLINE_SECONDS = 300;

/** Returns the options of a pass over a folder, from its Engine document and the flags. */
export function folderOptions(
  source: FolderSource,
  given: {
    manager?: string | undefined;
    headerPrefix?: string | undefined;
    confirmPrune?: string | undefined;
  } = {},
): ReconcileOptions {
  return {
    manager: given.manager ?? 'folder',
    headerPrefix: given.headerPrefix,
    policies: source.engine.policies,
    confirmPrune: given.confirmPrune,
    progressDeadlineSeconds: PROGRESS_DEADLINE_SECONDS,
  };
}

type Values = Readonly<Partial<Record<keyof typeof FLAGS, string | boolean>>>;

function parsed(argv: readonly string[]): Values {
  const options = Object.fromEntries(
    Object.entries(FLAGS).map(([name, flag]) => [
      name,
      {
        type: 'value' in flag ? ('string' as const) : ('boolean' as const),
        ...('short' in flag ? { short: flag.short } : {}),
      },
    ]),
  );
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values as Values;
  } catch (error) {
    throw new FlagProblem(error instanceof Error ? error.message : String(error));
  }
}

function help(command: string, summary: string): string {
  const lines = Object.entries(FLAGS).map(([name, flag]) => {
    const short = 'short' in flag ? `-${flag.short}, ` : '    ';
    const value = 'value' in flag ? ` ${flag.value}` : '';
    return `  ${`${short}--${name}${value}`.padEnd(32)} ${flag.doc}`;
  });
  return `pergola ${command} -f FOLDER: ${summary}\n\n${lines.join('\n')}\n`;
}

/** Prints the error and returns the exit code: 2 for wrong flags, 1 for any other error. */
export function reportFailure(command: string, error: unknown): number {
  const isFlags = error instanceof FlagProblem;
  const hint = isFlags ? `\nSee: pergola ${command} --help` : '';
  process.stderr.write(
    `pergola ${command}: ${error instanceof Error ? error.message : String(error)}${hint}\n`,
  );
  return isFlags ? 2 : 1;
}
