/** Compares the permissions of a role before and after a change: operations granted and revoked, columns, filters and limits gained and
 *  lost.
 *  In: the definitions of one metadata object before and after. Out: the change in parts, each with a verdict, or null when access does
 *  not change. Pure.
 *  Not here: objects without a role (common-access.ts, used-objects.ts), comparing filters (compare-filters.ts), printing (operator/status). Spec: "Permission arguments". */
import { isRecord, isSameJson, type JsonRecord } from '../../json/value.ts';
import { type ObjectKind, parseKey } from '../objects.ts';
import { cellParts } from './cells.ts';
import { type AccessPart, type AccessVerdict, compareFilters } from './compare-filters.ts';
import { wordsOfFilter } from './filter-words.ts';
import { wordsOfSchema } from './schema-words.ts';

export type AccessChange = {
  /** The key of the permission, or of the object that says who may do what. */
  readonly key: string;
  /** Null for every role. */
  readonly role: string | null;
  /** The roles that a change for every role does not concern. */
  readonly except?: readonly string[];
  /** The object of the permission, without its source: `public.article`, `billing`. */
  readonly on: string;
  readonly operation: AccessOperation;
  readonly change: 'granted' | 'revoked' | 'changed';
  /** True when the role has, or had, the permission through a role that it inherits from. */
  readonly isInherited?: boolean;
  /** True when the permission itself does not change, but an object that it uses. */
  readonly isIndirect?: boolean;
  /** The verdict of all parts together: `other` when one is wider and another narrower, or when one cannot be decided. */
  readonly verdict: AccessVerdict;
  /** The parts that differ. For a permission that is granted or revoked, those that it has. */
  readonly parts: readonly AccessPart[];
};

/** `connect`: every role reads another database or another remote service. `run`: a query of a collection on the allow list. `request`: a REST
 *  endpoint. `send`: requests, within limits. */
export type AccessOperation =
  | 'select'
  | 'insert'
  | 'update'
  | 'delete'
  | 'call'
  | 'inherit'
  | 'connect'
  | 'run'
  | 'request'
  | 'send';

/** The operations of changes that no permission says: clients send requests that are refused afterwards, or answered in another way. */
const OF_REQUESTS: ReadonlySet<AccessOperation> = new Set<AccessOperation>(['run', 'request', 'send']);

/** True for a change of the allow list, of a REST endpoint, or of limits. */
export function isOfRequests({ operation }: AccessChange): boolean {
  return OF_REQUESTS.has(operation);
}

/** How a field of a permission is compared and printed. `undefined` stands for an absent field. */
type Field = {
  readonly name: string;
  readonly compare: (before: unknown, after: unknown) => AccessVerdict;
  /** `other` is the value on the other side of the change; undefined when there is none. */
  readonly words: (value: unknown, other: unknown) => string;
};

type Definition = JsonRecord | undefined;

const FILTER = { compare: compareFilters, words: wordsOfFilter };
/** A list; absent and `*` stand for all. */
const LIST = { compare: compareLists, words: wordsOfList };
/** Names, of which an absent list has none. */
const NAMES = { compare: (a: unknown, b: unknown) => compareLists(a ?? [], b ?? []), words: wordsOfNames };
const LIMIT = { compare: compareLimits, words: (value: unknown) => `${value ?? 'no limit'}` };
const ALLOWS = {
  compare: (a: unknown, b: unknown) => compareFlags(a === true, b === true),
  words: wordsOfFlag,
};
const RESTRICTS = {
  compare: (a: unknown, b: unknown) => compareFlags(b === true, a === true),
  words: wordsOfFlag,
};
/** A value that restricts in a way that only its presence can be compared. */
const RULE = { compare: compareRules, words: wordsOfJson };
/** A value whose changes cannot be compared. */
const ANY = { compare: compareJson, words: wordsOfJson };
/** The SDL of what a role sees of a remote schema. */
const SCHEMA = { compare: compareJson, words: wordsOfSchema };

const WRITE_FIELDS: readonly Field[] = [
  { name: 'set', ...ANY },
  { name: 'backend_only', ...RESTRICTS },
  { name: 'validate_input', ...RULE },
];
const SELECT_FIELDS: readonly Field[] = [
  { name: 'columns', ...LIST },
  { name: 'computed_fields', ...NAMES },
  { name: 'filter', ...FILTER },
  { name: 'limit', ...LIMIT },
  { name: 'allow_aggregations', ...ALLOWS },
  { name: 'query_root_fields', ...LIST },
  { name: 'subscription_root_fields', ...LIST },
];

/** The kinds of objects that give a role access, with the fields that say how much, and where the definition has them. */
const KINDS: Partial<
  Record<
    ObjectKind,
    {
      readonly operation: AccessOperation;
      readonly within: 'permission' | 'definition' | null;
      readonly fields: readonly Field[];
      /** Parts that more than one field decides. */
      readonly cells?: typeof cellParts;
    }
  >
> = {
  select_permission: { operation: 'select', within: 'permission', fields: SELECT_FIELDS, cells: cellParts },
  logical_model_permission: {
    operation: 'select',
    within: 'permission',
    fields: SELECT_FIELDS,
    cells: cellParts,
  },
  insert_permission: {
    operation: 'insert',
    within: 'permission',
    fields: [{ name: 'columns', ...LIST }, { name: 'check', ...FILTER }, ...WRITE_FIELDS],
  },
  update_permission: {
    operation: 'update',
    within: 'permission',
    fields: [
      { name: 'columns', ...LIST },
      { name: 'filter', ...FILTER },
      { name: 'check', ...FILTER },
      ...WRITE_FIELDS,
    ],
  },
  delete_permission: {
    operation: 'delete',
    within: 'permission',
    fields: [{ name: 'filter', ...FILTER }, ...WRITE_FIELDS],
  },
  function_permission: { operation: 'call', within: null, fields: [] },
  action_permission: { operation: 'call', within: null, fields: [] },
  remote_schema_permission: {
    operation: 'call',
    within: 'definition',
    fields: [{ name: 'schema', ...SCHEMA }],
  },
  inherited_role: { operation: 'inherit', within: null, fields: [{ name: 'role_set', ...NAMES }] },
};

/** Returns what the change of an object means for access; null when nothing. Undefined stands for an object that does not exist. `used` are the
 *  parts that differ because of other objects; they count for a permission that exists before and after. */
export function accessChange(
  key: string,
  before: unknown,
  after: unknown,
  used: readonly AccessPart[] = [],
): AccessChange | null {
  const identity = parseKey(key);
  const kind = identity && KINDS[identity.kind];
  if (!kind || (before === undefined && after === undefined)) return null;
  const [old, next] = [before, after].map((value) => rulesOf(value, kind.within)) as [Definition, Definition];
  const fields = kind.fields.flatMap((field) => partOf(field, old, next));
  const own = old && next && kind.cells ? [...fields, ...kind.cells(old, next)] : fields;
  const change = old === undefined ? 'granted' : next === undefined ? 'revoked' : 'changed';
  const parts = change === 'changed' ? [...own, ...used] : own;
  if (change === 'changed' && parts.length === 0) return null;
  const verdict = change === 'granted' ? 'wider' : change === 'revoked' ? 'narrower' : together(parts);
  return { key, ...nameOf(identity.segments), operation: kind.operation, change, verdict, parts };
}

/** The last segment of a key is the role. The first is the source, if there are more than two. */
function nameOf(segments: readonly string[]): { readonly role: string; readonly on: string } {
  const role = segments.at(-1)!;
  const rest = segments.slice(0, -1);
  return { role, on: (rest.length > 1 ? rest.slice(1) : rest).join('.') };
}

function rulesOf(value: unknown, within: string | null): Definition {
  if (value === undefined) return undefined;
  const rules = within === null || !isRecord(value) ? value : value[within];
  return isRecord(rules) ? rules : {};
}

function partOf(
  { name, compare, words }: Field,
  before: Definition,
  after: Definition,
): readonly AccessPart[] {
  const [old, next] = [before?.[name] ?? undefined, after?.[name] ?? undefined];
  const isThere = before && after ? compare(old, next) !== 'same' : old !== undefined || next !== undefined;
  if (!isThere) return [];
  const verdict = before && after ? compare(old, next) : before ? 'narrower' : 'wider';
  return [
    { name, verdict, before: before ? words(old, next) : null, after: after ? words(next, old) : null },
  ];
}

/** Returns the verdict of all parts together. */
export function together(parts: readonly AccessPart[]): AccessVerdict {
  const verdicts = new Set(parts.map(({ verdict }) => verdict));
  return verdicts.size === 1 ? parts[0]!.verdict : 'other';
}

function compareLists(before: unknown, after: unknown): AccessVerdict {
  const [old, next] = [listOf(before), listOf(after)];
  const isNarrower = isWithin(next, old);
  const isWider = isWithin(old, next);
  if (isNarrower && isWider) return 'same';
  if (isNarrower) return 'narrower';
  return isWider ? 'wider' : 'other';
}

/** Returns null for all. */
function listOf(value: unknown): readonly unknown[] | null {
  if (value === undefined || value === '*') return null;
  const list = Array.isArray(value) ? value : [value];
  return list.includes('*') ? null : list;
}

function isWithin(list: readonly unknown[] | null, other: readonly unknown[] | null): boolean {
  if (other === null) return true;
  return list?.every((item) => other.includes(item)) ?? false;
}

function compareLimits(before: unknown, after: unknown): AccessVerdict {
  const [old, next] = [before, after].map((value) =>
    typeof value === 'number' ? value : Number.POSITIVE_INFINITY,
  );
  if (old === next) return 'same';
  return next! < old! ? 'narrower' : 'wider';
}

function compareFlags(before: boolean, after: boolean): AccessVerdict {
  if (before === after) return 'same';
  return after ? 'wider' : 'narrower';
}

function compareRules(before: unknown, after: unknown): AccessVerdict {
  if (isSameJson(before, after)) return 'same';
  if (before === undefined) return 'narrower';
  return after === undefined ? 'wider' : 'other';
}

function compareJson(before: unknown, after: unknown): AccessVerdict {
  return isSameJson(before, after) ? 'same' : 'other';
}

function wordsOfList(value: unknown): string {
  const list = listOf(value);
  return list === null ? 'all' : wordsOfNames(list);
}

function wordsOfNames(value: unknown): string {
  const list = Array.isArray(value) ? value : [];
  return list.length === 0 ? 'none' : list.join(', ');
}

function wordsOfFlag(value: unknown): string {
  return value === true ? 'yes' : 'no';
}

function wordsOfJson(value: unknown): string {
  if (value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
