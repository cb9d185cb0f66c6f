/** The keys of a document that the model does not have. They are dropped when the document is read, so that documents of other versions can be
 *  read; whoever reads them from files names them. In: a document of format 3. Out: the path of each such key. Pure, total.
 *  Not here: dropping them (walk-schema.ts), the files that they are in (read-directory.ts). */
import type { PathStep } from '../errors/engine-error.ts';
import { isRecord } from '../json/value.ts';
import { GIVEN } from './normal-form.ts';
import { Metadata } from './schema/metadata.ts';
import { asJsonSchema, chooseBranch, type JsonSchema } from './walk-schema.ts';

type Path = readonly PathStep[];

/** Returns the paths in the order of the document. */
export function unknownKeys(document: unknown): readonly Path[] {
  return [...unknownIn(asJsonSchema(Metadata), document, [])];
}

function* unknownIn(schema: JsonSchema, value: unknown, path: Path): Generator<Path> {
  const { anyOf, items, properties, patternProperties } = schema;
  if (anyOf) {
    const branch = chooseBranch(anyOf, value);
    if (branch) yield* unknownIn(branch, value, path);
  } else if (Array.isArray(value)) {
    if (items) for (const [i, item] of value.entries()) yield* unknownIn(items, item, [...path, i]);
  } else if (patternProperties) {
    const [pattern] = Object.values(patternProperties);
    if (!pattern || !isRecord(value)) return;
    for (const [key, item] of Object.entries(value)) yield* unknownIn(pattern, item, [...path, key]);
  } else if (properties && isRecord(value) && !GIVEN.isKept?.(properties, value)) {
    yield* unknownMembers(schema, value, path);
  }
}

/** Keys of forms that are read otherwise are those of the form in which they are kept. */
function* unknownMembers(schema: JsonSchema, value: object, path: Path): Generator<Path> {
  const { properties = {}, additionalProperties } = schema;
  const read = GIVEN.before?.get(properties)?.(value) ?? value;
  if (!isRecord(read)) return;
  const more = GIVEN.keys?.get(properties) ?? [];
  for (const [key, member] of Object.entries(read)) {
    const at = [...path, key];
    if (Object.hasOwn(properties, key)) yield* unknownIn(properties[key]!, member, at);
    else if (additionalProperties !== true && !more.includes(key)) yield at;
  }
}
