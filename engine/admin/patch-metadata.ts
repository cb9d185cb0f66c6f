/** `patch_metadata`: puts and removes objects by their keys. All other objects keep their identity, so that the cost is that of the
 *  change and not that of the document.
 *  Out: the answer of `replace_metadata`. Not here: validating and writing the document (document-operations.ts). */

import { fail, withPath } from '../errors/engine-error.ts';
import type { JsonRecord } from '../json/value.ts';
import { type Edit, editObjects } from '../metadata/edit.ts';
import { refuseCycles } from '../metadata/inherited-roles.ts';
import { keyOfDefinition, type ObjectKind, parseKey } from '../metadata/objects.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import { normaliseObject } from '../metadata/parse.ts';
import type { Source } from '../metadata/schema/source.ts';
import { checkConnections } from '../transform/check-connections.ts';
import { replaceDocument } from './document-operations.ts';
import type { Performer } from './request.ts';

type PatchArgs = ArgsOf<'patch_metadata'>;

/** Raises `parseFailed` for an invalid key, an invalid object, an object with another key, or an object without its parent. */
export const patchMetadata: Performer<'patch_metadata'> = (work, args, request) => {
  const next = editObjects(work.metadata, editsIn(args));
  refuseCycles(next.inherited_roles ?? []);
  return replaceDocument(work, next, args, request);
};

function editsIn({ put = [], remove = [] }: PatchArgs): readonly Edit[] {
  const puts = new Set(put.map(({ key }) => key));
  return [
    ...remove.map((key, i) => withPath('remove', () => withPath(i, () => removal(key, puts)))),
    ...put.map((one, i) => withPath('put', () => withPath(i, () => replacement(one)))),
  ];
}

function removal(key: string, puts: ReadonlySet<string>): Edit {
  if (!parseKey(key)) refuse(`${key} is not the key of a metadata object`);
  if (puts.has(key)) refuse(`${key} is both put and removed`);
  return { key, definition: undefined };
}

function replacement({ key, definition }: { readonly key: string; readonly definition?: unknown }): Edit {
  const named = parseKey(key) ?? refuse(`${key} is not the key of a metadata object`);
  const normal = withPath('definition', () => checked(named.kind, definition));
  const actual = keyOfDefinition(key, normal);
  if (actual !== key) refuse(`the definition is that of ${actual}, not of ${key}`);
  return { key, definition: normal };
}

function checked(kind: ObjectKind, definition: unknown): JsonRecord {
  const normal = normaliseObject(kind, definition);
  if (kind === 'source') {
    withPath('configuration', () => checkConnections((normal as unknown as Source).configuration));
  }
  return normal;
}

function refuse(text: string): never {
  return fail('parseFailed', { text });
}
