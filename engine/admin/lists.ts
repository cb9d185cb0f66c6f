/** Operations on lists of tables or functions. Each item is tracked or untracked unless that fails, and each failure is a warning. If all items
 *  fail, or the request allows no warnings, the request is refused.
 *  Not here: one table or function (handlers/). Reference: docs/reference/behaviour/metadata-api.md, "Lists of tables and functions". */
import { trackFunction, untrackFunction } from '../change/handlers/functions.ts';
import { requireSource } from '../change/handlers/handler.ts';
import { trackTable, untrack } from '../change/handlers/tables.ts';
import { EngineError, fail } from '../errors/engine-error.ts';
import { removeObjects } from '../metadata/dependencies.ts';
import { objectKey } from '../metadata/objects.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import { printQualified, type QualifiedName } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';
import type { Warning } from '../state/warning.ts';
import { type AdminAnswer, type AdminRequest, dialectOf, type Performer } from './request.ts';
import { refuseWarnings, withWarnings } from './warnings.ts';

type Item = {
  readonly kind: 'table' | 'function';
  readonly source: string;
  readonly name: QualifiedName;
  /** Returns the document after the operation on this item. `leaving` are the keys of all items. */
  readonly edit: (draft: Metadata, leaving: ReadonlySet<string>) => Metadata;
};

type Failure = { readonly item: Item; readonly error: EngineError };

export const trackTables: Performer<'track_tables'> = (work, args, request) => {
  const items = itemsOf('table', args.tables, args, (one): Edit => {
    return { name: one.table, edit: (draft) => trackTable(draft, one) };
  });
  return perform(work, request, args, items, TRACK);
};

export const untrackTables: Performer<'untrack_tables'> = (work, args, request) => {
  const items = itemsOf('table', args.tables, args, (one): Edit => {
    return { name: one.table, edit: (draft, leaving) => untrack(draft, one, work.links, leaving) };
  });
  return perform(work, request, args, items, UNTRACK);
};

export const trackFunctions: Performer<'track_functions'> = (work, args, request) => {
  const items = itemsOf('function', args.functions, args, (one): Edit => {
    return { name: one.function, edit: (draft) => trackFunction(draft, one) };
  });
  return perform(work, request, args, items, TRACK);
};

export const untrackFunctions: Performer<'untrack_functions'> = (work, args, request) => {
  const items = itemsOf('function', args.functions, args, (one): Edit => {
    return { name: one.function, edit: (draft) => untrackFunction(draft, one) };
  });
  return perform(work, request, args, items, UNTRACK);
};

type Edit = Pick<Item, 'name' | 'edit'>;

/** Returns the items of a list. An item has the source of the list unless it names one. */
function itemsOf<T extends { readonly source?: string | undefined }>(
  kind: Item['kind'],
  given: readonly T[],
  { source: common }: { readonly source: string },
  editOf: (one: T & { readonly source: string }) => Edit,
): readonly Item[] {
  return given.map((one) => {
    const source = one.source ?? common;
    return { kind, source, ...editOf({ ...one, source }) };
  });
}

type Way = {
  readonly verb: 'track' | 'untrack';
  readonly each: (
    work: UnitOfWork,
    request: AdminRequest,
    items: readonly Item[],
  ) => Promise<readonly Failure[]>;
};

const TRACK: Way = { verb: 'track', each: trackEach };
const UNTRACK: Way = { verb: 'untrack', each: untrackEach };

/** Raises `sourceNotFound`, `repeatedItems`, `allItemsFailed`, `metadataWarnings`. */
async function perform(
  work: UnitOfWork,
  request: AdminRequest,
  { allow_warnings: allowed = true }: Pick<ArgsOf<'track_tables'>, 'allow_warnings'>,
  items: readonly Item[],
  { verb, each }: Way,
): Promise<AdminAnswer> {
  for (const { source } of items) requireSource(work.document, source);
  refuseRepeated(items);
  const failures = await each(work, request, items);
  const warnings = failures.map((failure) => warningOf(failure, request, verb));
  if (items.length > 0 && failures.length === items.length) {
    fail('allItemsFailed', { items: `${items[0]!.kind}s`, verb }, { internal: warnings });
  }
  if (!allowed && warnings.length > 0) refuseWarnings(warnings);
  return () => withWarnings({ message: 'success' }, warnings);
}

function refuseRepeated(items: readonly Item[]): void {
  const seen = new Set<string>();
  const repeated = items.filter((item) => seen.has(keyOf(item)) || !seen.add(keyOf(item)));
  if (repeated.length === 0) return;
  const names = [...new Set(repeated.map(({ name }) => `"${printQualified(name)}"`))].join(', ');
  const list = `${repeated[0]!.kind}s`;
  fail('repeatedItems', { items: list, names }, { path: [list] });
}

/** Tracks the items that the document and their databases allow. */
async function trackEach(
  work: UnitOfWork,
  { path }: AdminRequest,
  items: readonly Item[],
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  const tracked = new Map<string, Item>();
  let document = work.document;
  for (const item of items) {
    try {
      document = item.edit(document, NONE);
      tracked.set(keyOf(item), item);
    } catch (error) {
      failures.push(failureOf(item, error));
    }
  }
  work.edit(path, document);
  for (;;) {
    const unfit = (await work.addedInconsistencies()).filter(({ key, cause }) => cause && tracked.has(key));
    if (unfit.length === 0) return failures;
    for (const { key, cause } of unfit) {
      failures.push({ item: tracked.get(key)!, error: cause! });
      tracked.delete(key);
    }
    const keys = unfit.map(({ key }) => key);
    work.edit(path, removeObjects(work.document, keys));
  }
}

/** Untracks the items that nothing depends on but what leaves with the others. */
async function untrackEach(
  work: UnitOfWork,
  { path }: AdminRequest,
  items: readonly Item[],
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  let leaving = items;
  for (;;) {
    const keys = new Set(leaving.map(keyOf));
    const failing = leaving.flatMap((item) => failuresOf(item, work.document, keys));
    if (failing.length === 0) {
      work.edit(
        path,
        leaving.reduce((draft, item) => item.edit(draft, keys), work.document),
      );
      return failures;
    }
    failures.push(...failing);
    leaving = leaving.filter((item) => !failing.some((failure) => failure.item === item));
  }
}

const NONE: ReadonlySet<string> = new Set();

function failuresOf(item: Item, draft: Metadata, leaving: ReadonlySet<string>): readonly Failure[] {
  try {
    item.edit(draft, leaving);
    return [];
  } catch (error) {
    return [failureOf(item, error)];
  }
}

function failureOf(item: Item, error: unknown): Failure {
  if (error instanceof EngineError) return { item, error };
  throw error;
}

function keyOf({ kind, source, name }: Item): string {
  return objectKey(kind, source, name.schema, name.name);
}

function warningOf({ item, error }: Failure, { caller }: AdminRequest, verb: Way['verb']): Warning {
  return {
    code: `${verb}-${item.kind}-failed`,
    message: error.messageIn(dialectOf(caller.endpoint)),
    type: item.kind,
    name: `${item.kind} ${printQualified(item.name)} in source ${item.source}`,
  };
}
