/** The flags of plan, apply, watch and status: one table for parsing and help.
 *  Out: the command. Raises FlagProblem. Environment: ENGINE_GRAPHQL_ADMIN_SECRET, ENGINE_GRAPHQL_HEADER_PREFIX, NO_COLOR. */
import type { EngineAddress } from '../engine/address.ts';
import { engineClient } from '../engine/client.ts';
import type { EnginePort } from '../ports/engine.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import { FAIL_ON, type FailOn } from '../status/fail-on.ts';
import {
  checkedEngineAddressOf,
  type Flag,
  type FlagTable,
  type FlagValues,
  flagLines,
  parseFlagTable,
  textOf,
  textsOf,
} from './flag-table.ts';
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
  prune: { doc: 'delete what belongs to resources that the inputs no longer contain' },
  'confirm-prune': { value: 'HASH', doc: 'confirm deletions that were held back' },
  'confirm-change': {
    value: 'HASH',
    isList: true,
    doc: 'confirm a change that policies.holdBack of the Engine holds back; may be given several times',
  },
  'fail-on': {
    value: 'LEVEL',
    isList: true,
    values: FAIL_ON,
    doc: 'exit with 1 when a role reaches more rows (widened) or anything more (granted), or when valid operations (breaking) or those of the last days (breaking-in-use) break; may be given several times',
  },
  help: { short: 'h', doc: 'print this help' },
} as const satisfies Record<string, Flag>;

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
    failOn: textsOf(values, 'fail-on') as readonly FailOn[],
    options: () =>
      folderOptions(source, {
        manager: textOf(values, 'manager'),
        headerPrefix: command.address.headerPrefix,
        // A hash names what is deleted, so it needs no other flag.
        keepsAbandoned:
          !form.without.includes('prune') && values['prune'] !== true && !values['confirm-prune'],
        confirmPrune: textOf(values, 'confirm-prune'),
        confirmChange: ((values['confirm-change'] ?? []) as readonly string[]).join(' '),
      }),
  };
}

/** Returns the command that needs no resources; undefined after printing help. */
export function parseEngineFlags<T extends Output>(
  form: Omit<CommandForm<T>, 'without'>,
  argv: readonly string[],
): EngineCommand<T> | undefined {
  const whole = {
    ...form,
    without: ['filename', 'manager', 'prune', 'confirm-prune', 'confirm-change', 'fail-on'],
  } as const;
  const values = valuesOrHelp(whole, argv);
  return values && commandOf(whole, values);
}

function valuesOrHelp<T extends Output>(
  form: CommandForm<T>,
  argv: readonly string[],
): FlagValues | undefined {
  const entries = Object.entries<Flag>(FLAGS)
    .filter(([name]) => !form.without.includes(name as FlagName))
    .map(([name, flag]) => [name, name === 'output' ? { ...flag, values: form.outputs } : flag] as const);
  const flags = Object.fromEntries(entries);
  const { values } = parseFlagTable(flags, argv);
  if (values['help'] !== true) return values;
  process.stdout.write(help(form, flags));
  return undefined;
}

function commandOf<T extends Output>({ outputs }: CommandForm<T>, values: FlagValues): EngineCommand<T> {
  const address = checkedEngineAddressOf(values);
  return { address, engine: engineClient(address), output: outputOf(values['output'], outputs) };
}

const PROGRESS_DEADLINE_SECONDS = 300;

type GivenOption = 'manager' | 'headerPrefix' | 'keepsAbandoned' | 'confirmPrune' | 'confirmChange';

/** Returns the options of a pass over a folder, from its Engine document and the flags. */
export function folderOptions(
  source: FolderSource,
  given: { readonly [Name in GivenOption]?: ReconcileOptions[Name] | undefined } = {},
): ReconcileOptions {
  return {
    manager: given.manager ?? 'folder',
    headerPrefix: given.headerPrefix,
    policies: source.engine.policies,
    keepsAbandoned: given.keepsAbandoned,
    confirmPrune: given.confirmPrune,
    confirmChange: [given.confirmChange, source.engine.confirmChange].join(' '),
    progressDeadlineSeconds: PROGRESS_DEADLINE_SECONDS,
  };
}

function help<T extends Output>({ command, summary, notes }: CommandForm<T>, flags: FlagTable): string {
  const needs = 'filename' in flags ? ' -f PATH' : '';
  return `pergola ${command}${needs}: ${summary}\n\n${flagLines(flags)}\n\n${notes}`;
}
