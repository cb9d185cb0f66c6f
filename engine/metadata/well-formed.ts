/** Refuses text that JSON can express and Postgres cannot store: half of a surrogate pair, or a zero byte. It would fail later, in
 *  keys and statements. Raises `parseFailed` with its path. Not here: other validation (validate.ts).
 *  PostgreSQL manual, "Character Types" and "JSON Types". */
import { fail, type PathStep } from '../errors/engine-error.ts';
import { isRecord, type JsonRecord } from '../json/value.ts';

export function refuseIllFormed(value: unknown): void {
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
