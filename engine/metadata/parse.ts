/** Parses unknown JSON into metadata: arguments of operations, whole documents, single objects.
 *  Lenient at this edge (normal-form.ts), canonical inside. Raises `parseFailed` with a path relative to the value, and
 *  `multipleDeclarations` when a document declares an object twice.
 *  Not here: checks that need a database (resolve/). Spec: "Errors", parse-failed; "replace_metadata". */

import { fail } from '../errors/engine-error.ts';
import { nearestNumber } from '../json/number.ts';
import { isRecord, type JsonRecord, nameOfJson } from '../json/value.ts';
import type { Edit } from './edit.ts';
import { refuseCycles } from './inherited-roles.ts';
import { toNormalForm } from './normal-form.ts';
import { bare, childKinds, nameOf, OBJECTS, type ObjectKind, withRequired } from './objects.ts';
import { type ArgsOf, OPERATIONS, type OperationDeclaration, type OperationName } from './operations.ts';
import { Metadata } from './schema/metadata.ts';
import type { TSchema } from './schema/type.ts';
import { validate } from './validate.ts';
import { asJsonSchema } from './walk-schema.ts';
import { refuseIllFormed } from './well-formed.ts';

/** Returns the arguments of an operation in normal form, with the default of `source`. */
export function parseArgs<N extends OperationName>(name: N, args: unknown): ArgsOf<N> {
  const row: OperationDeclaration = OPERATIONS[name];
  const written = row.lenient?.(args) ?? args;
  const complete =
    isRecord(written) && row.takesSource ? { ...written, source: written['source'] ?? 'default' } : written;
  return parseAs(row.args, complete) as ArgsOf<N>;
}

/** Parses a document of format 3, or of format 1 and 2, whose only database becomes the source `default`. */
export function parseMetadata(value: unknown): Metadata {
  const metadata = parseAs(Metadata, upgrade(value)) as Metadata;
  refuseDuplicates(metadata, null);
  refuseCycles(metadata.inherited_roles ?? []);
  return metadata;
}

/** Returns the fragment of an object, without nested objects, in normal form. Equivalent fragments become equal. */
export function normaliseObject(kind: ObjectKind, fragment: unknown): JsonRecord {
  const whole = isRecord(fragment) ? withRequired(kind, bare(kind, fragment)) : fragment;
  return bare(kind, parseAs(OBJECTS[kind].schema, whole) as JsonRecord);
}

/** Returns stored edits in normal form. */
export function parseEdits(edits: readonly Edit[]): readonly Edit[] {
  return edits.map(({ key, definition }) => {
    return {
      key,
      definition: definition === undefined ? undefined : normaliseObject(nameOf(key).kind, definition),
    };
  });
}

function parseAs(model: TSchema, value: unknown): unknown {
  refuseIllFormed(value);
  const schema = asJsonSchema(model);
  const normal = toNormalForm(schema, value);
  validate(schema, normal);
  return normal;
}

function upgrade(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const version = nearestNumber(value['version']);
  if (version === 3 || 'sources' in value) return { ...value, version: version ?? 3 };
  if (version !== undefined && version !== 1 && version !== 2) refuseVersion(version);
  const { tables = [], functions = [], ...rest } = value;
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
        fail('multipleDeclarations', { kind: child.replaceAll('_', ' '), names: name.join('.') });
      seen.add(key);
      refuseDuplicates(item, child);
    }
  }
}
