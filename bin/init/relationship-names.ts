/** The relationships that foreign keys suggest, with the names that people give them: `author` for `author_id`, `books` for the rows that
 *  refer to an author, `home_matches` and `away_matches` where two keys lead to one table.
 *  In: the tables of a catalog, and the keys of its views (view-keys.ts). Out: relationships in both directions, each with its possible names, the best first. Pure.
 *  Not here: the name that is still free in its table (propose.ts), words and their spelling (words.ts, english.ts). */
import type { CatalogForeignKey, CatalogTable } from '../../engine/catalog/types.ts';
import type { ObjectRelationship } from '../../engine/metadata/index.ts';
import { qualifiedKey } from '../../engine/metadata/schema/common.ts';
import { plural, singular } from './english.ts';
import { isCopy, isSimple, type ViewKey } from './view-keys.ts';
import { wordsOf } from './words.ts';

type Words = readonly string[];

export type SuggestedRelationship = {
  readonly kind: 'object' | 'array';
  /** The table that has the relationship. */
  readonly table: CatalogTable;
  /** The possible names as words. The last one is different for each key. */
  readonly names: readonly Words[];
  readonly using: ObjectRelationship['using'];
  /** The table that it leads to, and the columns that are equal. */
  readonly target: CatalogTable;
  readonly mapping: readonly (readonly [own: string, other: string])[];
};

/** A foreign key of a table, or a key of a view. */
type Key = Omit<CatalogForeignKey, 'name'> & Partial<Pick<ViewKey, 'isOwnRow'>>;

/** A key between two tables or views of the catalog. */
type Link = {
  readonly from: CatalogTable;
  readonly to: CatalogTable;
  readonly key: Key;
  /** All keys of `from`. */
  readonly keys: readonly Key[];
  /** The number of keys from one table to the other. */
  readonly parallels: number;
  /** True when a row of `from` is a row of `to`: it is the same table, or a view of it. */
  readonly isSameRow: boolean;
  /** True when columns do not identify the key: another foreign key has the same ones, or it is a key of a view. */
  readonly isManual: boolean;
};

/** The words at the end of a column that say it is a key. */
const KEY_WORDS: ReadonlySet<string> = new Set(['id', 'uuid', 'guid', 'fk', 'pk', 'key', 'ref']);
const LEADING_KEY_WORDS: ReadonlySet<string> = new Set(['id', 'fk']);
/** The words at the start of a table, and at either end of a view, that only say what it is. */
const TABLE_WORDS: ReadonlySet<string> = new Set(['tbl', 'tb']);
const VIEW_WORDS: ReadonlySet<string> = new Set(['v', 'vw', 'view', 'mv', 'mview', 'matview']);
/** The participle of the rows that a person in a role has: the issues of an assignee are assigned. */
const PARTICIPLES: ReadonlyMap<string, string> = new Map([
  ...([
    ['approver', 'approved'],
    ['assignee', 'assigned'],
    ['author', 'authored'],
  ] as const),
  ...([
    ['buyer', 'bought'],
    ['creator', 'created'],
    ['editor', 'edited'],
    ['inviter', 'invited'],
  ] as const),
  ...([
    ['manager', 'managed'],
    ['owner', 'owned'],
    ['receiver', 'received'],
  ] as const),
  ...([
    ['recipient', 'received'],
    ['reporter', 'reported'],
    ['reviewer', 'reviewed'],
  ] as const),
  ...([
    ['seller', 'sold'],
    ['sender', 'sent'],
    ['updater', 'updated'],
    ['winner', 'won'],
  ] as const),
]);

/** Returns the relationships of the tables and views among each other, by qualifiedKey. Keys to enum tables suggest none: their columns are
 *  enums. A view that only repeats columns of one table suggests none in that table. */
export function suggestRelationships(
  tables: ReadonlyMap<string, CatalogTable>,
  enums: ReadonlySet<string>,
  keysOfViews: ReadonlyMap<string, readonly ViewKey[]>,
): readonly SuggestedRelationship[] {
  // Views come last, so that the tables have the shorter names.
  const ordered = [...tables.values()].toSorted(
    (left, right) => Number(isView(left)) - Number(isView(right)),
  );
  const links = ordered.flatMap((from) => {
    const keys: readonly Key[] = keysOfViews.get(qualifiedKey(from)) ?? from.foreignKeys;
    return linksOf(from, keys, tables, enums);
  });
  const reversed = links.filter(({ from, key }) => !(key.isOwnRow && isCopy(from)));
  return [...links.map(objectRelationship), ...reversed.map(reverseRelationship)];
}

function linksOf(
  from: CatalogTable,
  all: readonly Key[],
  tables: ReadonlyMap<string, CatalogTable>,
  enums: ReadonlySet<string>,
): readonly Link[] {
  const positions = new Map(from.columns.map(({ name, position }) => [name, position]));
  // The last column is the one that is different where keys share the column of a tenant.
  const position = ({ columns }: Key) => Math.max(...columns.map((column) => positions.get(column) ?? 0));
  const keys = distinctKeys(all)
    .filter(({ table }) => !enums.has(qualifiedKey(table)))
    .toSorted((left, right) => position(left) - position(right));
  return keys.flatMap((key) => {
    const to = tables.get(qualifiedKey(key.table));
    if (!to) return [];
    const parallels = keys.filter((other) => qualifiedKey(other.table) === qualifiedKey(to));
    const isAmbiguous = all.filter((other) => listOf(other.columns) === listOf(key.columns)).length > 1;
    return [
      {
        ...{ from, to, key, keys: all },
        parallels: parallels.length,
        isSameRow: from === to || parallels.some(({ isOwnRow }) => isOwnRow),
        isManual: isAmbiguous || isView(from),
      },
    ];
  });
}

/** Two constraints with the same columns and the same target are one relationship. */
function distinctKeys(keys: readonly Key[]): readonly Key[] {
  const id = ({ columns, table, foreignColumns }: Key) =>
    JSON.stringify([columns, qualifiedKey(table), foreignColumns]);
  return [...new Map(keys.toReversed().map((key) => [id(key), key])).values()].toReversed();
}

function objectRelationship(link: Link): SuggestedRelationship {
  const { from, to, key } = link;
  const role = roleOf(link);
  const target = nounOf(to, singular);
  const mapping = key.columns.map((column, i) => [column, key.foreignColumns[i]!] as const);
  const second = isSeveral(link) ? [...withoutEnds(role, target), ...target] : target;
  return {
    kind: 'object',
    table: from,
    names: [role, second, [...target, 'by', ...columnWords(key)]],
    using: link.isManual ? manual(to, mapping) : { foreign_key_constraint_on: [...key.columns] },
    target: to,
    mapping,
  };
}

/** Returns the relationship to the rows that refer to a row: an object relationship when there can be only one. */
function reverseRelationship(link: Link): SuggestedRelationship {
  const { from, to, key } = link;
  const isOne = isUnique(from, key.columns) || (key.isOwnRow === true && isSimple(from));
  const form = isOne ? singular : plural;
  const mapping = key.columns.map((column, i) => [key.foreignColumns[i]!, column] as const);
  const on = { table: { schema: from.schema, name: from.name }, columns: [...key.columns] };
  return {
    kind: isOne ? 'object' : 'array',
    table: to,
    names: [...reverseNames(link, form), [...nounOf(from, form), 'by', ...columnWords(key)]],
    using: link.isManual ? manual(from, mapping, isOne) : { foreign_key_constraint_on: on },
    target: from,
    mapping,
  };
}

/** Returns the possible names; `form` is the form of nouns. */
function reverseNames(link: Link, form: (noun: string) => string): readonly Words[] {
  const role = roleOf(link);
  const noun = nounOf(link.from, form);
  const whole = isView(link.from) ? [inForm(wordsOf(link.from.name), form)] : [];
  const own = link.isSameRow && !link.key.isOwnRow ? ownRowsName(link, role, form) : undefined;
  if (own) return [own, [...role, ...noun]];
  const qualifier = participle(withoutPreposition(withoutEnds(role, nounOf(link.to, singular))));
  if (!isSeveral(link) || qualifier.length === 0) return [noun, ...whole, [...role, ...noun]];
  const isNumber = qualifier.every((word) => /^\d+$/.test(word));
  return [noun, ...whole].map((words) => (isNumber ? [...words, ...qualifier] : [...qualifier, ...words]));
}

/** Returns `children` for `parent_id`, `child_issues` for `parent_issue_id`, `replies` for `reply_to`, and `referred_customers` for
 *  `referred_by`, where rows refer to rows of their own kind; undefined for other roles. A view has its noun in the name. */
function ownRowsName({ from, to }: Link, role: Words, form: (noun: string) => string): Words | undefined {
  const noun = nounOf(from, form);
  const [first = '', last = ''] = [role[0], role.at(-1)].map((word) => word?.toLowerCase());
  if (first === 'parent') {
    if (from !== to) return ['child', ...noun];
    return role.length === 1 ? [form('child')] : ['child', ...inForm(role.slice(1), form)];
  }
  if (from === to && role.length === 2 && /^(of|to)$/.test(last)) return [form(role[0]!)];
  return role.length > 1 && last === 'by' ? [...withoutPreposition(role), ...noun] : undefined;
}

function participle(qualifier: Words): Words {
  const word = qualifier.length === 1 ? PARTICIPLES.get(qualifier[0]!.toLowerCase()) : undefined;
  return word === undefined ? qualifier : [word];
}

function isSeveral({ parallels }: Link): boolean {
  return parallels > 1;
}

/** Returns what the target is for the row, from the column: `author` for `author_id`; for several columns from those that no other
 *  foreign key of the table has. */
function roleOf({ to, key, keys }: Link): Words {
  const others = new Set(
    keys.filter((other) => listOf(other.columns) !== listOf(key.columns)).flatMap(({ columns }) => columns),
  );
  const own = key.columns.filter((column) => !others.has(column));
  const target = nounOf(to, singular);
  const roles = (own.length > 0 ? own : key.columns).map((column) => {
    const foreign = wordsOf(key.foreignColumns[key.columns.indexOf(column)]!);
    const role = withoutKeyWords(wordsOf(column), keyPart(foreign, target), target);
    return role.every((word) => KEY_WORDS.has(word.toLowerCase())) ? [] : role;
  });
  if (roles.length === 1) return roles[0]!;
  return roles.find((role) => isSame(role, target)) ?? target;
}

/** Returns the words of a referenced column after those of its table: `id` of `address_id` in the table `addresses`. */
function keyPart(foreign: Words, target: Words): Words {
  return isSame(foreign.slice(0, target.length), target) ? foreign.slice(target.length) : foreign;
}

/** Returns `author` for `author_id`, `country` for `country_code` that refers to `code`, `customer` for `customerid`; a column that is only
 *  a key keeps its words. */
function withoutKeyWords(column: Words, foreign: Words, target: Words): Words {
  const end = column.slice(column.length - foreign.length);
  if (foreign.length > 0 && column.length > foreign.length && isSame(end, foreign)) {
    return withoutLeadingKey(column.slice(0, -foreign.length));
  }
  const last = (column.at(-1) ?? '').toLowerCase();
  const before = column.at(-2)?.toLowerCase() ?? '';
  if (column.length > 1 && KEY_WORDS.has(last)) return withoutLeadingKey(column.slice(0, -1));
  // `author_id_2`
  if (column.length > 2 && /^\d+$/.test(last) && KEY_WORDS.has(before)) {
    return withoutLeadingKey([...column.slice(0, -2), last]);
  }
  if (last.endsWith(`${target.join('').toLowerCase()}id`)) {
    return withoutLeadingKey([...column.slice(0, -1), column.at(-1)!.slice(0, -2)]);
  }
  return withoutLeadingKey(column);
}

function withoutLeadingKey(words: Words): Words {
  const [first = ''] = words;
  return words.length > 1 && LEADING_KEY_WORDS.has(first.toLowerCase()) ? words.slice(1) : words;
}

/** Returns `home` for `home_team` and the target `team`. */
function withoutEnds(role: Words, target: Words): Words {
  if (isSame(role.slice(-target.length), target)) return role.slice(0, -target.length);
  if (isSame(role.slice(0, target.length), target)) return role.slice(target.length);
  return role;
}

/** Returns `created` for `created_by`. */
function withoutPreposition(words: Words): Words {
  return words.length > 1 && words.at(-1)!.toLowerCase() === 'by' ? words.slice(0, -1) : words;
}

/** Returns the words of a table's name with the last one in another form, without words that only say what it is: `order` for `tbl_order`
 *  and `v_order`. */
export function nounOf(
  { name, kind }: { readonly name: string; readonly kind?: CatalogTable['kind'] },
  form: (noun: string) => string,
): Words {
  const words = wordsOf(name);
  return inForm(kind?.endsWith('view') ? withoutViewWords(words) : withoutFirst(words, TABLE_WORDS), form);
}

function inForm(words: Words, form: (noun: string) => string): Words {
  return words.map((word, i) => (i === words.length - 1 ? form(word) : word));
}

function withoutViewWords(words: Words): Words {
  const rest = withoutFirst(words, VIEW_WORDS);
  return withoutFirst(rest.toReversed(), VIEW_WORDS).toReversed();
}

function withoutFirst(words: Words, superfluous: ReadonlySet<string>): Words {
  return words.length > 1 && superfluous.has(words[0]!.toLowerCase()) ? words.slice(1) : words;
}

function columnWords({ columns }: Key): Words {
  return columns.flatMap((column, i) => [...(i === 0 ? [] : ['and']), ...wordsOf(column)]);
}

function isView({ kind }: CatalogTable): boolean {
  return kind.endsWith('view');
}

function isUnique({ primaryKey, uniqueKeys }: CatalogTable, columns: readonly string[]): boolean {
  const keys = [...(primaryKey ? [primaryKey] : []), ...uniqueKeys];
  return keys.some((key) => key.columns.every((column) => columns.includes(column)));
}

function manual(
  { schema, name, isInsertable }: CatalogTable,
  mapping: SuggestedRelationship['mapping'],
  isAfter = false,
): ObjectRelationship['using'] {
  const order = isAfter && isInsertable ? { insertion_order: 'after_parent' as const } : {};
  const columns = Object.fromEntries(mapping);
  return { manual_configuration: { remote_table: { schema, name }, column_mapping: columns, ...order } };
}

function listOf(columns: readonly string[]): string {
  return JSON.stringify(columns.toSorted());
}

function isSame(left: Words, right: Words): boolean {
  return lower(left) === lower(right);
}

function lower(words: Words): string {
  return words.join(' ').toLowerCase();
}
