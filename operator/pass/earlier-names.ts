/** Takes over what the ledger has under the earlier names of this operator: after another configured name, or from a version that did not keep
 *  its name. It is one write of the ledger, which leaves the document as it is.
 *  In: the engine, the names. Out: a ledger without the earlier names. Throws EngineProblem.
 *  Not here: which names there are (../kubernetes/cluster-name.ts). */
import type { LedgerPatch } from '../objects/ledger.ts';
import { ownerOfValues } from '../objects/value-name.ts';
import type { EnginePort, EngineReading } from '../ports/engine.ts';
import type { ReconcileOptions } from '../ports/options.ts';

/** Returns the patch that renames the manager of entries and reservations; undefined when none has an earlier name. Pure. */
export function renaming(
  { ledger, reservations }: Pick<EngineReading, 'ledger' | 'reservations'>,
  { manager, earlierManagers = [] }: Pick<ReconcileOptions, 'manager' | 'earlierManagers'>,
): LedgerPatch | undefined {
  const earlier = new Set(earlierManagers);
  // Each pass looks at every entry: nothing is made of those that stay.
  const renamed = <T extends { readonly manager: string }>(all: Iterable<readonly [string, T]>) => {
    const found: [string, T][] = [];
    for (const [key, one] of all) if (earlier.has(one.manager)) found.push([key, { ...one, manager }]);
    return found;
  };
  const [entries, reserved] = [renamed(ledger), renamed(reservations ?? [])];
  if (entries.length + reserved.length === 0) return undefined;
  return {
    manager,
    objects: Object.fromEntries(entries),
    ...(reserved.length === 0 ? {} : { reservations: Object.fromEntries(reserved) }),
  };
}

/** Writes the ledger without earlier names. True when it had some: then every resource may own more than before. */
export async function takeOverEarlierNames(engine: EnginePort, options: ReconcileOptions): Promise<boolean> {
  if ((options.earlierManagers ?? []).length === 0) return false;
  const reading = await engine.read();
  const ledger = renaming(reading, options);
  if (!ledger) return false;
  const { metadata: document, resourceVersion: expectedVersion } = reading;
  await engine.write({ edits: [], document, ledger, expectedVersion, mustFit: false });
  return true;
}

/** Returns the owners of the named values that this operator may remove. */
export function ownersOfValues({ manager, earlierManagers = [] }: ReconcileOptions): readonly string[] {
  return [manager, ...earlierManagers].map(ownerOfValues);
}
