/** The cells that a role with several parents reads: a column that only some of them have is null in the rows of the others.
 *  In: the permissions of the parents. Out: the filter of the rows in which a column is visible, by column, where it is not that of all rows; and how
 *  these differ between two definitions. Pure. Not here: the rows of the role (inherited-access.ts), the same on resolved accesses
 *  (resolve/inherited-roles.ts). */
import { isRecord, type JsonRecord } from '../../json/value.ts';
import { type AccessPart, compareFilters } from './compare-filters.ts';
import { alternatives, filterTerm, textOfTerm } from './filter.ts';
import { wordsOfFilter } from './filter-words.ts';

/** Stands for the columns that no permission names. */
const OTHERS = '*';

/** The lists of a permission whose entries may be visible in some of the rows. */
const LISTS = ['columns', 'computed_fields'] as const;
type List = (typeof LISTS)[number];

/** Returns the filters by list and entry; undefined when each entry is visible in every row. `filter` is that of all rows. */
export function cellsOf(lent: readonly JsonRecord[], filter: unknown): JsonRecord | undefined {
  const rows = textOfTerm(filterTerm(filter));
  const cells = LISTS.flatMap((list): readonly (readonly [List, JsonRecord])[] => {
    const names = new Set(
      lent.flatMap((rules) => [...entriesOf(rules, list), ...Object.keys(own(rules, list))]),
    );
    const visible = [...names].map((name): readonly [string, unknown] => {
      const granting = lent.filter((rules) => isGranted(rules, list, name));
      return [name, alternatives(granting.map((rules) => filterOf(rules, list, name)))];
    });
    const masked = visible.filter(([, one]) => textOfTerm(filterTerm(one)) !== rows);
    // An entry that is visible in every row says so, where it would otherwise count as one of the others.
    if (masked.some(([name]) => name === OTHERS)) return [[list, Object.fromEntries(visible)]];
    return masked.length > 0 ? [[list, Object.fromEntries(masked)]] : [];
  });
  return cells.length > 0 ? Object.fromEntries(cells) : undefined;
}

/** Returns a part for each column or computed field that is visible in other rows than before. One that the role has only before or only after is
 *  said by the part of its list, and so are rows by the part of the filter. */
export function cellParts(before: JsonRecord, after: JsonRecord): readonly AccessPart[] {
  return LISTS.flatMap((list) => {
    const both = [before, after] as const;
    const names = new Set(
      both.flatMap((rules) => [...entriesOf(rules, list), ...Object.keys(own(rules, list))]),
    );
    const kept = [...names].filter((name) => both.every((rules) => isGranted(rules, list, name)));
    return kept.toSorted().flatMap((name) => {
      if (both.every((rules) => cellOf(rules, list, name) === undefined)) return [];
      const [old, next] = [filterOf(before, list, name), filterOf(after, list, name)];
      const verdict = compareFilters(old, next);
      if (verdict === 'same') return [];
      const words = { before: wordsOfFilter(old), after: wordsOfFilter(next) };
      return [{ name: `rows with ${name === OTHERS ? 'other columns' : name}`, verdict, ...words }];
    });
  });
}

/** Returns the entries of a list. Absent columns are all of them, and absent computed fields none. */
function entriesOf(rules: JsonRecord, list: List): readonly string[] {
  const entries = rules[list];
  if (Array.isArray(entries)) return entries;
  return list === 'columns' ? [OTHERS] : [];
}

function isGranted(rules: JsonRecord, list: List, name: string): boolean {
  const entries = entriesOf(rules, list);
  return entries.includes(name) || entries.includes(OTHERS);
}

/** Returns the filter of the rows in which an entry is visible. */
function filterOf(rules: JsonRecord, list: List, name: string): unknown {
  return cellOf(rules, list, name) ?? rules['filter'];
}

/** Returns the same filter when it is not that of all rows. */
function cellOf(rules: JsonRecord, list: List, name: string): unknown {
  const cells = own(rules, list);
  return cells[name] ?? (entriesOf(rules, list).includes(OTHERS) ? cells[OTHERS] : undefined);
}

function own({ cells }: JsonRecord, list: List): JsonRecord {
  const lists = isRecord(cells) ? cells[list] : undefined;
  return isRecord(lists) ? lists : {};
}
