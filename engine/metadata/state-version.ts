/** The version of a list of inconsistent objects: a short text that is equal for equal lists, whatever their order, on every replica.
 *  The engine publishes it so that clients know whether to read the list again.
 *  It consists of two 32-bit FNV-1a hashes, which detect changes and have no cryptographic strength. Pure.
 *  Not here: the list (resolve/inconsistency.ts). */

type Reported = { readonly key: string; readonly reason: string };

export function stateVersionOf(inconsistent: readonly Reported[]): string {
  const lines = inconsistent.map(({ key, reason }) => `${key}\n${reason}\n`).sort();
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (const line of lines) {
    for (let i = 0; i < line.length; i++) {
      const unit = line.charCodeAt(i);
      a = Math.imul(a ^ unit, 0x01000193);
      b = Math.imul(b ^ unit, 0x85ebca6b);
    }
  }
  const hex = (hash: number) => (hash >>> 0).toString(16).padStart(8, '0');
  return `${lines.length}-${hex(a)}${hex(b)}`;
}
