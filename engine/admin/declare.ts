/** A declarative start: replaces the stored document with that of a directory. A document that does not fit its databases is not stored,
 *  and the engine does not start. Nothing is written if nothing differs, so that replicas can start together.
 *  Not here: reading the directory (store/directory.ts). */

import { isSameJson } from '../json/value.ts';
import { canonicalMetadata, exportedPart, exportMetadata } from '../metadata/export.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { PrintedInconsistency } from './inconsistencies.ts';
import { runAsEngine } from './run.ts';
import type { EngineState } from './state.ts';

/** Stores the document. Throws with every reason if it is refused. */
export async function declareMetadata(state: EngineState, metadata: Metadata, client: string): Promise<void> {
  const stored = state.snapshot().document;
  if (isSameJson(canonicalMetadata(exportedPart(stored)), canonicalMetadata(metadata))) return;
  const body = { type: 'replace_metadata', version: 2, args: { metadata: exportMetadata(metadata) } };
  const answer = await runAsEngine(state, body, client);
  if (answer.status !== 200) throw new Error(reasonsIn(answer.body), { cause: answer.unexpected });
}

function reasonsIn(body: unknown): string {
  const { error, internal } = body as { readonly error: string; readonly internal?: unknown };
  if (!Array.isArray(internal)) return error;
  const reasons = (internal as readonly PrintedInconsistency[]).map(
    ({ name, reason }) => `${name}: ${reason}`,
  );
  return ['the metadata does not fit:', ...reasons].join('\n  ');
}
