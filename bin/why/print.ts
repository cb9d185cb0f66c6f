/** The answer of `explain_access` as text: the verdict, the reasons, and the clauses as a tree. Pure.
 *  Not here: the answer as data (operator/folder/output.ts). */
import { isRecord } from '../../engine/json/value.ts';
import type { ExplainedAccess, ExplainedClause, ExplainedRows, RowVerdict } from './answer.ts';
import type { WhyArgs } from './flags.ts';

export function printExplained(answer: ExplainedAccess | ExplainedRows, args: WhyArgs): string {
  return 'rows' in answer ? printRows(answer, args) : printOne(answer, args);
}

/** Returns the number of rows with each verdict, then the rows, each with its reasons. */
function printRows(
  { rows, verdicts, fields = [], presets = [], notes = [] }: ExplainedRows,
  args: WhyArgs,
): string {
  const counts = Object.entries(verdicts).map(
    ([verdict, count]) => `${count} ${spelled(verdict as RowVerdict)}`,
  );
  const found = counts.length > 0 ? counts.join(', ') : 'no row satisfies the condition';
  const width = Math.max(0, ...rows.map(({ verdict }) => spelled(verdict).length));
  const lines = [
    `${found}: ${args.operation} of ${nameOf(args)} as role "${args.role}"`,
    ...(rows.length > 0 ? [''] : []),
    ...rows.flatMap(({ verdict, key, reasons }) => [
      `${spelled(verdict).padEnd(width)}  ${keyText(key)}`,
      ...reasons.map(({ message }) => `  ${message}`),
    ]),
    ...section('fields', fields.map(fieldLine)),
    ...section('presets', presets.map(presetLine)),
    ...section('notes', notes),
  ];
  return `${lines.join('\n')}\n`;
}

function spelled(verdict: RowVerdict): string {
  return verdict.replace('_', ' ');
}

function keyText(key: Readonly<Record<string, unknown>>): string {
  return Object.entries(key)
    .map(([column, value]) => `${column}=${String(value)}`)
    .join(' ');
}

function nameOf({ table: { schema, name } }: WhyArgs): string {
  return schema === 'public' ? name : `${schema}.${name}`;
}

function printOne(answer: ExplainedAccess, args: WhyArgs): string {
  const { reasons, permissions, columns = [], fields = [], presets = [], notes = [] } = answer;
  const masked = columns.filter(({ verdict }) => verdict === 'masked');
  const withheld = columns.filter(({ verdict }) => verdict === 'not_permitted');
  const lines = [
    headline(answer, args),
    ...reasons.map(({ message }) => `  ${message}`),
    ...permissions.flatMap(({ role, operation, ...conditions }) =>
      (['filter', 'check'] as const).flatMap((kind) => {
        const root = conditions[kind];
        return root
          ? ['', `${kind} of the ${operation} permission of role "${role}"`, ...clauseLines(root, 1)]
          : [];
      }),
    ),
    ...section(
      'columns that are null in this row',
      masked.map(({ column, roles }) => `${column}: only ${roles.join(', ')} may read it`),
    ),
    ...section(
      'columns that the role may not read',
      withheld.length > 0 ? [withheld.map(({ column }) => column).join(', ')] : [],
    ),
    ...section('fields', fields.map(fieldLine)),
    ...section('presets', presets.map(presetLine)),
    ...section('notes', notes),
  ];
  return `${lines.join('\n')}\n`;
}

function headline(answer: ExplainedAccess, args: WhyArgs): string {
  const { verdict, conflict } = answer;
  const { role, operation, key = {}, fields } = args;
  if (fields && Object.keys(key).length === 0) return fieldsLine(answer, role);
  const row = [nameOf(args), ...(Object.keys(key).length > 0 ? [keyText(key)] : [])].join(' ');
  const found = conflict?.exists === true ? `${nameOf(args)} ${keyText(conflict.key ?? {})}` : null;
  const texts: Readonly<Record<RowVerdict, string>> = {
    visible: `visible: role "${role}" sees ${row}`,
    allowed: found
      ? `allowed: the permissions let role "${role}" update ${found}, which conflicts`
      : `allowed: the permissions let role "${role}" ${operation} ${row}`,
    hidden: found
      ? `hidden: the ${operation} as role "${role}" leaves ${found}, which conflicts, as it is`
      : hiddenRow(operation, role, row),
    refused: `refused: the ${operation} of ${row} as role "${role}" raises an error`,
    no_row: `no row: ${row} does not exist`,
    undecided: `undecided: only the ${operation} of ${row} itself can say`,
  };
  return texts[verdict];
}

/** Returns the headline of an answer about fields alone. */
function fieldsLine({ verdict, fields = [] }: ExplainedAccess, role: string): string {
  const isAllowed = verdict === 'allowed';
  const named = fields.filter((each) => each.is_present === isAllowed).map(({ field }) => field);
  return `${verdict}: the schema of role "${role}" ${isAllowed ? 'has' : 'lacks'} ${named.join(', ')}`;
}

function fieldLine({ field, type, is_present }: NonNullable<ExplainedAccess['fields']>[number]): string {
  return `${is_present ? 'present' : 'absent '}  ${type}.${field}`;
}

function hiddenRow(operation: WhyArgs['operation'], role: string, row: string): string {
  if (operation === 'select') return `hidden: role "${role}" does not see ${row}`;
  return `hidden: role "${role}" may ${operation} rows of the table, and not ${row}`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length > 0 ? ['', title, ...lines.map((line) => `  ${line}`)] : [];
}

/** The width of the truth and the mark in front of a clause. */
const WIDTH = 'undecided * '.length;

function clauseLines(clause: ExplainedClause, level: number): readonly string[] {
  const { holds, is_decisive, clauses = [] } = clause;
  const truth = `${holds}${is_decisive ? ' *' : ''}`.padEnd(WIDTH);
  const facts = factsOf(clause);
  const line = `${'  '.repeat(level)}${truth}${textOf(clause)}${facts.length > 0 ? `    (${facts.join(', ')})` : ''}`;
  return [line, ...clauses.flatMap((inner) => clauseLines(inner, level + 1))];
}

const GROUPS: Readonly<Record<string, string>> = { _and: 'all of', _or: 'any of', _not: 'not' };

/** Returns a clause as text: `author_id _eq "X-Engine-User-Id"`, or the word for the clauses below. */
function textOf({ clause, clauses = [], has_related_row }: ExplainedClause): string {
  const entries = Object.entries(clause);
  const [[key, value] = ['', null], ...more] = entries;
  if (entries.length === 0) return 'every row';
  if (more.length > 0) return 'all of';
  const group = GROUPS[key.replace('$', '_')];
  if (clauses.length > 0)
    return (
      group ??
      (has_related_row === undefined && isColumn(clauses, key) ? `${key}: all of` : `the related ${key}`)
    );
  const [[operator, operand] = ['', null], ...others] = isRecord(value) ? Object.entries(value) : [];
  if (group !== undefined || others.length > 0 || !operator.startsWith('_'))
    return `${key} ${JSON.stringify(value)}`;
  return `${key} ${operator} ${JSON.stringify(operand)}`;
}

/** True when the clauses are operators of the same column. */
function isColumn(clauses: readonly ExplainedClause[], key: string): boolean {
  return clauses.every(({ clause }) => Object.keys(clause)[0] === key);
}

function factsOf({
  clause,
  value,
  variables = [],
  undecided_columns = [],
  has_related_row,
  error,
}: ExplainedClause) {
  return [
    ...(has_related_row === false ? ['there is no related row'] : []),
    ...(value === undefined ? [] : [`${Object.keys(clause)[0]} is ${JSON.stringify(value)}`]),
    ...variables.map(
      (each) => `${each.name} is ${each.value === null ? 'not set' : JSON.stringify(each.value)}`,
    ),
    ...undecided_columns.map((column) => `${column} is not known before the write`),
    ...(error === undefined ? [] : [error]),
  ];
}

function presetLine({ column, variable, value }: NonNullable<ExplainedAccess['presets']>[number]): string {
  const text = value === null && variable !== undefined ? 'not set' : JSON.stringify(value);
  return variable === undefined ? `${column} = ${text}` : `${column} = ${variable}, which is ${text}`;
}
