/** The flags of `pergola compat`: one table for parsing and for help. Out: what is compared with what. Raises FlagProblem.
 *  Environment: ENGINE_GRAPHQL_ADMIN_SECRET, ENGINE_GRAPHQL_HEADER_PREFIX, and HASURA_GRAPHQL_ADMIN_SECRET for the engine that is replaced. */
import type { EngineAddress } from '../../operator/engine/address.ts';
import { FlagProblem } from '../../operator/folder/flag-problem.ts';
import {
  checkedEngineAddressOf,
  engineAddressOf,
  type Flag,
  flagLines,
  parseFlagTable,
  textOf,
  textsOf,
} from '../../operator/folder/flag-table.ts';
import { outputOf } from '../../operator/folder/output.ts';

const OUTPUTS = ['text', 'json', 'yaml'] as const;

const FLAGS = {
  from: { value: 'URL', doc: 'the engine that is replaced; without a folder its metadata are read' },
  'from-secret': { value: 'TEXT', doc: 'its admin secret; default HASURA_GRAPHQL_ADMIN_SECRET' },
  'from-header-prefix': { value: 'TEXT', doc: 'its header prefix; default x-hasura-' },
  engine: { value: 'URL', doc: 'the engine to compare with; without it only the metadata are judged' },
  'admin-secret': { value: 'TEXT', doc: 'its admin secret; default ENGINE_GRAPHQL_ADMIN_SECRET' },
  'header-prefix': {
    value: 'TEXT',
    doc: 'its header prefix; default ENGINE_GRAPHQL_HEADER_PREFIX, else x-engine-',
  },
  compatibility: { value: 'MODE', values: ['reference'], doc: 'its option --compatibility' },
  replay: { value: 'FILE', doc: 'recorded operations to send to both engines; needs --from and --engine' },
  mutations: { doc: 'with --replay: send mutations, too; each engine needs a database of its own' },
  wait: {
    value: 'SECONDS',
    doc: 'with --replay: the longest wait for the results of a subscription; default 5',
  },
  accept: {
    value: 'OBJECT',
    isList: true,
    doc: 'an object whose differences do not count; may be given several times',
  },
  output: { short: 'o', value: 'FORMAT', values: OUTPUTS, doc: 'the format' },
  help: { short: 'h', doc: 'print this help' },
} as const satisfies Record<string, Flag>;

export const COMPAT_HELP = `pergola compat FOLDER: say what of Hasura's metadata is served the same, what differs, and what has no effect.

  pergola compat ./metadata
  pergola compat --from https://hasura.example.com
  pergola compat ./metadata --engine http://localhost:8080 --header-prefix x-hasura- --compatibility reference
  pergola compat --from https://hasura.example.com --engine http://localhost:8080 --header-prefix x-hasura- \\
    --compatibility reference --replay operations.yaml

FOLDER is a metadata directory, the one with version.yaml, or a file with exported metadata. With --engine, the objects of this engine are compared, too; with --from
and --engine, the schema of each role. --replay sends each recorded operation to both engines and compares the answers; of a
subscription, its first result, or as many as the recording says. Nothing is changed, except by mutations with --mutations.

${flagLines(FLAGS, { indent: '' })}

Exit codes: 0 the same, 1 something differs or has no effect, 2 something could not be compared, or wrong flags.
Guide: docs/guides/coming-from-hasura.md
`;

export type CompatFlags = {
  readonly folder: string | undefined;
  readonly from: EngineAddress | undefined;
  readonly givenPrefix: string;
  readonly to: EngineAddress | undefined;
  readonly headerPrefix: string;
  readonly isCompatible: boolean;
  readonly recording: string | undefined;
  readonly sendsMutations: boolean;
  readonly waitSeconds: number;
  readonly accepted: ReadonlySet<string>;
  readonly output: (typeof OUTPUTS)[number];
};

const CLIENT = 'pergola compat';
const MOST_SECONDS = 3600;

/** Returns the flags; undefined when they ask for help. */
export function parseCompatFlags(argv: readonly string[]): CompatFlags | undefined {
  const { values, words } = parseFlagTable(FLAGS, argv, { hasWords: true });
  if (values['help'] === true) return undefined;
  const text = (name: keyof typeof FLAGS) => textOf(values, name);
  const [folder, more] = words;
  const recording = text('replay');
  if (more !== undefined) throw new FlagProblem('name one folder: pergola compat FOLDER');
  if (folder === undefined && text('from') === undefined) {
    throw new FlagProblem(
      'name the metadata directory, or the engine with --from URL: pergola compat FOLDER',
    );
  }
  if (recording !== undefined && (text('from') === undefined || text('engine') === undefined)) {
    throw new FlagProblem('--replay needs both engines: --from URL and --engine URL');
  }
  if (text('wait') !== undefined && recording === undefined) {
    throw new FlagProblem('--wait needs --replay FILE, the recorded operations');
  }
  if (values['mutations'] === true && recording === undefined) {
    throw new FlagProblem('--mutations needs --replay FILE, the recorded operations');
  }
  const givenPrefix = text('from-header-prefix') ?? 'x-hasura-';
  return {
    folder,
    from: text('from') === undefined ? undefined : fromOf(text, givenPrefix),
    givenPrefix,
    to: text('engine') === undefined ? undefined : checkedEngineAddressOf(values, CLIENT),
    headerPrefix: engineAddressOf(values).headerPrefix ?? 'x-engine-',
    isCompatible: text('compatibility') === 'reference',
    recording,
    sendsMutations: values['mutations'] === true,
    waitSeconds: secondsOf(text('wait') ?? '5'),
    accepted: new Set(textsOf(values, 'accept')),
    output: outputOf(values['output'], OUTPUTS),
  };
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (/^[0-9]+$/.test(text) && seconds > 0 && seconds <= MOST_SECONDS) return seconds;
  throw new FlagProblem(`--wait ${JSON.stringify(text)} is not a whole number from 1 to ${MOST_SECONDS}`);
}

function fromOf(text: (name: keyof typeof FLAGS) => string | undefined, headerPrefix: string): EngineAddress {
  const url = text('from') ?? '';
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new FlagProblem(`--from ${url || "''"} is not a URL; write it as http://HOST:PORT`);
  }
  const adminSecret = text('from-secret') ?? process.env['HASURA_GRAPHQL_ADMIN_SECRET'];
  return { url, adminSecret, headerPrefix, client: CLIENT };
}
