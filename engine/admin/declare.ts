/** A declarative start: replaces the stored document with that of a directory. A document that does not fit its databases is not stored,
 *  and the engine does not start. Nothing is written if nothing differs, so that replicas can start together.
 *  Not here: reading the directory (store/directory.ts). */

import { isSameJson } from '../json/value.ts';
import { canonicalMetadata, exportedPart, exportMetadata } from '../metadata/export.ts';
import { foreignSources, hindering } from '../metadata/foreign-sources.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { PrintedInconsistency } from '../state/inconsistencies.ts';
import type { EngineState } from '../state/state.ts';
import { runAsEngine } from './run.ts';

/** Stores the document. Throws with every reason if it is refused. Sources that the engine cannot serve are kept as inconsistent objects. */
export async function declareMetadata(state: EngineState, metadata: Metadata, client: string): Promise<void> {
  const stored = state.snapshot().document;
  if (isSameJson(canonicalMetadata(exportedPart(stored)), canonicalMetadata(metadata))) return;
  const replace = async (options: object) => {
    const args = { metadata: exportMetadata(metadata), ...options };
    const answer = await runAsEngine(state, { type: 'replace_metadata', version: 2, args }, client);
    if (answer.status !== 200) throw new Error(reasonsIn(answer.body), { cause: answer.unexpected });
    return answer.body as { readonly inconsistent_objects: readonly PrintedInconsistency[] };
  };
  const isForeign = foreignSources(metadata).length > 0;
  if (isForeign) {
    const { inconsistent_objects: listed } = await replace({ dry_run: true });
    const others = hindering(metadata, listed);
    if (others.length > 0) throw new Error(reasonsText(others));
  }
  await replace({ allow_inconsistent_metadata: isForeign });
}

function reasonsIn(body: unknown): string {
  const { error, internal } = body as { readonly error: string; readonly internal?: unknown };
  return Array.isArray(internal) ? reasonsText(internal as readonly PrintedInconsistency[]) : error;
}

function reasonsText(listed: readonly PrintedInconsistency[]): string {
  const reasons = listed.map(({ name, reason }) => `${name}: ${reason}`);
  return ['the metadata does not fit:', ...reasons].join('\n  ');
}
