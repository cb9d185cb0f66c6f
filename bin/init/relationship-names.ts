/** The relationships that foreign keys suggest, with the names that people give them: `author` for `author_id`, `books` for the rows that
 *  refer to an author, `home_matches` and `away_matches` where two keys lead to one table.
 *  In: the tables of a catalog. Out: relationships in both directions, each with its possible names, the best first. Pure.
 *  Not here: the name that is still free in its table (propose.ts), words and their spelling (words.ts, english.ts). */
import type { CatalogForeignKey, CatalogTable } from '../../engine/catalog/types.ts';
import type { ObjectRelationship } from '../../engine/metadata/index.ts';
import { qualifiedKey } from '../../engine/metadata/schema/common.ts';
import { plural, singular } from './english.ts';
import { wordsOf } from './words.ts';

type Words = readonly string[];

export type SuggestedRelationship = {
  readonly kind: 'object' | 'array';
  /** The table that has the relationship. */
  readonly table: CatalogTable;
  /** The possible names as words. The last one is different for each foreign key. */
  readonly names: readonly Words[];
  readonly using: ObjectRelationship['using'];
  /** The table that it leads to, and the columns that are equal. */
  readonly target: CatalogTable;
  readonly mapping: readonly (readonly [own: string, other: string])[];
};

/** A foreign key between two tables of the catalog. */
type Link = {
  readonly from: CatalogTable;
  readonly to: CatalogTable;
  readonly key: CatalogForeignKey;
  /** The number of foreign keys from one table to the other. */
  readonly parallels: number;
  /** True when another foreign key has the same columns, so that columns do not identify it. */
  readonly isAmbiguous: boolean;
};

/** The words at the end of a column that say it is a key. */
const KEY_WORDS: ReadonlySet<string> = new Set(['id', 'uuid', 'guid', 'fk', 'pk', 'key', 'ref']);
const LEADING_KEY_WORDS: ReadonlySet<string> = new Set(['id', 'fk']);

/** Returns the relationships of the tables among each other, by qualifiedKey. Foreign keys to enum tables suggest none: their columns are
 *  enums. */
export function suggestRelationships(
  tables: ReadonlyMap<string, CatalogTable>,
  enums: ReadonlySet<string>,
): readonly SuggestedRelationship[] {
  const links = [...tables.values()].flatMap((from) => linksOf(from, tables, enums));
  return [...links.map(objectRelationship), ...links.map(reverseRelationship)];
}

function linksOf(
  from: CatalogTable,
  tables: ReadonlyMap<string, CatalogTable>,
  enums: ReadonlySet<string>,
): readonly Link[] {
  const position = ({ columns: [first] }: CatalogForeignKey) =>
    from.columns.findIndex(({ name }) => name === first);
  const keys = distinctKeys(from.foreignKeys)
    .filter(({ table }) => !enums.has(qualifiedKey(table)))
    .toSorted((left, right) => position(left) - position(right));
  return keys.flatMap((key) => {
    const to = tables.get(qualifiedKey(key.table));
    if (!to) return [];
    const isSame = (other: CatalogForeignKey) => qualifiedKey(other.table) === qualifiedKey(to);
    return [
      {
        from,
        to,
        key,
        parallels: keys.filter(isSame).length,
        isAmbiguous:
          from.foreignKeys.filter((other) => listOf(other.columns) === listOf(key.columns)).length > 1,
      },
    ];
  });
}

/** Two constraints with the same columns and the same target are one relationship. */
function distinctKeys(keys: readonly CatalogForeignKey[]): readonly CatalogForeignKey[] {
  const id = ({ columns, table, foreignColumns }: CatalogForeignKey) =>
    JSON.stringify([columns, qualifiedKey(table), foreignColumns]);
  return [...new Map(keys.map((key) => [id(key), key])).values()];
}

function objectRelationship(link: Link): SuggestedRelationship {
  const { from, to, key } = link;
  const role = roleOf(link);
  const target = nounOf(to, singular);
  const mapping = key.columns.map((column, i) => [column, key.foreignColumns[i]!] as const);
  const second = isSeveral(link) ? [...role, ...target] : target;
  return {
    kind: 'object',
    table: from,
    names: [role, second, [...target, 'by', ...columnWords(key)]],
    using: link.isAmbiguous ? manual(to, mapping) : { foreign_key_constraint_on: [...key.columns] },
    target: to,
    mapping,
  };
}

/** Returns the relationship to the rows that refer to a row: an object relationship when there can be only one. */
function reverseRelationship(link: Link): SuggestedRelationship {
  const { from, to, key } = link;
  const isOne = isUnique(from, key.columns);
  const noun = nounOf(from, isOne ? singular : plural);
  const mapping = key.columns.map((column, i) => [key.foreignColumns[i]!, column] as const);
  const on = { table: { schema: from.schema, name: from.name }, columns: [...key.columns] };
  return {
    kind: isOne ? 'object' : 'array',
    table: to,
    names: [...reverseNames(link, noun), [...noun, 'by', ...columnWords(key)]],
    using: link.isAmbiguous ? manual(from, mapping, isOne) : { foreign_key_constraint_on: on },
    target: from,
    mapping,
  };
}

function reverseNames(link: Link, noun: Words): readonly Words[] {
  const role = roleOf(link);
  if (link.from === link.to && lower(role) === 'parent') return [['children'], ['child', ...noun]];
  const target = nounOf(link.to, singular);
  const qualifier = withoutPreposition(withoutEnds(role, target));
  if (!isSeveral(link) || qualifier.length === 0) return [noun, [...role, ...noun]];
  return [[...qualifier, ...noun]];
}

function isSeveral({ parallels }: Link): boolean {
  return parallels > 1;
}

/** Returns what the target is for the row, from the column: `author` for `author_id`; for several columns from those that no other
 *  foreign key of the table has. */
function roleOf({ from, to, key }: Link): Words {
  const others = new Set(
    from.foreignKeys
      .filter((other) => listOf(other.columns) !== listOf(key.columns))
      .flatMap(({ columns }) => columns),
  );
  const own = key.columns.filter((column) => !others.has(column));
  const target = nounOf(to, singular);
  const roles = (own.length > 0 ? own : key.columns).map((column) =>
    withoutKeyWords(wordsOf(column), wordsOf(key.foreignColumns[key.columns.indexOf(column)]!)),
  );
  if (roles.length === 1) return roles[0]!;
  return roles.find((role) => lower(role) === lower(target)) ?? target;
}

/** Returns `author` for `author_id`, `country` for `country_code` that refers to `code`; a column that is only a key keeps its words. */
function withoutKeyWords(column: Words, foreign: Words): Words {
  const end = column.slice(-foreign.length);
  if (column.length > foreign.length && lower(end) === lower(foreign)) {
    return withoutLeadingKey(column.slice(0, -foreign.length));
  }
  const last = column.at(-1) ?? '';
  if (column.length > 1 && KEY_WORDS.has(last.toLowerCase())) return withoutLeadingKey(column.slice(0, -1));
  return withoutLeadingKey(column);
}

function withoutLeadingKey(words: Words): Words {
  const [first = ''] = words;
  return words.length > 1 && LEADING_KEY_WORDS.has(first.toLowerCase()) ? words.slice(1) : words;
}

/** Returns `home` for `home_team` and the target `team`. */
function withoutEnds(role: Words, target: Words): Words {
  if (lower(role.slice(-target.length)) === lower(target)) return role.slice(0, -target.length);
  if (lower(role.slice(0, target.length)) === lower(target)) return role.slice(target.length);
  return role;
}

/** Returns `created` for `created_by`. */
function withoutPreposition(words: Words): Words {
  return words.length > 1 && words.at(-1)!.toLowerCase() === 'by' ? words.slice(0, -1) : words;
}

/** Returns the words of a table's name with the last one in another form. */
export function nounOf({ name }: { readonly name: string }, form: (noun: string) => string): Words {
  const words = wordsOf(name);
  return words.map((word, i) => (i === words.length - 1 ? form(word) : word));
}

function columnWords({ columns }: CatalogForeignKey): Words {
  return columns.flatMap((column, i) => [...(i === 0 ? [] : ['and']), ...wordsOf(column)]);
}

function isUnique({ primaryKey, uniqueKeys }: CatalogTable, columns: readonly string[]): boolean {
  const keys = [...(primaryKey ? [primaryKey] : []), ...uniqueKeys];
  return keys.some((key) => key.columns.every((column) => columns.includes(column)));
}

function manual(
  { schema, name }: CatalogTable,
  mapping: SuggestedRelationship['mapping'],
  isAfter = false,
): ObjectRelationship['using'] {
  const order = isAfter ? { insertion_order: 'after_parent' as const } : {};
  const columns = Object.fromEntries(mapping);
  return { manual_configuration: { remote_table: { schema, name }, column_mapping: columns, ...order } };
}

function listOf(columns: readonly string[]): string {
  return JSON.stringify(columns.toSorted());
}

function lower(words: Words): string {
  return words.join(' ').toLowerCase();
}
