/** The flags of `pergola why`: one table for parsing and for help. Out: the arguments of `explain_access`, and the engine. Raises
 *  FlagProblem. Environment: ENGINE_GRAPHQL_ADMIN_SECRET, ENGINE_GRAPHQL_HEADER_PREFIX. */
import type { EngineAddress } from '../../operator/engine/client.ts';
import { FlagProblem } from '../../operator/folder/flag-problem.ts';
import {
  checkedEngineAddressOf,
  engineAddressOf,
  type Flag,
  flagLine,
  parseFlagTable,
  textOf,
  textsOf,
} from '../../operator/folder/flag-table.ts';
import { outputOf } from '../../operator/folder/output.ts';

const OPERATIONS = ['select', 'insert', 'update', 'delete'] as const;
const OUTPUTS = ['text', 'json', 'yaml'] as const;

const FLAGS = {
  role: { value: 'ROLE', doc: 'the role of the request (required)' },
  table: { value: 'TABLE', doc: 'the table, or SCHEMA.TABLE (required)' },
  key: { value: 'COLUMN=VALUE', isList: true, doc: 'a column of the key of the row; repeatable' },
  session: { value: 'NAME=VALUE', isList: true, doc: 'a session variable of the request; repeatable' },
  operation: { value: 'OPERATION', doc: 'select (the default), insert, update or delete' },
  columns: { value: 'COLUMN,…', doc: 'the columns that a select reads; default all' },
  set: { value: 'COLUMN=VALUE', isList: true, doc: 'a value that an insert or update writes; repeatable' },
  source: { value: 'NAME', doc: 'the source of the table; default default' },
  'backend-only': { doc: 'the request may use backend_only permissions' },
  engine: { value: 'URL', doc: 'the engine; default http://127.0.0.1:8080' },
  'admin-secret': { value: 'TEXT', doc: 'the admin secret; default ENGINE_GRAPHQL_ADMIN_SECRET' },
  'header-prefix': {
    value: 'TEXT',
    doc: 'the header prefix of the engine; default ENGINE_GRAPHQL_HEADER_PREFIX, else x-engine-',
  },
  output: { short: 'o', value: 'FORMAT', doc: 'the format: text, json, yaml' },
  help: { short: 'h', doc: 'print this help' },
} as const satisfies Record<string, Flag>;

export const WHY_HELP = `pergola why --role ROLE --table TABLE: say why a role sees a row or not, or why a write is refused.

  pergola why --role author --table article --key id=3 --session x-engine-user-id=7
  pergola why --role author --table article --key id=3 --session x-engine-user-id=7 --operation update --set title=New
  pergola why --role author --table article --operation insert --set title=New --session x-engine-user-id=7 -o json

The answer has each clause of the permissions that apply, with its truth for this row, the value of the row and the values of the
session variables. An asterisk marks the clauses that must change. Nothing is written: the check of a write is evaluated on the row
that the write would produce, and triggers do not run.

VALUE is a text as Postgres reads it: id=3, published=true. With := it is JSON: title:=null, tags:='["a"]'.

${Object.entries<Flag>(FLAGS)
  .map(([name, flag]) => flagLine(name, flag, { indent: '' }))
  .join('\n')}

Exit codes: 0 the role may, 3 it may not, or only the write itself could say, 1 no answer, 2 wrong flags.
Guide: docs/guides/permissions.md
`;

export type WhyArgs = {
  readonly source: string;
  readonly table: { readonly schema: string; readonly name: string };
  readonly role: string;
  readonly operation: (typeof OPERATIONS)[number];
  readonly session_variables: Readonly<Record<string, string>>;
  readonly key?: Readonly<Record<string, unknown>>;
  readonly columns?: string[];
  readonly values?: Readonly<Record<string, unknown>>;
};

export type WhyFlags = {
  readonly address: EngineAddress;
  readonly args: WhyArgs;
  readonly output: (typeof OUTPUTS)[number];
};

/** Returns the flags; undefined when they ask for help. */
export function parseWhyFlags(argv: readonly string[]): WhyFlags | undefined {
  const { values } = parseFlagTable(FLAGS, argv);
  if (values['help'] === true) return undefined;
  const text = (name: keyof typeof FLAGS) => textOf(values, name);
  const texts = (name: keyof typeof FLAGS) => textsOf(values, name);
  const output = outputOf(values['output'], OUTPUTS);
  const prefix = engineAddressOf(values).headerPrefix ?? 'x-engine-';
  const backendOnly =
    values['backend-only'] === true ? { [`${prefix}use-backend-only-permissions`]: 'true' } : {};
  const role = text('role') ?? missing('role', 'the role of the request, as in --role author');
  const table = tableOf(text('table') ?? missing('table', 'the table of the row, as in --table article'));
  const operation = operationOf(text('operation'));
  const [key, set] = [texts('key'), texts('set')];
  refuseUnfit(operation, { key, set, columns: text('columns') });
  const session = Object.fromEntries(texts('session').map((pair) => sessionEntry(pair, prefix)));
  return {
    output,
    address: checkedEngineAddressOf(values, 'pergola why'),
    args: {
      source: text('source') ?? 'default',
      table,
      role,
      operation,
      session_variables: { ...session, ...backendOnly },
      ...(key.length > 0 ? { key: valuesOf('key', key) } : {}),
      ...(set.length > 0 ? { values: valuesOf('set', set) } : {}),
      ...(text('columns') === undefined
        ? {}
        : {
            columns: text('columns')!
              .split(',')
              .map((name) => name.trim()),
          }),
    },
  };
}

function missing(flag: string, what: string): never {
  throw new FlagProblem(`--${flag} is missing: ${what}`);
}

function tableOf(text: string): WhyArgs['table'] {
  const [first = '', ...rest] = text.split('.');
  const name = rest.join('.');
  return rest.length === 0 ? { schema: 'public', name: first } : { schema: first, name };
}

function operationOf(given = 'select'): WhyArgs['operation'] {
  const operation = OPERATIONS.find((one) => one === given);
  if (operation !== undefined) return operation;
  throw new FlagProblem(`--operation ${given} is unknown; use ${OPERATIONS.join(', ')}`);
}

/** Raises FlagProblem for flags that the operation does not take, and for a missing key. */
function refuseUnfit(
  operation: WhyArgs['operation'],
  given: {
    readonly key: readonly string[];
    readonly set: readonly string[];
    readonly columns: string | undefined;
  },
): void {
  const { key, set, columns } = given;
  if (operation === 'insert' && key.length > 0) {
    throw new FlagProblem('an insert has no --key; give its values with --set');
  }
  if (operation !== 'insert' && key.length === 0) {
    throw new FlagProblem('--key is missing: the primary key of the row, as in --key id=3');
  }
  if (set.length > 0 && (operation === 'select' || operation === 'delete')) {
    throw new FlagProblem('--set is for a write; add --operation insert or --operation update');
  }
  if (columns !== undefined && operation !== 'select') {
    throw new FlagProblem('--columns is for a select; a write names its columns with --set');
  }
}

function sessionEntry(pair: string, prefix: string): readonly [string, string] {
  const at = pair.indexOf('=');
  if (at <= 0) throw new FlagProblem(`--session ${pair} has no value; write --session ${prefix}user-id=7`);
  const name = pair.slice(0, at);
  const isVariable = [prefix, 'x-engine-'].some((known) => name.toLowerCase().startsWith(known));
  if (!isVariable) {
    throw new FlagProblem(`--session ${name} is no session variable; write ${prefix}${name.toLowerCase()}`);
  }
  return [name, pair.slice(at + 1)];
}

function valuesOf(flag: string, pairs: readonly string[]): Readonly<Record<string, unknown>> {
  const entries = pairs.map((pair) => entryOf(flag, pair));
  const twice = entries.find(([name], i) => entries.findIndex(([other]) => other === name) !== i);
  if (twice) throw new FlagProblem(`--${flag} ${twice[0]} is given twice`);
  return Object.fromEntries(entries);
}

function entryOf(flag: string, pair: string): readonly [string, unknown] {
  const at = pair.indexOf('=');
  if (at <= 0) throw new FlagProblem(`--${flag} ${pair} has no value; write --${flag} COLUMN=VALUE`);
  const value = pair.slice(at + 1);
  if (pair[at - 1] !== ':') return [pair.slice(0, at), value];
  try {
    return [pair.slice(0, at - 1), JSON.parse(value)];
  } catch {
    throw new FlagProblem(`--${flag} ${pair}: after := comes JSON, such as null or "text"; a text needs =`);
  }
}
