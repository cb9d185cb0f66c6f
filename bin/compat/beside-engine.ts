/** Compares a document with the metadata of a running engine, object by object: what the engine lacks, has otherwise, has besides, and what it
 *  reports as inconsistent or NotEnforced. In: a document as written, what the engine has. Out: findings. Pure.
 *  Not here: reading the engine (operator/engine/client.ts), what needs no engine (judge.ts). */
import { isRecord, isSameJson, type JsonRecord } from '../../engine/json/value.ts';
import {
  foreignSources,
  fromWire,
  type Metadata,
  normalMetadata,
  objectKey,
  objectsOf,
  printPath,
} from '../../engine/metadata/index.ts';
import { type InconsistentObject, NOT_ENFORCED } from '../../operator/ports/inconsistent-object.ts';
import type { ObjectFinding } from './judge.ts';
import { readableParts } from './readable.ts';

type EngineState = {
  /** The metadata in normal form, with session variables x-engine-*. */
  readonly metadata: Metadata;
  readonly inconsistent: readonly InconsistentObject[];
};

/** Returns the findings. Objects of the document that cannot be read are not compared. `prefix` is that of its session variables. */
export function besideEngine(
  document: JsonRecord,
  prefix: string,
  { metadata, inconsistent }: EngineState,
): readonly ObjectFinding[] {
  const wanted = objectsOf(normalMetadata(readableParts(fromWire(document, prefix) as JsonRecord).document));
  const found = objectsOf(normalMetadata(metadata));
  const differences = [...new Set([...wanted.keys(), ...found.keys()])].flatMap((object) => {
    const message = difference(wanted.get(object)?.definition, found.get(object)?.definition);
    return message === null ? [] : [{ object, verdict: 'differs' as const, position: '', message }];
  });
  const unserved = new Set(foreignSources(document).map(({ name }) => objectKey('source', name)));
  const reported = inconsistent
    .filter(({ key }) => !unserved.has(key))
    .map(({ key, reason, code }) => ({
      object: key,
      verdict: code === NOT_ENFORCED ? ('no effect' as const) : ('differs' as const),
      position: '',
      message: reason,
    }));
  return [...differences, ...reported];
}

function difference(wanted: unknown, found: unknown): string | null {
  if (found === undefined) return 'the engine does not have it';
  if (wanted === undefined) return 'only the engine has it';
  const members = differentMembers(wanted, found, []);
  return members.length === 0 ? null : `the engine has other values at ${members.join(', ')}`;
}

/** Returns the paths of the outermost members that differ. Values may be secrets and are not returned. */
function differentMembers(a: unknown, b: unknown, path: readonly string[]): readonly string[] {
  if (isSameJson(a, b)) return [];
  if (!isRecord(a) || !isRecord(b)) return [printPath(path)];
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return keys.flatMap((key) => differentMembers(a[key], b[key], [...path, key]));
}
