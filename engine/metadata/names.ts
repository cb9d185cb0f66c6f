/** The names in metadata objects and documents: the objects, tables, columns and roles that they refer to, and their own. Names are read and
 *  replaced along the marks of schemas (schema/marks.ts), so whatever a schema marks is followed.
 *  An object that names a table or a source decides what the names beside and inside it belong to: `Table.table` the columns that are `here`,
 *  `{table, columns}` those that are `there`.
 *  Pure, total on any JSON: what cannot be interpreted is kept. Not here: the names in boolean expressions (bool-exp.ts), which objects depend
 *  on which (dependencies.ts). */
import { isRecord, type JsonRecord } from '../json/value.ts';
import { type Name, type NameWalk, qualifiedOf, renamed, type SourceTable, walkBoolExp } from './bool-exp.ts';
import { ancestry, type MetadataObject, nameOf, OBJECTS, type ObjectKind, objectKey } from './objects.ts';
import { type ContentMark, KEY_MARK, NAME_MARK, type NameMark } from './schema/marks.ts';
import { Metadata } from './schema/metadata.ts';
import { foreignKindOf } from './schema/source.ts';
import { Marks, type MarkWalk, mapEntries, mapItems, walkMarks } from './walk-marks.ts';
import { asJsonSchema, type JsonSchema } from './walk-schema.ts';

/** Returns the document with the names that `rename` replaces. Everything without such a name stays identical. Sources that the engine cannot
 *  serve are kept. */
export function renameIn(metadata: Metadata, walk: NameWalk): Metadata {
  const next = walkMarks(asJsonSchema(Metadata), metadata, walkOf(walk), NOWHERE) as Metadata;
  if (!metadata.sources.some(foreignKindOf)) return next;
  const sources = next.sources.map((source, i) => (foreignKindOf(source) ? metadata.sources[i]! : source));
  return { ...next, sources };
}

/** Returns the document in which an object has another name, wherever it is named. */
export function renameObject(
  metadata: Metadata,
  key: string,
  newName: string,
  fieldOf: NameWalk['fieldOf'] = () => undefined,
): Metadata {
  const { kind } = nameOf(key);
  const rename = (name: Name) => (name.kind === kind && keyOfName(name) === key ? newName : undefined);
  return renameIn(metadata, { fieldOf, rename });
}

/** Returns the names in an object, its own included, without those of objects nested in it. */
export function namesIn(
  { key, kind, definition }: MetadataObject,
  fieldOf: NameWalk['fieldOf'],
): readonly Name[] {
  const names: Name[] = [];
  const walk: NameWalk = {
    fieldOf,
    rename: (name) => {
      names.push(name);
      return undefined;
    },
  };
  walkMarks(asJsonSchema(OBJECTS[kind].schema), definition, walkOf(walk), scopeOf(key));
  return names;
}

/** Returns the key of the object that has the name; undefined for the name of something else. A field may be a computed field. */
export function keyOfName(name: Name): string | undefined {
  const kind = name.kind === 'field' ? 'computed_field' : name.kind;
  if (!Object.hasOwn(OBJECTS, kind)) return undefined;
  const { name: own } = name;
  return objectKey(
    kind as ObjectKind,
    ...(kind !== 'source' && ancestry(kind as ObjectKind)[0] === 'source' ? [name.source] : []),
    ...('table' in name ? [name.table.schema, name.table.name] : []),
    ...(typeof own === 'string' ? [own] : [own.schema, own.name]),
  );
}

/** The source and the tables that the names inside a value belong to. */
type Scope = {
  readonly source: string;
  readonly here: SourceTable | undefined;
  readonly there: SourceTable | undefined;
};

const NOWHERE: Scope = { source: '', here: undefined, there: undefined };

function scopeOf(key: string): Scope {
  const { kind, segments } = nameOf(key);
  const [source = '', schema = '', name = ''] = segments;
  const kinds = ancestry(kind);
  if (kinds[0] !== 'source') return NOWHERE;
  const here = kinds[1] === 'table' ? { source, table: { schema, name } } : undefined;
  return { source, here, there: undefined };
}

const MARKS = new Marks<NameMark | ContentMark>(NAME_MARK, KEY_MARK);

function walkOf(walk: NameWalk): MarkWalk<NameMark | ContentMark, Scope> {
  return {
    marks: MARKS,
    enter,
    absent,
    key: (mark, key, scope) => ('content' in mark ? key : renameText(mark, key, scope, walk)),
    visit: (mark, value, scope) =>
      'content' in mark ? walkContent(mark, value, scope, walk) : renameValue(mark, value, scope, walk),
  };
}

function walkContent({ content }: ContentMark, value: unknown, scope: Scope, walk: NameWalk): unknown {
  if (content === 'expression') {
    return walkBoolExp(value, scope.here ?? { source: scope.source, table: null }, walk);
  }
  return content.reduce<unknown>(
    (made, schema) => walkMarks(schema as JsonSchema, made, walkOf(walk), scope),
    value,
  );
}

function renameValue(mark: NameMark, value: unknown, scope: Scope, walk: NameWalk): unknown {
  const { kind, form, isOwn = false } = mark;
  if (form === 'variables') return renameVariables(value, (name) => renameText(mark, name, scope, walk));
  if (kind === 'table' || kind === 'function' || kind === 'sql_function') {
    const name = qualifiedOf(value);
    return (name && walk.rename({ kind, isOwn, source: scope.source, name })) ?? value;
  }
  if (typeof value !== 'string') return value;
  if (form !== 'type') return renameText(mark, value, scope, walk);
  return value.replace(/[^[\]!\s]+/, (name) => renameText(mark, name, scope, walk));
}

function renameText(mark: NameMark, name: string, scope: Scope, walk: NameWalk): string {
  const { kind, isOwn = false } = mark;
  const { source } = scope;
  switch (kind) {
    case 'table':
    case 'function':
    case 'sql_function':
      return name;
    case 'column':
    case 'field':
    case 'object_relationship':
    case 'array_relationship':
    case 'computed_field':
    case 'remote_relationship': {
      const at = mark.of === 'there' ? scope.there : scope.here;
      return at ? renamed({ kind, isOwn, source: at.source, table: at.table, name }, walk) : name;
    }
    default:
      return renamed({ kind, isOwn, source, name }, walk);
  }
}

/** Renames in JSON whose texts may be names, which are written `"$name"`. */
function renameVariables(value: unknown, rename: (name: string) => string): unknown {
  if (typeof value === 'string') return value.startsWith('$') ? `$${rename(value.slice(1))}` : value;
  if (Array.isArray(value)) return mapItems(value, (item) => renameVariables(item, rename));
  return isRecord(value) ? mapEntries(value, (key, item) => [key, renameVariables(item, rename)]) : value;
}

/** The members of an object schema that name the source and the tables of the names in it. */
type ScopeMembers = {
  readonly source: string | undefined;
  readonly here: string | undefined;
  readonly there: string | undefined;
  /** The names that missing members stand for. */
  readonly absent: readonly (readonly [key: string, name: string])[];
};

function enter(schema: JsonSchema, value: JsonRecord, scope: Scope): Scope {
  const members = scopeMembersOf(schema);
  if (!members) return scope;
  const named = members.source === undefined ? undefined : value[members.source];
  const source = typeof named === 'string' ? named : (members.absent[0]?.[1] ?? scope.source);
  const tableIn = (member: string | undefined, outer: SourceTable | undefined): SourceTable | undefined => {
    if (member === undefined) return outer;
    const table = qualifiedOf(value[member]);
    return table && { source, table };
  };
  return { source, here: tableIn(members.here, scope.here), there: tableIn(members.there, scope.there) };
}

function absent(schema: JsonSchema, value: JsonRecord): readonly (readonly [string, string])[] {
  return scopeMembersOf(schema)?.absent.filter(([key]) => !Object.hasOwn(value, key)) ?? [];
}

const scopeMembers = new WeakMap<JsonSchema, ScopeMembers | null>();

/** Returns the members of a schema that change the scope; null when there are none. */
function scopeMembersOf(schema: JsonSchema): ScopeMembers | null {
  const cached = scopeMembers.get(schema);
  if (cached !== undefined) return cached;
  const marks = Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
    const mark = MARKS.of(field);
    return mark && 'kind' in mark ? [{ key, ...mark }] : [];
  });
  const keyOf = (kind: string, isOwn = false) =>
    marks.find((mark) => mark.kind === kind && (mark.isOwn ?? false) === isOwn)?.key;
  const found: ScopeMembers = {
    source: keyOf('source') ?? keyOf('source', true),
    here: keyOf('table', true),
    there: keyOf('table'),
    absent: marks.flatMap(({ key, absent: name }) => (name === undefined ? [] : [[key, name] as const])),
  };
  const result = (found.source ?? found.here ?? found.there) === undefined ? null : found;
  scopeMembers.set(schema, result);
  return result;
}
