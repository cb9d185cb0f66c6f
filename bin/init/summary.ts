/** The text that `pergola init` prints at its end: what it wrote, what it suggests, what it left out and why, and the next step. Pure. */

import { listText } from '../../engine/errors/list-text.ts';
import type { ObjectRelationship, Table } from '../../engine/metadata/index.ts';
import { parseKey } from '../../engine/metadata/objects.ts';
import { printQualified, type QualifiedName, qualifiedKey } from '../../engine/metadata/schema/common.ts';
import { invocation } from '../../operator/folder/invocation.ts';
import { shellWord } from '../../operator/folder/shell-word.ts';
import type { Proposal } from './propose.ts';
import type { FileGroup, ResourceFile, Suggestion } from './resources.ts';
import type { LeftOut } from './selection.ts';

export type Outcome = {
  /** The folder; undefined for standard output. */
  readonly folder: string | undefined;
  readonly database: string;
  readonly files: readonly ResourceFile[];
  readonly suggestions: readonly Suggestion[];
  readonly proposal: Proposal;
  /** The positions of the folder's resources, by key. */
  readonly positions: ReadonlyMap<string, string>;
  /** The tables that look like enum tables and have no rows. */
  readonly emptyEnums: readonly QualifiedName[];
};

const GROUPS: readonly (readonly [group: FileGroup, one: string, many: string, note: string])[] = [
  ['tables', 'table', 'tables', ''],
  ['views', 'view', 'views', ''],
  ['functions', 'function', 'functions', ''],
  [
    'volatile',
    'function as a comment',
    'functions as comments',
    ' (VOLATILE, so that a call may change data; the files say what to do)',
  ],
  ['permissions', 'permission', 'permissions', ''],
];
/** The parts of a table, with what each is called. */
const PARTS = [
  [/^(object|array)_relationship$/, 'relationship', 'relationships'],
  [/^computed_field$/, 'computed field', 'computed fields'],
] as const;

/** The most names that are printed for one reason. */
const MOST_NAMES = 6;

export function summaryOf(outcome: Outcome): string {
  return [
    written(outcome),
    suggested(outcome),
    broken(outcome),
    renamed(outcome) + toViews(outcome) + enumsWithoutRows(outcome),
    leftOut(outcome.proposal.leftOut),
    next(outcome),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function written({ folder, database, files }: Outcome): string {
  if (files.length === 0) return `Nothing in the database ${database} is new.\n`;
  const where = folder === undefined ? 'Printed' : `Wrote to ${folder}, from the database ${database}:`;
  const lines = GROUPS.flatMap(([group, one, many, note]) => {
    const own = files.filter((file) => file.group === group);
    if (own.length === 0) return [];
    const parts = group === 'tables' || group === 'views' ? partsOf(own) : '';
    return [`  ${countOf(own.length, one, many)}${parts}${note}`];
  });
  return `${folder === undefined ? `${where}, from the database ${database}:` : where}\n${lines.join('\n')}\n`;
}

function partsOf(files: readonly ResourceFile[]): string {
  const kinds = files.flatMap(({ keys }) => keys).map((key) => key.slice(0, key.indexOf('/')));
  const counts = PARTS.flatMap(([kind, one, many]) => {
    const count = kinds.filter((each) => kind.test(each)).length;
    return count === 0 ? [] : [countOf(count, one, many)];
  });
  const enums = files.filter(({ text }) => /^ {2}isEnum: true$/m.test(text)).length;
  const all = [...counts, ...(enums === 0 ? [] : [countOf(enums, 'enum', 'enums')])];
  return all.length === 0 ? '' : ` with ${all.join(', ')}`;
}

function suggested({ suggestions }: Outcome): string {
  if (suggestions.length === 0) return '';
  const items = suggestions.map(({ position, list, yaml }) => `${position}: add to ${list}\n${yaml}`);
  return `New in the database, for files that init does not change:\n\n${items.join('\n')}`;
}

function broken({ proposal, positions }: Outcome): string {
  const lines = [...proposal.broken].flatMap(([key, reason]) => {
    const position = positions.get(key);
    const name = parseKey(key)!.segments.at(-1)!;
    const what = /_relationship\//.test(key) && !reason.includes(`"${name}"`) ? `relationship ${name}: ` : '';
    return position === undefined ? [] : [`  ${position}: ${what}${reason}\n`];
  });
  return lines.length === 0 ? '' : `The database does not fit:\n${lines.join('')}`;
}

/** Returns how many relationships of tables lead to views, which people may want fewer of. */
function toViews({ proposal: { added, catalog } }: Outcome): string {
  const isView = (name: QualifiedName) =>
    catalog.tables.get(qualifiedKey(name))?.kind.endsWith('view') === true;
  const count = [...added.values()].filter(({ kind, key, definition }) => {
    if (!kind.endsWith('_relationship')) return false;
    const [, schema = '', name = ''] = parseKey(key)!.segments;
    const { manual_configuration: manual } = (definition as ObjectRelationship).using;
    const target = manual && 'remote_table' in manual ? manual.remote_table : undefined;
    return target !== undefined && isView(target) && !isView({ schema, name });
  }).length;
  if (count === 0) return '';
  return `Of the relationships of tables, ${count} ${count === 1 ? 'leads' : 'lead'} to views that return their keys. Remove those that clients do not need.\n`;
}

/** Returns the tables whose names in the API differ, because GraphQL cannot spell their own or another table has taken it. */
function renamed({ proposal }: Outcome): string {
  const names = [...proposal.added.values()].flatMap(({ kind, definition }) => {
    if (kind !== 'table') return [];
    const { table, configuration } = definition as Table;
    const custom = configuration?.custom_name;
    return custom ? [`${printQualified(table)} is ${custom}`] : [];
  });
  return names.length === 0 ? '' : `With another name in the API: ${namesOf(names)}.\n`;
}

function enumsWithoutRows({ emptyEnums }: Outcome): string {
  if (emptyEnums.length === 0) return '';
  const are = emptyEnums.length === 1 ? 'is' : 'are';
  return `${namesOf(emptyEnums.map(printQualified))} ${are} no enum: an enum table has a row for each value. With rows, set isEnum: true.\n`;
}

function leftOut(all: readonly LeftOut[]): string {
  if (all.length === 0) return '';
  const groups = Map.groupBy(all, ({ why }) => why);
  const lines = [...groups].map(([why, same]) => `  ${namesOf(same.map(({ what }) => what))}: ${why}\n`);
  return `Left out:\n${lines.join('')}`;
}

function next({ folder, files }: Outcome): string {
  if (folder === undefined || files.length === 0) return '';
  return `Next: ${invocation()} up ${shellWord(folder)} --database-url "$DATABASE_URL"\nSee ${folder}/README.md.\n`;
}

function namesOf(names: readonly string[]): string {
  return listText(names, { most: MOST_NAMES });
}

function countOf(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
