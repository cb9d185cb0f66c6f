/** Writes records for the console beside the ledger, without an edit of the document.
 *  In: the document and the version that the engine has. Out: the version afterwards. Not here: the records (objects/). */
import type { Metadata } from '@pergola/engine/metadata';
import type { LedgerPatch } from '../objects/ledger.ts';
import type { EnginePort } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';

/** Stores what changed of the records. If that fails, the next pass does it. */
export async function writeNotes(
  engine: EnginePort,
  at: { readonly document: Metadata; readonly version: number; readonly manager: string },
  notes: Pick<LedgerPatch, 'unserved' | 'tests'>,
): Promise<number> {
  if (Object.values(notes).every((patch) => Object.keys(patch).length === 0)) return at.version;
  const { document, version: expectedVersion, manager } = at;
  const ledger = { manager, objects: {}, ...notes };
  try {
    const written = await engine.write({ edits: [], document, ledger, expectedVersion, mustFit: false });
    return written.resourceVersion;
  } catch (error) {
    if (error instanceof EngineProblem) return expectedVersion;
    throw error;
  }
}
