/** The flags of `pergola why`: one table for parsing and for help. Out: the arguments of `explain_access`, and the engine. Raises
 *  FlagProblem. Environment: ENGINE_GRAPHQL_ADMIN_SECRET, ENGINE_GRAPHQL_HEADER_PREFIX. */
import { parseJson } from '../../engine/json/parse-json.ts';
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

const OPERATIONS = ['select', 'insert', 'update', 'delete'] as const;
const OUTPUTS = ['text', 'json', 'yaml'] as const;

const FLAGS = {
  role: { value: 'ROLE', doc: 'the role of the request (required)' },
  table: { value: 'TABLE', doc: 'the table, or SCHEMA.TABLE (required)' },
  key: { value: 'COLUMN=VALUE', isList: true, doc: 'a column of the key of the row; repeatable' },
  session: { value: 'NAME=VALUE', isList: true, doc: 'a session variable of the request; repeatable' },
  where: { value: 'JSON', doc: 'instead of --key: a condition on the rows to explain, at most 100' },
  operation: { value: 'OPERATION', doc: 'select (the default), insert, update or delete' },
  columns: { value: 'COLUMN,…', doc: 'the columns that a select reads; default all' },
  fields: {
    value: 'FIELD,…',
    doc: 'fields of the rows or root fields that the role may lack; needs no --key',
  },
  set: { value: 'COLUMN=VALUE', isList: true, doc: 'a value that an insert or update writes; repeatable' },
  inc: { value: 'COLUMN=NUMBER', isList: true, doc: 'a number that an update adds (_inc); repeatable' },
  append: { value: 'COLUMN:=JSON', isList: true, doc: 'JSON that an update appends (_append); repeatable' },
  prepend: {
    value: 'COLUMN:=JSON',
    isList: true,
    doc: 'JSON that an update prepends (_prepend); repeatable',
  },
  'delete-key': {
    value: 'COLUMN=KEY',
    isList: true,
    doc: 'a key that an update deletes (_delete_key); repeatable',
  },
  'delete-elem': {
    value: 'COLUMN=INDEX',
    isList: true,
    doc: 'an element that an update deletes (_delete_elem); repeatable',
  },
  'delete-at-path': {
    value: 'COLUMN:=…',
    isList: true,
    doc: 'a path that an update deletes (_delete_at_path); repeatable',
  },
  'on-conflict': { value: 'CONSTRAINT', doc: 'the constraint of an upsert, for an insert' },
  'update-columns': { value: 'COLUMN,…', doc: 'the columns that an upsert updates; default none' },
  'conflict-where': { value: 'JSON', doc: 'the condition of an upsert on the row that conflicts' },
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

/** The operators of an update besides `_set`, by their flag. */
const OPERATORS = {
  inc: '_inc',
  append: '_append',
  prepend: '_prepend',
  'delete-key': '_delete_key',
  'delete-elem': '_delete_elem',
  'delete-at-path': '_delete_at_path',
} as const satisfies Partial<Record<keyof typeof FLAGS, string>>;
type OperatorFlag = keyof typeof OPERATORS;
const OPERATOR_FLAGS = Object.keys(OPERATORS) as readonly OperatorFlag[];

export const WHY_HELP = `pergola why --role ROLE --table TABLE: say why a role sees a row or not, or why a write is refused.

  pergola why --role author --table article --key id=3 --session x-engine-user-id=7
  pergola why --role author --table article --key id=3 --session x-engine-user-id=7 --operation update --set title=New
  pergola why --role author --table article --where '{"published": {"_eq": true}}' --session x-engine-user-id=7
  pergola why --role author --table article --fields notes,article_aggregate
  pergola why --role author --table article --key id=3 --session x-engine-user-id=7 --operation update --inc views=1
  pergola why --role author --table article --operation insert --set title=New --session x-engine-user-id=7 -o json
  pergola why --role author --table article --operation insert --set id=3 --set title=New --session x-engine-user-id=7 \\
    --on-conflict article_pkey --update-columns title

The answer has each clause of the permissions that apply, with its truth for this row, the value of the row and the values of the
session variables. An asterisk marks the clauses that must change. Nothing is written: the check of a write is evaluated on the row
that the write would produce, and triggers do not run.

With --where the answer has a line for each row, and the reasons of those that the role does not see or may not write.

VALUE is a text as Postgres reads it: id=3, published=true. With := it is JSON: title:=null, tags:='["a"]'.

${flagLines(FLAGS, { indent: '' })}

Exit codes: 0 the role may, for every row, 3 it may not, or only the write itself could say, 1 no answer, 2 wrong flags.
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
  readonly fields?: string[];
  readonly values?: Readonly<Record<string, unknown>>;
  readonly where?: unknown;
  readonly operators?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly on_conflict?: {
    readonly constraint: string;
    readonly update_columns: readonly string[];
    readonly where?: unknown;
  };
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
  refuseUnfit(operation, values);
  const session = Object.fromEntries(texts('session').map((pair) => sessionEntry(pair, prefix)));
  const operators = operatorsOf(texts);
  const [columns, fields] = [text('columns'), text('fields')];
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
      ...(text('where') === undefined ? {} : { where: conditionOf('where', text('where')!) }),
      ...(set.length > 0 ? { values: valuesOf('set', set) } : {}),
      ...(Object.keys(operators).length > 0 ? { operators } : {}),
      ...conflictOf(text),
      ...(columns === undefined ? {} : { columns: namesIn(columns) }),
      ...(fields === undefined ? {} : { fields: namesIn(fields) }),
    },
  };
}

type TextOf = (name: keyof typeof FLAGS) => string | undefined;

function operatorsOf(texts: (name: OperatorFlag) => readonly string[]): NonNullable<WhyArgs['operators']> {
  const given = OPERATOR_FLAGS.filter((flag) => texts(flag).length > 0);
  return Object.fromEntries(given.map((flag) => [OPERATORS[flag], valuesOf(flag, texts(flag))]));
}

function conflictOf(text: TextOf): Pick<WhyArgs, 'on_conflict'> {
  const [constraint, columns, where] = [text('on-conflict'), text('update-columns'), text('conflict-where')];
  if (constraint === undefined) return {};
  const condition = where === undefined ? {} : { where: conditionOf('conflict-where', where) };
  return { on_conflict: { constraint, update_columns: columns ? namesIn(columns) : [], ...condition } };
}

function namesIn(list: string): string[] {
  return list.split(',').map((name) => name.trim());
}

function conditionOf(flag: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new FlagProblem(`--${flag} ${text} is no JSON; write --${flag} '{"id": {"_gt": 3}}'`);
  }
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
function refuseUnfit(operation: WhyArgs['operation'], values: Parameters<typeof textOf>[0]): void {
  const has = (flag: keyof typeof FLAGS) =>
    textsOf(values, flag).length > 0 || textOf(values, flag) !== undefined;
  if (operation === 'insert' && has('key')) {
    throw new FlagProblem('an insert has no --key; give its values with --set');
  }
  if (operation === 'insert' && has('where')) {
    throw new FlagProblem('an insert has no --where; the condition of an upsert is --conflict-where');
  }
  if (has('key') && has('where')) throw new FlagProblem('give either --key or --where');
  const isOfFields = operation === 'select' && has('fields');
  if (operation !== 'insert' && !has('key') && !has('where') && !isOfFields) {
    throw new FlagProblem(
      '--key is missing: the primary key of the row, as in --key id=3; or --where for several rows',
    );
  }
  if (has('set') && (operation === 'select' || operation === 'delete')) {
    throw new FlagProblem('--set is for a write; add --operation insert or --operation update');
  }
  const operator = OPERATOR_FLAGS.find(has);
  if (operator && operation !== 'update') {
    throw new FlagProblem(`--${operator} is for an update; add --operation update`);
  }
  if (has('on-conflict') && operation !== 'insert') {
    throw new FlagProblem('--on-conflict is for an upsert; add --operation insert');
  }
  const part = (['update-columns', 'conflict-where'] as const).find(has);
  if (part && !has('on-conflict')) {
    throw new FlagProblem(`--${part} needs --on-conflict, the name of a constraint`);
  }
  if (has('fields') && operation !== 'select') {
    throw new FlagProblem(
      '--fields is for a select; it takes the root fields of mutations too, as in insert_article',
    );
  }
  if (has('columns') && operation !== 'select') {
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
    return [pair.slice(0, at - 1), parseJson(value)];
  } catch {
    throw new FlagProblem(`--${flag} ${pair}: after := comes JSON, such as null or "text"; a text needs =`);
  }
}
