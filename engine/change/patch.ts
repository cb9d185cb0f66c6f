/** Reads the edits of a patch. In: the arguments of `patch_metadata` and `apply_migrations`. Out: edits of the document.
 *  Not here: making them (admin/patch-metadata.ts), which of them fit (admin/admission.ts). */
import { fail, type PathStep, withPath } from '../errors/engine-error.ts';
import type { JsonRecord } from '../json/value.ts';
import type { Edit } from '../metadata/edit.ts';
import { keyOfDefinition, type ObjectKind, parseKey } from '../metadata/objects.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import { parseObject } from '../metadata/parse.ts';
import { foreignKindOf, type Source } from '../metadata/schema/source.ts';
import { checkConnections } from '../transform/check-connections.ts';

type Patch = Pick<ArgsOf<'patch_metadata'>, 'put' | 'remove'>;

/** Returns the edits of a patch. Raises `parseFailed` at their paths. */
export function editsIn(patch: Patch): readonly Edit[] {
  return readEdits(patch).map((read) => read());
}

/** Returns a function for each edit, removals first, that returns it or raises `parseFailed` at its path. */
export function readEdits({ put = [], remove = [] }: Patch): readonly (() => Edit)[] {
  const puts = new Set(put.map(({ key }) => key));
  return [
    ...remove.map((key, i) => () => withPath('remove', () => withPath(i, () => removal(key, puts)))),
    ...put.map((one, i) => () => withPath('put', () => withPath(i, () => replacement(one)))),
  ];
}

/** Returns the path of the edit of an object. */
export function pathOf({ put = [], remove = [] }: Patch, key: string): readonly PathStep[] | undefined {
  const at = put.findIndex((one) => one.key === key);
  if (at >= 0) return ['put', at];
  return remove.includes(key) ? ['remove', remove.indexOf(key)] : undefined;
}

function removal(key: string, puts: ReadonlySet<string>): Edit {
  if (!parseKey(key)) refuse(`${key} is not the key of a metadata object`);
  if (puts.has(key)) refuse(`${key} is both put and removed`);
  return { key, definition: undefined };
}

function replacement({ key, definition }: { readonly key: string; readonly definition?: unknown }): Edit {
  const named = parseKey(key) ?? refuse(`${key} is not the key of a metadata object`);
  const given = withPath('definition', () => checked(named.kind, definition));
  const actual = keyOfDefinition(key, given);
  if (actual !== key) refuse(`the definition is that of ${actual}, not of ${key}`);
  return { key, definition: given };
}

function checked(kind: ObjectKind, definition: unknown): JsonRecord {
  const given = parseObject(kind, definition);
  if (kind === 'source' && !foreignKindOf(given)) {
    withPath('configuration', () => checkConnections((given as unknown as Source).configuration));
  }
  return given;
}

function refuse(text: string): never {
  return fail('parseFailed', { text });
}
