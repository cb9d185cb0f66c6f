/** OBJECTS: every kind of metadata object, one row each: its parent kind, its location in the document, its identity.
 *  Rows are in the order in which objects can be created: parents and targets first.
 *  In and out: the document as a map from key to object and back (`objectsOf`, `metadataOf`), and look-ups of one object.
 *  A key is `kind/segment/…`, each segment URI-encoded, the parent's segments first: `select_permission/default/public/author/user`.
 *  Not here: putting and removing objects (edit.ts), references between them (dependencies.ts), normal form (normal-form.ts), reading and writing locations (locations.ts). */

import type { JsonRecord } from '../json/value.ts';
import {
  CUSTOM_TYPE_CATEGORIES,
  customTypes,
  type Location,
  list,
  remoteTypes,
  single,
  tlsHosts,
} from './locations.ts';
import { Action, CustomObject } from './schema/action.ts';
import { AllowListEntry, QueryCollection, RestEndpoint } from './schema/collection.ts';
import { Comment, GraphqlName, RoleName } from './schema/common.ts';
import { CronTrigger, DeclaredEvent, EventTrigger } from './schema/event.ts';
import { ComputedField, TrackedFunction } from './schema/function.ts';
import { LogicalModel, LogicalModelPermission } from './schema/logical-model.ts';
import { secret, withContent } from './schema/marks.ts';
import { emptyMetadata, type Metadata } from './schema/metadata.ts';
import { NativeQuery } from './schema/native-query.ts';
import {
  DeletePermission,
  InsertPermission,
  SelectPermission,
  UpdatePermission,
} from './schema/permission.ts';
import {
  ApiLimits,
  InheritedRole,
  Introspection,
  MetricsConfig,
  OpenTelemetry,
  TlsAllowEntry,
} from './schema/policy.ts';
import {
  ArrayRelationship,
  ObjectRelationship,
  RemoteRelationship,
  RemoteRelationshipDefinition,
} from './schema/relationship.ts';
import { RemoteSchema, RemoteSchemaPermission } from './schema/remote-schema.ts';
import { foreignKindOf, Source } from './schema/source.ts';
import { Table } from './schema/table.ts';
import { type TSchema, Type } from './schema/type.ts';

/** The `width` segments that identify an object among its siblings. */
type Identity = {
  readonly width: number;
  readonly of: (fragment: JsonRecord) => readonly string[];
};

export type ObjectRow = {
  /** The kind it is nested in; null at the top of the document. */
  readonly parent: string | null;
  readonly location: Location;
  readonly identity: Identity;
  readonly schema: TSchema;
  /** Returns what an export sorts the objects by, as the reference does; undefined when they are exported in the order given. */
  readonly order: ((fragment: JsonRecord) => readonly string[]) | undefined;
};

/** The location of a list of a source. A source that the engine cannot serve is one object with all it has. */
function inSource(at: Location): Location {
  return {
    ...at,
    read: (owner) => (foreignKindOf(owner) ? [] : at.read(owner)),
    write: (owner, items) => (foreignKindOf(owner) ? owner : at.write(owner, items)),
  };
}

const row = (
  parent: string | null,
  at: Location,
  identity: ObjectRow['identity'],
  schema: TSchema,
  order: 'given' | ObjectRow['order'] = identity.of,
): ObjectRow => ({ parent, location: at, identity, schema, order: order === 'given' ? undefined : order });

const by = (...keys: string[]): Identity => ({
  width: keys.length,
  of: (fragment) => keys.map((key) => String(fragment[key] ?? '')),
});
const within = (key: string, identity: Identity): Identity => ({
  width: identity.width,
  of: (fragment) => identity.of((fragment[key] ?? {}) as JsonRecord),
});
const byQualified = (key: string): Identity => within(key, by('schema', 'name'));
const onlyOne = by();

const CustomType = Type.Object({
  category: Type.Union(CUSTOM_TYPE_CATEGORIES.map((category) => Type.Literal(category))),
  definition: withContent(Type.Unknown(), CustomObject),
});
const RemoteTypeRelationship = Type.Object({
  type_name: Type.String(),
  name: GraphqlName,
  definition: RemoteRelationshipDefinition,
});

export const OBJECTS = {
  source: row(null, list('sources', 'required'), by('name'), Source, 'given'),
  table: row('source', inSource(list('tables', 'required')), byQualified('table'), Table),
  object_relationship: row('table', list('object_relationships'), by('name'), ObjectRelationship),
  array_relationship: row('table', list('array_relationships'), by('name'), ArrayRelationship),
  computed_field: row('table', list('computed_fields'), by('name'), ComputedField),
  remote_relationship: row('table', list('remote_relationships'), by('name'), RemoteRelationship),
  insert_permission: row('table', list('insert_permissions'), by('role'), InsertPermission),
  select_permission: row('table', list('select_permissions'), by('role'), SelectPermission),
  update_permission: row('table', list('update_permissions'), by('role'), UpdatePermission),
  delete_permission: row('table', list('delete_permissions'), by('role'), DeletePermission),
  event_trigger: row('table', list('event_triggers'), by('name'), EventTrigger),
  function: row('source', inSource(list('functions')), byQualified('function'), TrackedFunction),
  function_permission: row(
    'function',
    list('permissions'),
    by('role'),
    Type.Object({ role: RoleName }),
    'given',
  ),
  logical_model: row('source', inSource(list('logical_models')), by('name'), LogicalModel),
  logical_model_permission: row(
    'logical_model',
    list('select_permissions'),
    by('role'),
    LogicalModelPermission,
  ),
  native_query: row('source', inSource(list('native_queries')), by('root_field_name'), NativeQuery),
  remote_schema: row(null, list('remote_schemas'), by('name'), RemoteSchema),
  remote_schema_permission: row(
    'remote_schema',
    list('permissions'),
    by('role'),
    RemoteSchemaPermission,
    'given',
  ),
  remote_schema_relationship: row(
    'remote_schema',
    remoteTypes,
    by('type_name', 'name'),
    RemoteTypeRelationship,
    'given',
  ),
  query_collection: row(null, list('query_collections'), by('name'), QueryCollection),
  allowlist: row(null, list('allowlist'), by('collection'), AllowListEntry),
  custom_type: row(null, customTypes, within('definition', by('name')), CustomType, 'given'),
  action: row(null, list('actions'), by('name'), Action),
  action_permission: row(
    'action',
    list('permissions'),
    by('role'),
    Type.Object({ role: RoleName, comment: Type.Optional(Comment) }),
    'given',
  ),
  cron_trigger: row(null, list('cron_triggers'), by('name'), CronTrigger),
  scheduled_event: row(null, list('scheduled_events'), by('name'), DeclaredEvent),
  rest_endpoint: row(null, list('rest_endpoints'), by('name'), RestEndpoint, by('url').of),
  inherited_role: row(null, list('inherited_roles'), by('role_name'), InheritedRole),
  api_limits: row(null, single('api_limits'), onlyOne, ApiLimits),
  introspection: row(null, single('graphql_schema_introspection'), onlyOne, Introspection),
  tls: row(null, tlsHosts, by('host', 'suffix'), TlsAllowEntry, 'given'),
  metrics_config: row(null, single('metrics_config'), onlyOne, MetricsConfig),
  opentelemetry: row(null, single('opentelemetry'), onlyOne, OpenTelemetry),
  backend_configs: row(
    null,
    single('backend_configs'),
    onlyOne,
    Type.Record(Type.String(), secret(Type.Unknown())),
  ),
} as const satisfies Record<string, ObjectRow>;

export type ObjectKind = keyof typeof OBJECTS;

export const OBJECT_KINDS = Object.keys(OBJECTS) as readonly ObjectKind[];

export type MetadataObject = {
  readonly key: string;
  readonly kind: ObjectKind;
  /** The key of the object it is nested in. */
  readonly parent: string | null;
  /** The fragment of the document that defines the object, without nested objects. */
  readonly definition: unknown;
};

type ObjectIdentity = { readonly kind: ObjectKind; readonly segments: readonly string[] };

/** Returns the key of an object: `table/default/public/author` for `objectKey('table', 'default', 'public', 'author')`. */
export function objectKey(kind: ObjectKind, ...segments: readonly string[]): string {
  // A text that is concatenated in steps would keep all of its parts in memory.
  return [kind, ...segments.map(encodeSegment)].join('/');
}

/** Parses a key. Returns undefined for other text: an unknown kind, or a wrong number of segments. */
export function parseKey(key: string): ObjectIdentity | undefined {
  const [kind = '', ...encoded] = key.split('/');
  if (!isObjectKind(kind)) return undefined;
  const segments = encoded.map(decodeSegment);
  if (segments.includes(undefined) || segments.length !== widthsOf(kind).at(-1)) return undefined;
  return { kind, segments: segments as readonly string[] };
}

/** Returns the key of the object that the object of a key is nested in; null at the top of the document. */
export function parentKeyOf(key: string): string | null {
  return parentKey(nameOf(key));
}

/** Returns the key of the source or remote schema that the object of a key is in, or is; undefined for other objects. */
export function containerKeyOf(key: string): string | undefined {
  const name = parseKey(key);
  const [root] = name ? ancestry(name.kind) : [];
  return name && (root === 'source' || root === 'remote_schema')
    ? objectKey(root, name.segments[0]!)
    : undefined;
}

/** Returns every object by key, parents before children, siblings in document order. */
export function objectsOf(metadata: Metadata): ReadonlyMap<string, MetadataObject> {
  const found = new Map<string, MetadataObject>();
  collect(metadata, { kind: null, segments: [], key: null }, found);
  return found;
}

/** Returns the document of the objects, in the order given: the inverse of `objectsOf`. The parent of each object must be given. */
export function metadataOf(objects: Iterable<MetadataObject>): Metadata {
  const children = new Map<string | null, MetadataObject[]>();
  const keys = new Set<string>();
  for (const object of objects) {
    keys.add(object.key);
    const siblings = children.get(object.parent);
    if (siblings) siblings.push(object);
    else children.set(object.parent, [object]);
  }
  for (const parent of children.keys()) {
    if (parent !== null && !keys.has(parent)) throw new Error(`no object has the key ${parent}`);
  }
  return compose(emptyMetadata, null, null, children) as Metadata;
}

/** Returns the fragment of an object with the objects nested in it. */
export function findFragment(metadata: Metadata, key: string): unknown {
  const name = parseKey(key);
  return name && find(metadata, chainOf(name));
}

export function findObject(metadata: Metadata, key: string): MetadataObject | undefined {
  const name = parseKey(key);
  const fragment = name && find(metadata, chainOf(name));
  if (!name || !fragment) return undefined;
  return { key, kind: name.kind, parent: parentKey(name), definition: bare(name.kind, fragment) };
}

/** Returns the kinds nested directly in a kind, or at the top of the document. */
export function childKinds(parent: ObjectKind | null): readonly ObjectKind[] {
  return CHILDREN.get(parent) ?? [];
}

/** Returns a fragment without nested objects: an identical value for each call, and the fragment itself when there are none. */
export function bare(kind: ObjectKind, fragment: JsonRecord): JsonRecord {
  if (kind === 'source' && foreignKindOf(fragment)) return fragment;
  const nested = nestedKeys(kind);
  const keys = Object.keys(fragment);
  if (!keys.some((key) => nested.has(key))) return fragment;
  const known = bares.get(fragment);
  if (known?.kind === kind) return known.own;
  const own = Object.fromEntries(Object.entries(fragment).filter(([key]) => !nested.has(key)));
  bares.set(fragment, { kind, own });
  return own;
}

const bares = new WeakMap<JsonRecord, { readonly kind: ObjectKind; readonly own: JsonRecord }>();

/** Returns a bare fragment with empty lists where its schema requires lists. */
export function withRequired(kind: ObjectKind, fragment: JsonRecord): JsonRecord {
  return childKinds(kind).reduce((made, child) => {
    const { location: at } = OBJECTS[child];
    return at.isRequired && at.read(made).length === 0 ? at.write(made, []) : made;
  }, fragment);
}

/** Returns the keys of a fragment that contain only nested objects. */
export function nestedKeys(kind: ObjectKind): ReadonlySet<string> {
  return NESTED_KEYS.get(kind)!;
}

/** Returns the end of the key that identifies an object among its siblings: `public/author`. It is cached, because lists of thousands
 *  are searched for one object. */
export function siblingName(kind: ObjectKind, fragment: JsonRecord): string {
  const known = siblingNames.get(kind)!.get(fragment);
  if (known !== undefined) return known;
  const name = OBJECTS[kind].identity.of(fragment).map(encodeSegment).join('/');
  siblingNames.get(kind)!.set(fragment, name);
  return name;
}

const siblingNames: ReadonlyMap<ObjectKind, WeakMap<JsonRecord, string>> = new Map(
  OBJECT_KINDS.map((kind) => [kind, new WeakMap()]),
);

/** Returns the `siblingName` of every object along a key, outermost first. */
export function ownNames(key: string): readonly string[] {
  const [, ...segments] = key.split('/');
  const widths = widthsOf(nameOf(key).kind);
  return widths.map((width, i) => segments.slice(i === 0 ? 0 : widths[i - 1], width).join('/'));
}

const CHILDREN: ReadonlyMap<ObjectKind | null, readonly ObjectKind[]> = Map.groupBy(OBJECT_KINDS, parentOf);

const NESTED_KEYS: ReadonlyMap<ObjectKind, ReadonlySet<string>> = new Map(
  OBJECT_KINDS.map((kind) => [
    kind,
    new Set(childKinds(kind).flatMap((child) => OBJECTS[child].location.keys)),
  ]),
);

/** The number of segments up to each ancestor of a kind, and up to the kind itself, outermost first. */
const WIDTHS: ReadonlyMap<ObjectKind, readonly number[]> = new Map(
  OBJECT_KINDS.map((kind) => {
    const own = ancestry(kind).map((step) => OBJECTS[step].identity.width);
    return [kind, own.map((_, i) => own.slice(0, i + 1).reduce((sum, width) => sum + width, 0))];
  }),
);

function widthsOf(kind: ObjectKind): readonly number[] {
  return WIDTHS.get(kind) ?? [];
}

/** Returns the kind that a kind is nested in; null at the top of the document. */
export function parentOf(kind: ObjectKind): ObjectKind | null {
  return OBJECTS[kind].parent as ObjectKind | null;
}

/** Returns the kinds that a kind is nested in, outermost first, and the kind itself. */
export function ancestry(kind: ObjectKind): readonly ObjectKind[] {
  const parent = parentOf(kind);
  return parent === null ? [kind] : [...ancestry(parent), kind];
}

type Step = { readonly kind: ObjectKind; readonly own: readonly string[] };

function chainOf(name: ObjectIdentity): readonly Step[] {
  const widths = widthsOf(name.kind);
  return ancestry(name.kind).map((kind, i) => ({
    kind,
    own: name.segments.slice(i === 0 ? 0 : widths[i - 1], widths[i]),
  }));
}

/** Returns the key of a definition at the position of the object of `key`. It differs when the definition names another object. */
export function keyOfDefinition(key: string, definition: unknown): string {
  const { kind, segments } = nameOf(key);
  const own = OBJECTS[kind].identity.of(definition as JsonRecord);
  return objectKey(kind, ...segments.slice(0, segments.length - own.length), ...own);
}

/** Parses a key, and throws for other text. */
export function nameOf(key: string): ObjectIdentity {
  const name = parseKey(key);
  if (!name) throw new Error(`not the key of a metadata object: ${key}`);
  return name;
}

function parentKey(name: ObjectIdentity): string | null {
  const parent = parentOf(name.kind);
  return parent === null ? null : objectKey(parent, ...name.segments.slice(0, widthsOf(name.kind).at(-2)));
}

function find(owner: JsonRecord, chain: readonly Step[]): JsonRecord | undefined {
  const [step, ...rest] = chain;
  if (!step) return owner;
  const siblings = OBJECTS[step.kind].location.read(owner);
  const found = siblings[indexOf(step, siblings)];
  return found && find(found, rest);
}

function indexOf(step: Step, siblings: readonly JsonRecord[]): number {
  const { identity } = OBJECTS[step.kind];
  return siblings.findIndex((sibling) => {
    return identity.of(sibling).every((segment, i) => segment === step.own[i]);
  });
}

type Owner = {
  readonly kind: ObjectKind | null;
  readonly segments: readonly string[];
  readonly key: string | null;
};

function collect(fragment: JsonRecord, owner: Owner, found: Map<string, MetadataObject>): void {
  for (const kind of childKinds(owner.kind)) {
    for (const item of OBJECTS[kind].location.read(fragment)) {
      const segments = [...owner.segments, ...OBJECTS[kind].identity.of(item)];
      const key = objectKey(kind, ...segments);
      found.set(key, { key, kind, parent: owner.key, definition: bare(kind, item) });
      collect(item, { kind, segments, key }, found);
    }
  }
}

function compose(
  fragment: JsonRecord,
  kind: ObjectKind | null,
  key: string | null,
  children: ReadonlyMap<string | null, readonly MetadataObject[]>,
): JsonRecord {
  const nested = Map.groupBy(children.get(key) ?? [], (object) => object.kind);
  return childKinds(kind).reduce((made, child) => {
    const objects = nested.get(child);
    const { location: at } = OBJECTS[child];
    if (!objects) return at.isRequired ? at.write(made, []) : made;
    const items = objects.map((o) => compose(o.definition as JsonRecord, child, o.key, children));
    return at.write(made, items);
  }, fragment);
}

function isObjectKind(kind: string): kind is ObjectKind {
  return Object.hasOwn(OBJECTS, kind);
}

/** Encodes a segment. Most names need no escapes, and checking that is cheaper than encoding tens of thousands of keys. */
function encodeSegment(segment: string): string {
  return /^\w*$/.test(segment) ? segment : encodeURIComponent(segment);
}

function decodeSegment(encoded: string): string | undefined {
  if (!encoded.includes('%')) return encoded;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
