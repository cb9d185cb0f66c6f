/** The names in metadata objects and documents: the objects, tables, columns and roles that they refer to, and their own. Names are read and
 *  replaced along the marks of schemas (schema/marks.ts), so whatever a schema marks is followed.
 *  An object that names a table or a source decides what the names beside and inside it belong to: `Table.table` the columns that are `here`,
 *  `{table, columns}` those that are `there`.
 *  Pure, total on any JSON: what cannot be interpreted is kept. Not here: the names in boolean expressions (bool-exp-names.ts), which objects depend
 *  on which (dependencies.ts). */
import { isRecord, type JsonRecord } from '../json/value.ts';
import { qualifiedOf } from './bool-exp.ts';
import {
  mayName,
  type Name,
  type NameWalk,
  renamed,
  renameInBoolExp,
  type SourceTable,
} from './bool-exp-names.ts';
import { ancestry, type MetadataObject, nameOf, OBJECTS, type ObjectKind, objectKey } from './objects.ts';
import {
  type ContentMark,
  isMemberKind,
  isQualifiedKind,
  KEY_MARK,
  NAME_MARK,
  type NameMark,
} from './schema/marks.ts';
import { Metadata } from './schema/metadata.ts';
import { foreignKindOf } from './schema/source.ts';
import { Marks, type MarkWalk, mapEntries, mapItems, walkMarks } from './walk-marks.ts';
import { asJsonSchema, type JsonSchema } from './walk-schema.ts';

/** Returns the document with the names that `rename` replaces. Everything without such a name stays identical. Sources that the engine cannot
 *  serve are kept. */
export function renameIn(metadata: Metadata, walk: NameWalk): Metadata {
  const next = walkMarks(asJsonSchema(Metadata), metadata, WALK, { ...NOWHERE, walk }) as Metadata;
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
  const { kind, segments } = nameOf(key);
  // A missing member may stand for the name of a source.
  const texts = kind === 'source' ? undefined : segments.slice(-1);
  const rename = (name: Name) => {
    if (name.kind !== kind || keyOfName(name) !== key) return undefined;
    return typeof name.name === 'string' ? newName : { ...name.name, name: newName };
  };
  return renameIn(metadata, { fieldOf, rename, texts });
}

/** Returns the names in an object, its own included, without those of objects nested in it. */
export function namesIn(
  { key, kind, definition }: MetadataObject,
  fieldOf: NameWalk['fieldOf'],
): readonly Name[] {
  const names: Name[] = [];
  const rename = (name: Name) => {
    names.push(name);
    return undefined;
  };
  const { schema } = OBJECTS[kind];
  walkMarks(asJsonSchema(schema), definition, WALK, { ...scopeOf(key), walk: { fieldOf, rename } });
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
type Context = Scope & { readonly walk: NameWalk };

const NOWHERE: Scope = { source: '', here: undefined, there: undefined };

/** Returns the source and the table that an object is nested in. */
function scopeOf(key: string): Scope {
  const { kind, segments } = nameOf(key);
  const [source = '', schema = '', name = ''] = segments;
  const [root, owner] = ancestry(kind);
  if (root !== 'source') return NOWHERE;
  return { ...NOWHERE, source, here: owner === 'table' ? { source, table: { schema, name } } : undefined };
}

const MARKS = new Marks<NameMark | ContentMark>(NAME_MARK, KEY_MARK);

const WALK: MarkWalk<NameMark | ContentMark, Context> = {
  marks: MARKS,
  enter,
  isKept: (item, { walk }) => !mayName(item, walk),
  absent: (mark) => ('content' in mark ? undefined : mark.absent),
  key: (mark, key, context) => ('content' in mark ? key : renameText(mark, key, context)),
  visit: (mark, value, context) =>
    'content' in mark ? walkContent(mark, value, context) : renameValue(mark, value, context),
};

function walkContent({ content }: ContentMark, value: unknown, context: Context): unknown {
  if (content === 'expression') {
    return renameInBoolExp(value, context.here ?? { source: context.source, table: null }, context.walk);
  }
  return content.reduce<unknown>((made, schema) => walkMarks(schema, made, WALK, context), value);
}

function renameValue(mark: NameMark, value: unknown, context: Context): unknown {
  const { kind, form, isOwn = false } = mark;
  if (form === 'variables') return renameVariables(value, (name) => renameText(mark, name, context));
  if (isQualifiedKind(kind)) {
    const name = qualifiedOf(value);
    const next = name && context.walk.rename({ kind, isOwn, source: context.source, name });
    // Members keep their order.
    return isRecord(value) && isRecord(next) ? { ...value, ...next } : (next ?? value);
  }
  if (typeof value !== 'string') return value;
  if (form !== 'type') return renameText(mark, value, context);
  return value.replace(/[^[\]!\s]+/, (name) => renameText(mark, name, context));
}

function renameText({ kind, of, isOwn = false }: NameMark, name: string, context: Context): string {
  const { source, here, there, walk } = context;
  if (isQualifiedKind(kind)) return name;
  if (!isMemberKind(kind)) return renamed({ kind, isOwn, source, name }, walk);
  const at = of === 'there' ? there : here;
  return at ? renamed({ kind, isOwn, source: at.source, table: at.table, name }, walk) : name;
}

/** Renames in JSON whose texts may be names, which are written `"$name"`. */
function renameVariables(value: unknown, rename: (name: string) => string): unknown {
  if (typeof value === 'string') return value.startsWith('$') ? `$${rename(value.slice(1))}` : value;
  if (Array.isArray(value)) return mapItems(value, (item) => renameVariables(item, rename));
  return isRecord(value) ? mapEntries(value, (key, item) => [key, renameVariables(item, rename)]) : value;
}

/** The members of an object schema that name the source and the tables of the names in it. */
type ScopeMembers = { readonly source?: Member; readonly here?: Member; readonly there?: Member };
type Member = { readonly key: string; readonly absent: string | undefined };

function enter(schema: JsonSchema, value: JsonRecord, context: Context): Context {
  const members = scopeMembersOf(schema);
  if (!members) return context;
  const named = members.source && (value[members.source.key] ?? members.source.absent);
  const source = typeof named === 'string' ? named : context.source;
  const tableOf = ({ key }: Member): SourceTable | undefined => {
    const table = qualifiedOf(value[key]);
    return table && { source, table };
  };
  const { here, there } = members;
  return {
    source,
    here: here ? tableOf(here) : context.here,
    there: there ? tableOf(there) : context.there,
    walk: context.walk,
  };
}

const scopeMembers = new WeakMap<JsonSchema, ScopeMembers | null>();

/** Returns the members of a schema that name a source or a table; null when there are none. */
function scopeMembersOf(schema: JsonSchema): ScopeMembers | null {
  const cached = scopeMembers.get(schema);
  if (cached !== undefined) return cached;
  const found: { -readonly [K in keyof ScopeMembers]: ScopeMembers[K] } = {};
  for (const [key, field] of MARKS.membersOf(schema)) {
    const mark = MARKS.of(field);
    if (!mark || 'content' in mark) continue;
    const member = { key, absent: mark.absent };
    if (mark.kind === 'source') found.source = member;
    if (mark.kind === 'table') found[mark.isOwn ? 'here' : 'there'] = member;
  }
  const result = Object.keys(found).length > 0 ? found : null;
  scopeMembers.set(schema, result);
  return result;
}
