/** Plans and statements as people review them: types by their name, one clause a line, parameters with their origin. */
import type { PgType } from '../../catalog/types.ts';
import type { Plan } from '../../plan/types.ts';
import type { Leaf } from '../../resolve/predicate.ts';
import type { Statement } from '../../sql/fragment.ts';
import type { PreparedStatement } from '../../sql/plan.ts';

export function printPlan(plan: Plan): string {
  return `${JSON.stringify(plan, (_key, value: unknown) => (isPgType(value) ? nameOf(value) : value), 2)}\n`;
}

export function printStatements(statements: readonly PreparedStatement[]): string {
  return statements
    .flatMap((statement) => [
      ...statement.nestedWrites,
      statement,
      ...(statement.answer ? [statement.answer] : []),
    ])
    .map((statement) => `${clauses(statement.text)};\n${parameters(statement)}`)
    .join('\n');
}

/** Indented, with every number as it was sent: 9007199254740993 is not a double. */
export function printResponse(text: string): string {
  const exact = (_key: string, value: unknown, { source }: { source?: string } = {}): unknown =>
    typeof value === 'number' && source !== undefined ? RAW.rawJSON(source) : value;
  return `${JSON.stringify(JSON.parse(text, exact as (key: string, value: unknown) => unknown), null, 2)}\n`;
}

/** Not yet among the types of ES 2024. */
const RAW = JSON as unknown as { rawJSON(text: string): unknown };

function clauses(text: string): string {
  return text.replaceAll(/ (?=(from|left join|where|order by|limit|offset|returning) )/g, '\n');
}

function parameters({ parameters: leaves }: Statement): string {
  return leaves.map((leaf, i) => `-- $${i + 1} = ${printLeaf(leaf)}\n`).join('');
}

function printLeaf(leaf: Leaf): string {
  const type = nameOf(leaf.type);
  switch (leaf.kind) {
    case 'constant':
      return `${JSON.stringify(leaf.value)} (${type})`;
    case 'session':
      return `session ${leaf.variable} (${type})`;
    case 'variable':
      return `variable ${[...leaf.path, ...(leaf.within ?? [])].join('.')} (${type})`;
    case 'list':
      return `[${leaf.items.map(printLeaf).join(', ')}] (${type})`;
    case 'stream-cursor':
      return `cursor from ${printLeaf(leaf.initial)}`;
    case 'session-setting':
      return `setting ${leaf.setting}`;
    case 'written':
      return `rows written (${type})`;
    case 'affected-rows':
      return 'number of rows written';
    case 'inserted':
      return `kept ${leaf.kept} of step ${leaf.step} (${type})`;
    case 'session-variables':
      return 'all session variables';
    case 'fetched':
      return `values of ${leaf.columns.join(', ')} in source ${leaf.source} (${type})`;
    default:
      return leaf satisfies never;
  }
}

function nameOf(type: PgType): string {
  if (type.element) return `${nameOf(type.element)}[]`;
  return type.schema === 'pg_catalog' ? type.name : `${type.schema}.${type.name}`;
}

function isPgType(value: unknown): value is PgType {
  return typeof value === 'object' && value !== null && 'element' in value && 'base' in value;
}
