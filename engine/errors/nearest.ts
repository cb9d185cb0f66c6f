/** "Did you mean": finds the known words closest to a mistyped one. Pure. Used for flags, commands and the names in metadata. */

/** The most names that `nearestNames` returns. */
const MOST_NEAREST = 3;
/** The most candidates whose distance is computed. */
const MOST_COMPARED = 2000;
/** The longest word that is compared. Names of PostgreSQL have at most 63 bytes, each of two parts of a table's name. */
const MOST_CHARACTERS = 130;
/** The fewest letters that a beginning needs to count as the same name with something added. */
const FEWEST_SHARED = 2;

/** Returns at most three known names that somebody may have meant by a name that does not exist, the nearest first. Case, underscores
 *  and hyphens do not count, so `authorId` is near `author_id`; a name that begins with the other is near too, such as `_equals` and `_eq`. */
export function nearestNames(word: string, known: Iterable<string>): readonly string[] {
  const letters = lettersOf(word);
  if (letters === '' || word.length > MOST_CHARACTERS) return [];
  const most = Math.max(1, Math.round(letters.length / 3));
  const found: { readonly name: string; readonly rank: number }[] = [];
  let compared = 0;
  for (const name of known) {
    if (name === word || name.length > MOST_CHARACTERS) continue;
    const candidate = lettersOf(name);
    const difference = Math.abs(candidate.length - letters.length);
    const isLonger = isBeginning(letters, candidate) || isBeginning(candidate, letters);
    if (candidate === '' || (difference > most && !isLonger)) continue;
    if (compared++ === MOST_COMPARED) break;
    const distance = isLonger ? difference : editDistance(letters, candidate);
    // Every name within the distance of a typing error comes before one that only begins alike.
    if (distance <= most) found.push({ name, rank: distance });
    else if (isLonger) found.push({ name, rank: MOST_CHARACTERS + distance });
  }
  const ordered = found.toSorted((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
  return [...new Set(ordered.map(({ name }) => name))].slice(0, MOST_NEAREST);
}

/** Returns the known word that somebody may have meant, as `nearestNames` finds it; undefined if there is none. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  return nearestNames(word, known)[0];
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

function isBeginning(start: string, whole: string): boolean {
  return start.length >= FEWEST_SHARED && whole.startsWith(start);
}

/** Returns the clause that names the nearest names; empty without any. */
export function nearestText(names: readonly string[]): string {
  if (names.length === 0) return '';
  const quoted = names.map((name) => `"${name}"`);
  const last = quoted.at(-1)!;
  if (quoted.length === 1) return `; the nearest name is ${last}`;
  return `; the nearest names are ${quoted.slice(0, -1).join(', ')} and ${last}`;
}

/** Returns the Levenshtein distance: the insertions, deletions and substitutions that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(substituted, previous[j]! + 1, current[j - 1]! + 1));
    }
    previous = current;
  }
  return previous[b.length]!;
}
