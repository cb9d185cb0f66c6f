/** Computes the differences between two versions of a metadata object, field by field, for plans and for messages about drift and adoption.
 *  Values that may be secret are masked. Not here: whether a difference matters (decide/decide.ts). */
import { listText } from '@pergola/engine/list-text';
import { isRecord, isSameJson, type MetadataObject, parseJson } from '@pergola/engine/metadata';

export type Difference = {
  /** The path of the value: `permission.filter.author_id`, `columns[2]`; empty for the whole object. */
  readonly path: string;
  /** The old value. Absent when the value is added. */
  readonly before?: unknown;
  /** The new value. Absent when the value is removed. */
  readonly after?: unknown;
};

const SECRET_FIELDS = /(^|\.)(database_url|password)$/;

/** Matches the path of lists of `{name, value}` whose values may come from Secrets. */
const HEADERS = /(^|\.)headers$/;

export function differencesOf(
  before: MetadataObject | undefined,
  after: MetadataObject | undefined,
): readonly Difference[] {
  return compare('', before?.definition, after?.definition);
}

/** Returns the first differences as text: `permission.limit: 10 → 20; permission.columns[1]: + "title"`. */
export function summarise(differences: readonly Difference[], most = 3): string {
  const texts = differences.slice(0, most).map((one) => printDifference(one));
  return listText(texts, { most, separator: '; ', total: differences.length });
}

export type DifferenceStyle = {
  readonly added: (text: string) => string;
  readonly removed: (text: string) => string;
  readonly value: (value: unknown) => string;
};

/** Text without colours, with long values cut. */
const PLAIN: DifferenceStyle = { added: (text) => text, removed: (text) => text, value: printValue };

/** Returns one line: `permission.limit: 10 → 20`. */
export function printDifference({ path, before, after }: Difference, style = PLAIN): string {
  const { added, removed, value } = style;
  const at = path === '' ? '' : `${path}: `;
  if (before === undefined) return `${at}${added(`+ ${value(after)}`)}`;
  if (after === undefined) return `${at}${removed(`- ${value(before)}`)}`;
  return `${at}${removed(value(before))} → ${added(value(after))}`;
}

function printValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function compare(path: string, before: unknown, after: unknown): readonly Difference[] {
  if (isSameJson(before, after)) return [];
  if (SECRET_FIELDS.test(path)) return [hidden(path, before, after)];
  if (HEADERS.test(path)) return compareHeaders(path, before, after);
  if (isRecord(before) && isRecord(after)) return compareFields(path, before, after);
  if (Array.isArray(before) && Array.isArray(after)) return compareItems(path, before, after);
  const isNew = isRecord(after) && before === undefined;
  const isGone = isRecord(before) && after === undefined;
  if (isNew || isGone) return compareFields(path, isGone ? before : {}, isNew ? after : {});
  return [{ path, ...side('before', before), ...side('after', after) }];
}

type JsonObject = Readonly<Record<string, unknown>>;

function compareFields(path: string, before: JsonObject, after: JsonObject): readonly Difference[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  // An empty object is significant: `filter: {}` matches every row.
  if (keys.length === 0) return [{ path, after: {} }];
  return keys.flatMap((key) => {
    const at = path === '' ? key : `${path}.${key}`;
    const [old, fresh] = [before[key], after[key]];
    const isEmptyNow = isRecord(fresh) && Object.keys(fresh).length === 0 && old === undefined;
    return isEmptyNow ? [{ path: at, after: {} }] : compare(at, old, fresh);
  });
}

/** Returns the items that are in only one list, or both lists when they differ only in order. */
function compareItems(
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
): readonly Difference[] {
  const isScalar = [...before, ...after].every((item) => !isRecord(item) && !Array.isArray(item));
  if (!isScalar) return [{ path, before: masked(before), after: masked(after) }];
  const isIn = (list: readonly unknown[]) => (item: unknown) => list.some((other) => isSameJson(other, item));
  const gone = before.filter((item) => !isIn(after)(item));
  const fresh = after.filter((item) => !isIn(before)(item));
  if (gone.length + fresh.length === 0) return [{ path, before, after }];
  return [
    ...gone.map((item) => ({ path: `${path}[]`, before: item })),
    ...fresh.map((item) => ({ path: `${path}[]`, after: item })),
  ];
}

/** Compares headers by name. Values are masked; names of environment variables are not. */
function compareHeaders(path: string, before: unknown, after: unknown): readonly Difference[] {
  const byName = (list: unknown) =>
    new Map(
      (Array.isArray(list) ? list : []).filter(isRecord).map((header) => [String(header['name']), header]),
    );
  const [old, fresh] = [byName(before), byName(after)];
  const shown = (header: JsonObject | undefined) => header && (header['value_from_env'] ?? '(secret)');
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .filter((name) => !isSameJson(old.get(name), fresh.get(name)))
    .map((name) => ({
      path: `${path}.${name}`,
      ...side('before', shown(old.get(name))),
      ...side('after', shown(fresh.get(name))),
    }));
}

/** Returns the list with connection URLs masked, as in lists of read replicas. */
function masked(list: readonly unknown[]): unknown {
  const text = JSON.stringify(list, (key, value: unknown) =>
    SECRET_FIELDS.test(key) && typeof value === 'string' ? '(secret)' : value,
  );
  return parseJson(text);
}

/** Returns the difference with texts masked. References, such as names of environment variables, are not masked. */
function hidden(path: string, before: unknown, after: unknown): Difference {
  const mask = (value: unknown) => (typeof value === 'string' ? '(secret)' : value);
  return { path, ...side('before', mask(before)), ...side('after', mask(after)) };
}

function side(name: 'before' | 'after', value: unknown): Partial<Difference> {
  return value === undefined ? {} : { [name]: value };
}
