/** The report of `pergola compat` as text: each part with its counts, then what is not the same. Pure.
 *  Not here: the report as data (operator/folder/output.ts). */
import type { CompatReport, ObjectReport, OperationReport, RoleReport, Verdict } from './report.ts';

type Row = { readonly name: string; readonly verdict: Verdict; readonly lines: readonly string[] };

/** The most changes of a schema that are printed; the other formats have all. */
const MOST_CHANGES = 20;

export function printCompat({ metadata, options, schemas, operations }: CompatReport): string {
  return [
    section('Metadata', 'object', metadata.map(objectRow)),
    optionsSection(options),
    section('Schemas', 'role', schemas.map(roleRow)),
    section('Operations', 'operation', operations.map(operationRow)),
  ]
    .filter((text) => text !== '')
    .join('\n');
}

function section(title: string, noun: string, rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const groups = Map.groupBy(rows, ({ verdict }) => verdict);
  const counts = (Object.keys(COUNTED) as readonly Verdict[])
    .filter((verdict) => groups.has(verdict))
    .map((verdict) => `${groups.get(verdict)!.length} ${COUNTED[verdict]}`);
  const all = `${rows.length} ${noun}${rows.length === 1 ? '' : 's'}`;
  const others = rows.filter(({ verdict }) => verdict !== 'same');
  const lines = others.flatMap(({ name, verdict, lines: own }) => [
    `  ${verdict.padEnd(9)}  ${name}`,
    ...own.map((line) => `             ${line}`),
  ]);
  return `${[`${title}: ${all}: ${counts.join(', ')}`, ...lines].join('\n')}\n`;
}

const COUNTED: Readonly<Record<Verdict, string>> = {
  same: 'the same',
  differs: 'different',
  'no effect': 'without effect',
  accepted: 'accepted',
  unknown: 'not compared',
  skipped: 'left out',
};

function objectRow({ object, verdict, findings }: ObjectReport): Row {
  const lines = findings.map(({ position, message }) =>
    position === '' ? message : `${position}: ${message}`,
  );
  return { name: object, verdict, lines };
}

function optionsSection(options: CompatReport['options']): string {
  if (options.length === 0) return '';
  const lines = options.map(({ what, remedy }) => `  ${what} (${remedy})`);
  return `${['Options: these defaults of the engine differ', ...lines].join('\n')}\n`;
}

function roleRow({ role, verdict, reason, changes }: RoleReport): Row {
  const safe = changes.filter(({ severity }) => severity === 'safe').length;
  const lines = changes
    .filter(({ severity }) => severity !== 'safe')
    .slice(0, MOST_CHANGES)
    .map(({ severity, description }) => `${severity.padEnd(9)}  ${description}`);
  const more = changes.length - safe - lines.length;
  const rest = [
    ...(more > 0 ? [`${more} more; -o json has all`] : []),
    ...(safe > 0 ? [`${safe} that are safe; -o json has all`] : []),
  ];
  return { name: role, verdict, lines: [...(reason ? [reason] : []), ...lines, ...rest] };
}

function operationRow({ name, role, verdict, reason, differences }: OperationReport): Row {
  const who = role === '' ? '' : ` as ${role}`;
  return { name: `${name}${who}`, verdict, lines: [...(reason ? [reason] : []), ...differences] };
}
