/** The read replicas and members of connection sets that have not answered since they were added, or since the start. A source is served
 *  without them and says so, and they are tried until they answer. One that has answered and fails later is skipped by requests (database/replicas.ts).
 *  Not here: when they are tried (unit-of-work.ts, target-recovery.ts). */
import type { OtherConnection } from '../database/sources.ts';

/** The result of an attempt to connect: the reason if it failed. */
export type Attempted = { readonly error?: string };

export type SilentConnection = { readonly other: OtherConnection; readonly reason: string };

export class OtherConnections {
  /** The reasons of those without an answer, by keyOfOther. */
  readonly #silent = new Map<string, string>();
  /** The keys of those that have been tried, as of keyOfOther. */
  readonly #tried = new Set<string>();

  note(other: OtherConnection, { error }: Attempted): void {
    this.#tried.add(keyOfOther(other));
    if (error === undefined) this.#silent.delete(keyOfOther(other));
    else this.#silent.set(keyOfOther(other), error);
  }

  /** Returns those without an answer, with the reason for each. */
  silentAmong(others: () => readonly OtherConnection[]): readonly SilentConnection[] {
    if (this.#silent.size === 0) return [];
    return others().flatMap((other) => {
      const why = this.#silent.get(keyOfOther(other));
      return why === undefined ? [] : [{ other, reason: `cannot connect to ${other.source.name}: ${why}` }];
    });
  }

  /** Returns those that have not been tried, and counts them as tried. */
  takeUntried(others: readonly OtherConnection[]): readonly OtherConnection[] {
    const untried = others.filter((other) => !this.#tried.has(keyOfOther(other)));
    for (const other of untried) this.#tried.add(keyOfOther(other));
    return untried;
  }

  /** Forgets all but these, because no source has the others any more. */
  keepOnly(others: readonly OtherConnection[]): void {
    const kept = new Set(others.map(keyOfOther));
    for (const key of this.#silent.keys()) if (!kept.has(key)) this.#silent.delete(key);
    for (const key of this.#tried) if (!kept.has(key)) this.#tried.delete(key);
  }
}

/** Returns a key that changes with the source and the server. */
export function keyOfOther({ source: { name }, server }: OtherConnection): string {
  return `${name}\n${server}`;
}
