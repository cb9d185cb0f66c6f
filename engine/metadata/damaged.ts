/** Separates the objects of a stored document that this engine cannot parse from those it can, and puts them back unchanged.
 *  In: the stored JSON. Out: a valid document and the damaged objects, each with its position and the reason.
 *  Not here: documents that clients send, which are parsed strictly (parse.ts). Reference: docs/reference/behaviour/metadata.md, "Damaged objects". */

import { EngineError } from '../errors/engine-error.ts';
import { isRecord, type JsonRecord } from '../json/value.ts';
import { cycleAmong, orderRoles } from './inherited-roles.ts';
import { childKinds, OBJECTS, type ObjectKind, objectKey } from './objects.ts';
import { parseDocument } from './parse.ts';
import type { Metadata } from './schema/metadata.ts';
import type { InheritedRole } from './schema/policy.ts';

/** The position of a value: a key of its owner and, for an item of a list, the index. */
type Position = { readonly at: string; readonly index: number | null };

/** An object that owns lists of others: its list, and what identifies it there. */
type OwnerStep = { readonly at: string; readonly kind: ObjectKind; readonly segments: readonly string[] };

export type DamagedObject = Position & {
  /** The objects that the damaged object is nested in, outermost first. */
  readonly owners: readonly OwnerStep[];
  readonly kind: ObjectKind | null;
  /** The key of the object; the name of the list if the list itself is damaged or the object has no name. */
  readonly key: string;
  readonly value: unknown;
  readonly cause: EngineError;
};

/** The keys whose absence would permit more than the document does. Damage to them is not tolerated. */
const RESTRICTIONS: ReadonlySet<string> = new Set(['api_limits', 'graphql_schema_introspection']);

type Separated = { readonly document: Metadata; readonly damaged: readonly DamagedObject[] };

/** Parses a stored document. Raises the error of the parser if no single object causes it. */
export function separateDamaged(stored: unknown): Separated {
  let rest = stored;
  const damaged: DamagedObject[] = [];
  for (;;) {
    try {
      return { document: parseDocument(rest, 'store'), damaged };
    } catch (error) {
      const found = error instanceof EngineError && isRecord(rest) ? damagedBy(rest, error) : undefined;
      if (!found || !isRecord(rest)) throw error;
      damaged.push(found);
      rest = rewritten(rest, found.owners, (owner) => withoutValue(owner, found));
    }
  }
}

/** Parses a document as it is given, without objects that cannot be parsed and are known to be damaged. Raises the error of any other. */
export function readableDocument(stored: unknown, isKnown: (key: string) => boolean): Metadata {
  const { document, damaged } = separateDamaged(stored);
  const other = damaged.find(({ key }) => !isKnown(key));
  if (other) throw other.cause;
  return document;
}

/** Returns the document with the damaged objects at their positions. Objects whose owner was removed are left out. */
export function withDamaged(document: JsonRecord, damaged: readonly DamagedObject[]): JsonRecord {
  return damaged.reduceRight(
    (next, object) => rewritten(next, object.owners, (owner) => withValue(owner, object)),
    document,
  );
}

/** Returns the damaged objects that the document does not replace: its owners are still there, and no object has its key. */
export function stillDamaged(
  document: JsonRecord,
  damaged: readonly DamagedObject[],
): readonly DamagedObject[] {
  const kept = damaged.filter((object) => {
    const owner = ownerIn(document, object.owners);
    return owner !== undefined && !isReplaced(owner, object);
  });
  return kept.length === damaged.length ? damaged : kept;
}

function isReplaced(owner: JsonRecord, { at, index, kind, value }: DamagedObject): boolean {
  if (index === null) return Array.isArray(owner[at]) ? owner[at].length > 0 : owner[at] !== undefined;
  const segments = kind === null ? undefined : segmentsOf(kind, value);
  return kind !== null && segments !== undefined && itemOf(owner, { at, kind, segments }) !== undefined;
}

function damagedBy(document: JsonRecord, error: EngineError): DamagedObject | undefined {
  const path = error.kind === 'cyclicRoles' ? pathOfCycle(document) : error.path;
  const owners: OwnerStep[] = [];
  let owner = document;
  for (let depth = 0; ; depth += 2) {
    const [at, index, next] = path.slice(depth);
    if (typeof at !== 'string' || (depth === 0 && RESTRICTIONS.has(at))) return undefined;
    const parent = owners.at(-1)?.kind ?? null;
    const kind = childKinds(parent).find((child) => OBJECTS[child].location.keys.includes(at)) ?? null;
    if (typeof index !== 'number') return damagedObject(owner, owners, { at, index: null, kind, error });
    const item = (owner[at] as readonly unknown[])[index];
    const segments = kind && segmentsOf(kind, item);
    const isNested = childKinds(kind).some((child) => OBJECTS[child].location.keys.includes(String(next)));
    if (kind === null || !segments || !isNested || !isRecord(item))
      return damagedObject(owner, owners, { at, index, kind, error });
    owners.push({ at, kind, segments });
    owner = item;
  }
}

function damagedObject(
  owner: JsonRecord,
  owners: readonly OwnerStep[],
  { error: cause, ...place }: Position & { readonly kind: ObjectKind | null; readonly error: EngineError },
): DamagedObject | undefined {
  const { at, index, kind } = place;
  if (!Object.hasOwn(owner, at)) return undefined;
  const value = index === null ? owner[at] : (owner[at] as readonly unknown[])[index];
  const own = index === null || kind === null ? undefined : segmentsOf(kind, value);
  const key = kind && own ? objectKey(kind, ...owners.flatMap(({ segments }) => segments), ...own) : at;
  return { ...place, owners, key, value, cause };
}

/** Returns the path of a role in a cycle. */
function pathOfCycle(document: JsonRecord): readonly (string | number)[] {
  const roles = document['inherited_roles'] as readonly InheritedRole[];
  const [first] = cycleAmong(orderRoles(roles).stuck);
  return ['inherited_roles', roles.findIndex(({ role_name }) => role_name === first)];
}

/** Returns the segments that identify an item among its siblings; undefined if it has none. */
function segmentsOf(kind: ObjectKind, item: unknown): readonly string[] | undefined {
  if (!isRecord(item)) return undefined;
  const name = item[kind];
  const named = typeof name === 'string' ? { ...item, [kind]: { schema: 'public', name } } : item;
  const segments = OBJECTS[kind].identity.of(named);
  return segments.every((segment) => segment !== '') ? segments : undefined;
}

function indexIn(owner: JsonRecord, { at, kind, segments }: OwnerStep): number {
  const items: unknown = owner[at];
  if (!Array.isArray(items)) return -1;
  return items.findIndex((item) => segmentsOf(kind, item)?.join('\n') === segments.join('\n'));
}

function itemOf(owner: JsonRecord, step: OwnerStep): JsonRecord | undefined {
  return (owner[step.at] as readonly JsonRecord[] | undefined)?.[indexIn(owner, step)];
}

function ownerIn(document: JsonRecord, owners: readonly OwnerStep[]): JsonRecord | undefined {
  return owners.reduce<JsonRecord | undefined>((owner, step) => owner && itemOf(owner, step), document);
}

function rewritten(
  owner: JsonRecord,
  [step, ...rest]: readonly OwnerStep[],
  change: (owner: JsonRecord) => JsonRecord,
): JsonRecord {
  if (!step) return change(owner);
  const index = indexIn(owner, step);
  if (index < 0) return owner;
  const items = owner[step.at] as readonly JsonRecord[];
  return { ...owner, [step.at]: items.with(index, rewritten(items[index]!, rest, change)) };
}

function withoutValue(owner: JsonRecord, { at, index, kind }: DamagedObject): JsonRecord {
  if (index !== null) return { ...owner, [at]: (owner[at] as readonly unknown[]).toSpliced(index, 1) };
  if (kind !== null && OBJECTS[kind].location.isRequired) return { ...owner, [at]: [] };
  const { [at]: _, ...rest } = owner;
  return rest;
}

function withValue(owner: JsonRecord, { at, index, value }: DamagedObject): JsonRecord {
  if (index === null) return { ...owner, [at]: value };
  const items = (owner[at] ?? []) as readonly unknown[];
  return { ...owner, [at]: items.toSpliced(index, 0, value) };
}
