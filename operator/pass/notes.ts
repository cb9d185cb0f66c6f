/** Writes records for the console beside the ledger, without an edit of the document.
 *  In: the document and the version that the engine has. Out: the version afterwards. Not here: the records (objects/). */
import type { Metadata } from '@pergola/engine/metadata';
import { changedNotes, type NotesPatch } from '../objects/notes.ts';
import type { EnginePort } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';

/** The state of the engine that a write begins with, and the manager that writes. */
type At = { readonly document: Metadata; readonly version: number; readonly manager: string };

/** Stores what changed of the records, in one write for each part. If that fails, the next pass does it. */
export async function writeNotes(
  engine: EnginePort,
  { document, version, manager }: At,
  ...parts: readonly NotesPatch[]
): Promise<number> {
  let expectedVersion = version;
  for (const part of parts) {
    const changed = changedNotes(part);
    if (!changed) continue;
    const ledger = { manager, objects: {}, ...changed };
    try {
      const written = await engine.write({ edits: [], document, ledger, expectedVersion, mustFit: false });
      expectedVersion = written.resourceVersion;
    } catch (error) {
      if (error instanceof EngineProblem) return expectedVersion;
      throw error;
    }
  }
  return expectedVersion;
}
