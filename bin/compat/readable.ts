/** The part of a document that the model can read, and what it refuses. A stored document whose limits cannot be read is refused as a whole; here
 *  they are one refused part of several. In: a document as written. Raises Error for a document of which no part is the cause. Pure.
 *  Not here: the objects of a document that cannot be read (engine/metadata/damaged.ts). */
import { EngineError } from '../../engine/errors/engine-error.ts';
import type { JsonRecord } from '../../engine/json/value.ts';
import { type DamagedObject, separateDamaged } from '../../engine/metadata/damaged.ts';
import type { Metadata } from '../../engine/metadata/index.ts';

export function readableParts(given: JsonRecord): {
  readonly document: Metadata;
  readonly damaged: readonly DamagedObject[];
} {
  const refused: DamagedObject[] = [];
  let document = given;
  for (;;) {
    try {
      const parts = separateDamaged(document);
      return { document: parts.document, damaged: [...refused, ...parts.damaged] };
    } catch (error) {
      const at = error instanceof EngineError ? error.path[0] : undefined;
      if (!(error instanceof EngineError) || typeof at !== 'string' || !isRemovable(document, at)) {
        throw new Error(`the metadata cannot be read: ${(error as Error).message}`, { cause: error });
      }
      const { [at]: value, ...rest } = document;
      refused.push({ at, index: null, owners: [], kind: null, key: at, value, cause: error });
      document = rest;
    }
  }
}

function isRemovable(document: JsonRecord, key: string): boolean {
  return key !== 'version' && key !== 'sources' && Object.hasOwn(document, key);
}
