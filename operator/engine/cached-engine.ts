/** An EnginePort that caches the document and the ledger. They are read once and stay cached while the engine is at the same version; own
 *  writes update the cache. Reading them would otherwise be the most expensive part of a small change beside thousands of objects.
 *  A stale cache does no harm: writes compare and swap on the version, and after `maxAgeMs` everything is read again.
 *  In and out: an EnginePort. Not here: HTTP (client.ts), when a pass is due (kubernetes/engine-pass.ts). */
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
        // The inconsistent objects change without a new version when a database becomes available or unavailable.
        const inconsistent = await engine.inconsistent(reading.resourceVersion);
        if (inconsistent) {
          known = { reading: { ...reading, inconsistent }, readAtMs };
          return known.reading;
        }
      }
      // Release the previous reading first: two of them need twice the memory.
      known = undefined;
      known = { reading: await engine.read(), readAtMs: nowMs() };
      return known.reading;
    },
    write: async (change) => {
      const before = known;
      // Until the answer arrives the state of the engine is unknown.
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
