/** An engine whose document and ledger are read once. They stay cached while the engine is at the same version; own writes update the cache.
 *  Reading them would otherwise be the most expensive part of a small change beside thousands of objects. A stale cache does no harm:
 *  writes compare and swap on the version, and after `maxAgeMs` everything is read again.
 *  In: an EnginePort. Out: another. Not here: the requests (client.ts). */
import { createHash } from 'node:crypto';
import { patchedEntries, patchedReservations } from '../objects/ledger.ts';
import { patchedNotes } from '../objects/notes.ts';
import type { EnginePort, EngineReading } from '../ports/engine.ts';
import { EngineProblem, isAboutContent } from '../ports/engine-problem.ts';

/** Returns a port that caches the document and the ledger. They are read once and stay cached while the engine is at the same version; own
 *  writes update the cache. Reading them would otherwise be the most expensive part of a small change beside thousands of objects.
 *  A stale cache does no harm: writes compare and swap on the version, and after `maxAgeMs` everything is read again. */
export function cachedEngine(
  engine: EnginePort,
  { nowMs, maxAgeMs }: { readonly nowMs: () => number; readonly maxAgeMs: () => number },
): EnginePort {
  let known: { readonly reading: EngineReading; readonly readAtMs: number } | undefined;
  // Digests of the values that the engine has, since everything was read last.
  const sent = new Map<string, string>();
  /** The owners whose unused values have been removed since everything was read last. */
  const tidy = new Set<string>();
  return {
    ...engine,
    setValues: async (values) => {
      const changed = [...values].filter(([name, value]) => sent.get(name) !== digestOf(value));
      if (changed.length === 0) return;
      await engine.setValues(new Map(changed));
      for (const [name, value] of changed) sent.set(name, digestOf(value));
    },
    removeValues: async (owner, used) => {
      if (tidy.has(owner) && [...sent.keys()].every((name) => used.has(name))) return;
      await engine.removeValues(owner, used);
      tidy.add(owner);
      for (const name of sent.keys()) if (!used.has(name)) sent.delete(name);
    },
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
      // Values may have been changed by another client, or lost with their key: they are sent again.
      sent.clear();
      tidy.clear();
      known = { reading: await engine.read(), readAtMs: nowMs() };
      return known.reading;
    },
    write: async (change) => {
      const before = known;
      // Until the answer arrives the state of the engine is unknown.
      known = undefined;
      const written = await engine.write(change).catch((error: unknown) => {
        // What the engine refuses changes nothing.
        if (error instanceof EngineProblem && isAboutContent(error)) known = before;
        throw error;
      });
      if (before?.reading.resourceVersion === change.expectedVersion) {
        const ledger = patchedEntries(before.reading.ledger, change.ledger);
        const reservations = patchedReservations(before.reading.reservations, change.ledger);
        const notes = patchedNotes(before.reading, change.ledger);
        const reading = { ...written, metadata: change.document, ledger, reservations, ...notes };
        known = { reading, readAtMs: before.readAtMs };
      }
      return written;
    },
  };
}

function digestOf(value: string): string {
  return createHash('sha256').update(value).digest('base64');
}
