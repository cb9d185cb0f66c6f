/** The words of identifiers: splits names of a database into words, finds the style in which a table spells its names, and spells words
 *  in that style. In and out: text. Pure. Not here: singular and plural (english.ts), which words a name has (relationship-names.ts). */
import { isGraphqlName } from '../../engine/resolve/names.ts';

/** How a database spells names of several words. */
export type Style = 'snake' | 'camel' | 'pascal' | 'upper';

const SPELLINGS: Readonly<Record<Style, (words: readonly string[]) => string>> = {
  snake: (words) => words.map((word) => word.toLowerCase()).join('_'),
  upper: (words) => words.map((word) => word.toUpperCase()).join('_'),
  pascal: (words) => words.map(capitalised).join(''),
  camel: (words) => words.map((word, i) => (i === 0 ? word.toLowerCase() : capitalised(word))).join(''),
};

/** Returns the words of a name: `author_id` and `AuthorId` have two each. Letters with accents lose them. */
export function wordsOf(name: string): readonly string[] {
  return plainLetters(name)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
}

export function spell(words: readonly string[], style: Style): string {
  return SPELLINGS[style](words);
}

/** Returns the style of most of the names; `otherwise` when none of them has one. */
export function styleOf(names: readonly string[], otherwise: Style = 'snake'): Style {
  const counts = new Map<Style, number>();
  for (const name of names) {
    const style = styleOfName(name);
    if (style) counts.set(style, (counts.get(style) ?? 0) + 1);
  }
  const [most] = [...counts].toSorted(([, left], [, right]) => right - left);
  return most?.[0] ?? otherwise;
}

/** Returns a name that GraphQL can spell: the name itself where possible. */
export function graphqlName(name: string, otherwise: string): string {
  if (isGraphqlName(name)) return name;
  const plain = plainLetters(name)
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  if (plain === '') return otherwise;
  return /^\d/.test(plain) ? `_${plain}` : plain;
}

/** Returns the name, or the name with the first number that is free. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let count = 2; taken.has(free); count++) free = `${name}_${count}`;
  return free;
}

/** Returns undefined for a single word in lower case, which is spelled the same in snake case and in camel case. */
function styleOfName(name: string): Style | undefined {
  if (/^[a-z0-9]+$/.test(name)) return undefined;
  if (/^[A-Z0-9_]+$/.test(name)) return 'upper';
  if (name.includes('_') || !/^[A-Za-z0-9]+$/.test(name)) return 'snake';
  return /^[A-Z]/.test(name) ? 'pascal' : 'camel';
}

function capitalised(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function plainLetters(name: string): string {
  return name.normalize('NFKD').replaceAll(/\p{M}/gu, '');
}
