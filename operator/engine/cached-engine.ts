/** An engine that is not asked again what is known: its document and ledger are read whole once, and stay known while the engine
 *  says it is at the same version, whatever we write ourselves included. Of a change beside thousands of objects the reading
 *  would otherwise be the dearest part.
 *  In and out: an EnginePort. Nothing is wrong for being remembered: writes compare and swap on the version, and after
 *  `mostAgeMs` the whole is read again. Not here: HTTP (client.ts), when a pass is due (kubernetes/engine-pass.ts). */
import { patchedEntries, patchedReservations } from '../objects/ledger.ts';
import type { EnginePort, EngineReading } from '../ports.ts';

export type CachedEngineOptions = {
  readonly nowMs: () => number;
  readonly maxAgeMs: () => number;
};

export function cachedEngine(engine: EnginePort, { nowMs, maxAgeMs }: CachedEngineOptions): EnginePort {
  let known: { readonly reading: EngineReading; readonly readAtMs: number } | undefined;
  return {
    ...engine,
    read: async () => {
      const remembered = known;
      if (remembered && nowMs() - remembered.readAtMs < maxAgeMs()) {
        const { reading, readAtMs } = remembered;
        // What is inconsistent changes without a new version, when a database comes or goes.
        const inconsistent = await engine.inconsistent(reading.resourceVersion);
        if (inconsistent) {
          known = { reading: { ...reading, inconsistent }, readAtMs };
          return known.reading;
        }
      }
      // Not while another as large is in memory.
      known = undefined;
      known = { reading: await engine.read(), readAtMs: nowMs() };
      return known.reading;
    },
    write: async (change) => {
      const before = known;
      // Until it is answered nobody knows what the engine has.
      known = undefined;
      const written = await engine.write(change);
      if (before?.reading.resourceVersion === change.expectedVersion) {
        const ledger = patchedEntries(before.reading.ledger, change.ledger);
        const reservations = patchedReservations(before.reading.reservations, change.ledger);
        const reading = { ...written, metadata: change.document, ledger, reservations };
        known = { reading, readAtMs: before.readAtMs };
      }
      return written;
    },
  };
}
