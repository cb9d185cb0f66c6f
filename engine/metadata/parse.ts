/** Parses unknown JSON into metadata: arguments of operations, whole documents, single objects.
 *  Documents and their objects are returned as they were given, and validated in normal form (normal-form.ts); arguments are returned in
 *  normal form. Raises `parseFailed` with a path relative to the value, and
 *  `multipleDeclarations` when a document declares an object twice.
 *  Not here: checks that need a database (resolve/). Spec: "Errors", parse-failed; "replace_metadata". */

import { fail, type PathStep } from '../errors/engine-error.ts';
import { nearestNumber } from '../json/number.ts';
import { isRecord, isSameJsonText, type JsonRecord, nameOfJson } from '../json/value.ts';
import type { Edit } from './edit.ts';
import { foreignSources } from './foreign-sources.ts';
import { refuseCycles } from './inherited-roles.ts';
import { normalMetadata, toArrangedForm, toGivenForm, toNormalForm } from './normal-form.ts';
import { bare, childKinds, nameOf, OBJECTS, type ObjectKind, withRequired } from './objects.ts';
import type { OperationDeclaration } from './operations/row.ts';
import { type ArgsOf, OPERATIONS, type OperationName } from './operations.ts';
import { Metadata } from './schema/metadata.ts';
import { foreignKindOf } from './schema/source.ts';
import { Table } from './schema/table.ts';
import type { TSchema } from './schema/type.ts';
import { finish, forEach, type Steps } from './steps.ts';
import { isValid, validate } from './validate.ts';
import { refusedHeader, variablesIn } from './variables.ts';
import { asJsonSchema } from './walk-schema.ts';

/** Returns the arguments of an operation in normal form, with the default of `source`. The objects in them that an edit puts into the
 *  document are as they were given. */
export function parseArgs<N extends OperationName>(name: N, args: unknown): ArgsOf<N> {
  const row: OperationDeclaration = OPERATIONS[name];
  const written = row.lenient?.(args) ?? args;
  const complete =
    isRecord(written) && row.takesSource ? { ...written, source: written['source'] ?? 'default' } : written;
  const normal = parseAs(row.args, complete);
  refuseOptionsInHeaders(row.args, normal);
  const parsed = row.effect === 'edit' ? withGiven(normal, row, complete) : normal;
  row.check?.(parsed as never);
  return parsed as ArgsOf<N>;
}

/** Raises `parseFailed` at a header that has the value of an option of the engine. Reference: docs/reference/behaviour/errors.md. */
function refuseOptionsInHeaders(args: TSchema, normal: unknown): void {
  for (const variable of variablesIn(args, normal)) {
    const text = refusedHeader(variable);
    if (text !== null) fail('parseFailed', { text }, { path: variable.path.slice(0, -1) });
  }
}

function withGiven(
  normal: unknown,
  { args, keepsEmpty = false }: OperationDeclaration,
  complete: unknown,
): unknown {
  const given = toArrangedForm(asJsonSchema(args), complete);
  if (!isRecord(normal) || !isRecord(given)) return normal;
  const entries = Object.entries(normal).map(([key, value]) => {
    return [key, typeof value === 'object' ? given[key] : value];
  });
  const empty = keepsEmpty
    ? Object.entries(given).filter(([key, value]) => isRecord(value) && !Object.hasOwn(normal, key))
    : [];
  return Object.fromEntries([...entries, ...empty]);
}

/** Parses a document at once. */
export function parseDocument(...args: Parameters<typeof parsingDocument>): Metadata {
  return finish(parsingDocument(...args));
}

/** Parses a document of format 3, or of format 1 and 2, whose only database becomes the source `default`. Returns it as it was given.
 *  `from` says whether a client sends it, or it was stored, perhaps by an earlier version. Tables that `known` has too are those of
 *  `known`, so that nothing about them is computed again.
 *  Yields after each table: what is long is done for single tables first, and found in caches when the document is read as a whole. */
export function* parsingDocument(
  value: unknown,
  from: 'client' | 'store' = 'client',
  known?: Metadata,
): Steps<Metadata> {
  refuseIllFormed(value);
  yield;
  const upgraded = upgrade(value);
  yield* forEach(tablesIn(upgraded), (table) => toGivenForm(TABLE, table));
  const given = toGivenForm(METADATA, upgraded) as Metadata;
  const document = known ? yield* withKnownTables(given, known) : given;
  yield* forEach(tablesIn(document), (table) => toNormalForm(TABLE, table));
  const metadata = normalMetadata(document);
  yield* forEach(tablesIn(metadata), (table) => isValid(TABLE, table));
  const checked = withForeign(document, metadata);
  validate(METADATA, checked, from);
  yield;
  refuseDuplicates(checked, null);
  refuseCycles(metadata.inherited_roles ?? []);
  return document;
}

/** Returns the normal form with a source in place of each that it does not have, so that names are checked and paths are those of the
 *  document. */
function withForeign(document: Metadata, metadata: Metadata): Metadata {
  if (foreignSources(document).length === 0) return metadata;
  const served = metadata.sources.values();
  const sources = document.sources.map((source) =>
    isRecord(source) && foreignKindOf(source)
      ? { ...NAMELESS_SOURCE, tables: [], name: source.name }
      : served.next().value!,
  );
  return { ...metadata, sources: sources as Metadata['sources'] };
}

const METADATA = asJsonSchema(Metadata);
const TABLE = asJsonSchema(Table);

/** Returns the sources of a document, or the tables of a source, whose form may be wrong. */
function listIn(owner: unknown, key: 'sources' | 'tables'): readonly unknown[] {
  const list = isRecord(owner) ? owner[key] : undefined;
  return Array.isArray(list) ? list : [];
}

function tablesIn(document: unknown): readonly unknown[] {
  const served = listIn(document, 'sources').filter((source) => !isRecord(source) || !foreignKindOf(source));
  return served.flatMap((source) => listIn(source, 'tables'));
}

/** Returns the document with the tables of `known` in place of those with the same text. */
function* withKnownTables(document: Metadata, known: Metadata): Steps<Metadata> {
  const keyed = ({ sources }: Metadata) =>
    listIn({ sources }, 'sources').flatMap((source) =>
      listIn(source, 'tables').map((table): [string, unknown] => [tableKey(source, table), table]),
    );
  const all = new Map(keyed(known));
  const same = new Map<unknown, unknown>();
  yield* forEach(keyed(document), ([key, table]) => {
    const other = all.get(key);
    if (isSameJsonText(table, other)) same.set(table, other);
  });
  if (same.size === 0) return document;
  const sources = document.sources.map((source) => {
    const tables = listIn(source, 'tables').map((table) => (same.get(table) ?? table) as Table);
    return tables.length === 0 ? source : { ...source, tables };
  });
  return { ...document, sources };
}

function tableKey(source: unknown, table: unknown): string {
  return JSON.stringify([isRecord(source) && source['name'], isRecord(table) && table['table']]);
}

/** Parses a document to normal form. */
export function parseMetadata(value: unknown): Metadata {
  return normalMetadata(parseDocument(value));
}

/** Returns the fragment of an object, without nested objects, in normal form. Equivalent fragments become equal. */
export function normaliseObject(
  kind: ObjectKind,
  fragment: unknown,
  from: 'client' | 'store' = 'client',
): JsonRecord {
  if (kind === 'source' && isRecord(fragment) && foreignKindOf(fragment)) return fragment;
  const whole = isRecord(fragment) ? withRequired(kind, bare(kind, fragment)) : fragment;
  return bare(kind, parseAs(OBJECTS[kind].schema, whole, from) as JsonRecord);
}

/** Returns the fragment of an object, without nested objects, as it was given. */
export function parseObject(
  kind: ObjectKind,
  fragment: unknown,
  from: 'client' | 'store' = 'client',
): JsonRecord {
  normaliseObject(kind, fragment, from);
  const given = toGivenForm(asJsonSchema(OBJECTS[kind].schema), fragment) as JsonRecord;
  return bare(kind, given);
}

/** Parses edits that were stored. */
export function parseEdits(edits: readonly Edit[]): readonly Edit[] {
  return edits.map(({ key, definition }) => ({
    key,
    definition: definition === undefined ? undefined : parseObject(nameOf(key).kind, definition, 'store'),
  }));
}

function parseAs(model: TSchema, value: unknown, from: 'client' | 'store' = 'client'): unknown {
  refuseIllFormed(value);
  const schema = asJsonSchema(model);
  const normal = toNormalForm(schema, value);
  validate(schema, normal, from);
  return normal;
}

/** Returns a document of format 1 or 2 in format 3, whose only source is `default`. Other values are returned as they are. */
export function upgrade(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const version = nearestNumber(value['version']);
  if (version === 3 || 'sources' in value) return { ...value, version: version ?? 3 };
  if (version !== undefined && version !== 1 && version !== 2) refuseVersion(version);
  // Without this rule, `{}` would be an empty document, and the one in force would be lost.
  if (!('tables' in value)) fail('parseFailed', { text: 'key "tables" not found' });
  const { tables, functions = [], ...rest } = value;
  return {
    ...rest,
    version: 3,
    sources: [{ ...NAMELESS_SOURCE, tables, functions: upgradeFunctions(functions) }],
  };
}

/** Rewrites a function of format 1, which is only a name. */
function upgradeFunctions(functions: unknown): unknown {
  if (!Array.isArray(functions)) return functions;
  return functions.map((entry) => (isRecord(entry) && 'function' in entry ? entry : { function: entry }));
}

/** The source of an older document, which has no connection: the URL of `--database-url`. */
const NAMELESS_SOURCE: JsonRecord = {
  name: 'default',
  kind: 'postgres',
  configuration: { connection_info: { database_url: { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' } } },
};

function refuseVersion(version: unknown): never {
  const encountered = typeof version === 'number' ? String(version) : nameOfJson(version);
  fail('parseFailed', { text: `expected 1, 2 or 3, encountered ${encountered}` }, { path: ['version'] });
}

function refuseDuplicates(owner: JsonRecord, kind: ObjectKind | null): void {
  for (const child of childKinds(kind)) {
    const { location, identity } = OBJECTS[child];
    const items = location.read(owner);
    const seen = new Set<string>();
    for (const item of items) {
      const name = identity.of(item);
      const key = JSON.stringify(name);
      if (seen.has(key))
        fail('multipleDeclarations', {
          kind: `${child.replaceAll('_', ' ')}s`,
          names: name.join('.').replace(/^public\./, ''),
        });
      seen.add(key);
      refuseDuplicates(item, child);
    }
  }
}

/** Refuses text that JSON can express and Postgres cannot store: half of a surrogate pair, or a zero byte. It would fail later, in keys and
 *  statements. Raises `parseFailed` with its path. PostgreSQL manual, "Character Types" and "JSON Types". */
function refuseIllFormed(value: unknown): void {
  if (isRecord(value) && wellFormed.has(value)) return;
  const path = pathOfIllFormed(value);
  if (path) fail('parseFailed', { text: 'text holds a zero byte or half of a surrogate pair' }, { path });
  if (!isRecord(value)) return;
  for (const part of [value, ...Object.values(value)]) if (isRecord(part)) wellFormed.add(part);
}

/** Values, which are immutable, that were read and their members: a document is read with the arguments that hold it. */
const wellFormed = new WeakSet<JsonRecord>();

/** Returns the path of ill-formed text; null when there is none. For an ill-formed key it is the path of its object, because the key
 *  could not be printed. */
function pathOfIllFormed(value: unknown): readonly PathStep[] | null {
  if (typeof value === 'string') return isIllFormed(value) ? [] : null;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const path = pathOfIllFormed(value[i]);
      if (path) return [i, ...path];
    }
    return null;
  }
  if (!isRecord(value)) return null;
  for (const key of Object.keys(value)) {
    if (isIllFormed(key)) return [];
    const path = pathOfIllFormed(value[key]);
    if (path) return [key, ...path];
  }
  return null;
}

function isIllFormed(text: string): boolean {
  return !text.isWellFormed() || text.includes('\0');
}
