/** The flags of plan, apply, watch and status: one table for parsing and help.
 *  Out: the command. Raises FlagProblem. Environment: ENGINE_GRAPHQL_ADMIN_SECRET, ENGINE_GRAPHQL_HEADER_PREFIX, NO_COLOR. */
import { parseArgs } from 'node:util';
import { type EngineAddress, engineClient } from '../engine/client.ts';
import type { EnginePort, ReconcileOptions } from '../ports.ts';
import { FAIL_ON, type FailOn } from '../status/fail-on.ts';
import { FlagProblem } from './flag-problem.ts';
import { FolderSource } from './folder-source.ts';
import { type Output, outputOf } from './output.ts';
import { inputsOf } from './read-inputs.ts';

const FLAGS = {
  filename: {
    short: 'f',
    value: 'PATH',
    isList: true,
    doc: 'a folder, a file, or - for standard input; may be given several times (required)',
  },
  engine: { value: 'URL', doc: 'the URL of the engine (default http://127.0.0.1:8080)' },
  'admin-secret': { value: 'TEXT', doc: 'the admin secret (default ENGINE_GRAPHQL_ADMIN_SECRET)' },
  'header-prefix': {
    value: 'TEXT',
    doc: 'the prefix of the header names of the engine (default ENGINE_GRAPHQL_HEADER_PREFIX, else x-engine-)',
  },
  manager: { value: 'NAME', doc: 'the owner of the objects in the ledger (default folder)' },
  output: { short: 'o', value: 'FORMAT', doc: 'the format' },
  'confirm-prune': { value: 'HASH', doc: 'confirm deletions that were held back' },
  'fail-on': {
    value: 'LEVEL',
    isList: true,
    doc: 'exit with 1 when a role reaches more: widened (more rows), granted (anything more); or when its clients break: breaking',
  },
  help: { short: 'h', doc: 'print this help' },
} as const satisfies Record<string, Flag>;

type Flag = {
  readonly short?: string;
  readonly value?: string;
  readonly isList?: true;
  readonly doc: string;
};
type FlagName = keyof typeof FLAGS;

/** The part that differs between the commands. */
export type CommandForm<T extends Output> = {
  readonly command: string;
  readonly summary: string;
  /** The formats of `-o`. The first is the default. */
  readonly outputs: readonly T[];
  /** The flags that the command does not have. */
  readonly without: readonly FlagName[];
  /** Text that the help ends with: exit codes, examples. */
  readonly notes: string;
};

/** A command about an engine. */
export type EngineCommand<T extends Output> = {
  readonly address: EngineAddress;
  readonly engine: EnginePort;
  readonly output: T;
};

/** A command about an engine and the resources of files. */
export type FolderCommand<T extends Output> = EngineCommand<T> & {
  readonly source: FolderSource;
  readonly failOn: readonly FailOn[];
  /** Returns the options. Call it after each snapshot: an Engine document may have changed them. */
  readonly options: () => ReconcileOptions;
};

/** Returns the command; undefined after printing help. */
export function parseFlags<T extends Output>(
  form: CommandForm<T>,
  argv: readonly string[],
): FolderCommand<T> | undefined {
  const values = valuesOrHelp(form, argv);
  if (values === undefined) return undefined;
  const source = new FolderSource(...inputsOf(values['filename']));
  const command = commandOf(form, values);
  return {
    ...command,
    source,
    failOn: failOnOf(values['fail-on']),
    options: () =>
      folderOptions(source, {
        manager: textOf(values, 'manager'),
        headerPrefix: command.address.headerPrefix,
        confirmPrune: textOf(values, 'confirm-prune'),
      }),
  };
}

/** Returns the command that needs no resources; undefined after printing help. */
export function parseEngineFlags<T extends Output>(
  form: Omit<CommandForm<T>, 'without'>,
  argv: readonly string[],
): EngineCommand<T> | undefined {
  const whole = { ...form, without: ['filename', 'manager', 'confirm-prune', 'fail-on'] } as const;
  const values = valuesOrHelp(whole, argv);
  return values && commandOf(whole, values);
}

function valuesOrHelp<T extends Output>(form: CommandForm<T>, argv: readonly string[]): Values | undefined {
  const flags = Object.entries<Flag>(FLAGS).filter(([name]) => !form.without.includes(name as FlagName));
  const values = parsed(flags, argv);
  if (values['help'] !== true) return values;
  process.stdout.write(help(form, flags));
  return undefined;
}

function commandOf<T extends Output>({ outputs }: CommandForm<T>, values: Values): EngineCommand<T> {
  const address = addressOf(values);
  return { address, engine: engineClient(address), output: outputOf(values['output'], outputs) };
}

function addressOf(values: Values): EngineAddress {
  const url = textOf(values, 'engine') ?? 'http://127.0.0.1:8080';
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new FlagProblem(`--engine ${url} is not a URL; write it as http://HOST:PORT`);
  }
  return {
    url,
    adminSecret: textOf(values, 'admin-secret') ?? process.env['ENGINE_GRAPHQL_ADMIN_SECRET'],
    headerPrefix: textOf(values, 'header-prefix') ?? process.env['ENGINE_GRAPHQL_HEADER_PREFIX'],
  };
}

function failOnOf(given: Values[FlagName]): readonly FailOn[] {
  const levels = (Array.isArray(given) ? given : []) as readonly string[];
  const unknown = levels.find((level) => !FAIL_ON.includes(level as FailOn));
  if (unknown !== undefined) {
    throw new FlagProblem(`--fail-on ${unknown} is unknown; use ${FAIL_ON.join(', ')}`);
  }
  return levels as readonly FailOn[];
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

type Values = Readonly<Partial<Record<FlagName, string | boolean | readonly string[]>>>;

function textOf(values: Values, name: FlagName): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

function parsed(flags: readonly (readonly [string, Flag])[], argv: readonly string[]): Values {
  const options = Object.fromEntries(
    flags.map(([name, { short, value, isList }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        multiple: isList ?? false,
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values as Values;
  } catch (error) {
    throw new FlagProblem(error instanceof Error ? error.message : String(error));
  }
}

function help<T extends Output>(
  { command, summary, outputs, notes }: CommandForm<T>,
  flags: readonly (readonly [string, Flag])[],
): string {
  const lines = flags.map(([name, { short, value, doc }]) => {
    const flag = `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
    return `  ${flag.padEnd(28)} ${name === 'output' ? `${doc}: ${outputs.join(', ')}` : doc}`;
  });
  const needs = flags.some(([name]) => name === 'filename') ? ' -f PATH' : '';
  return `pergola ${command}${needs}: ${summary}\n\n${lines.join('\n')}\n\n${notes}`;
}
