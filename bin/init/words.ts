/** The words of identifiers: splits names of a database into words, finds the style in which a table spells its names, and spells words
 *  in that style. In and out: text. Pure. Not here: singular and plural (english.ts), which words a name has (relationship-names.ts). */
import type { QualifiedName } from '../../engine/metadata/schema/common.ts';
import { baseName, isGraphqlName } from '../../engine/resolve/names.ts';

/** How a database spells names of several words: `order_item`, `ORDER_ITEM`, `OrderItem`, `orderItem`, `Order_Item`. */
export type Style = 'snake' | 'upper' | 'pascal' | 'camel' | 'title';

/** The spellings. Of two styles that fit the names equally well, the first one counts. */
const SPELLINGS: Readonly<Record<Style, (words: readonly string[]) => string>> = {
  snake: (words) => words.map((word) => word.toLowerCase()).join('_'),
  upper: (words) => words.map((word) => word.toUpperCase()).join('_'),
  pascal: (words) => words.map(capitalised).join(''),
  camel: (words) => words.map((word, i) => (i === 0 ? word.toLowerCase() : capitalised(word))).join(''),
  title: (words) => words.map(capitalised).join('_'),
};
const STYLES = Object.keys(SPELLINGS) as readonly Style[];
/** The styles that put nothing between two words. */
const JOINED: ReadonlySet<Style> = new Set(['pascal', 'camel']);

/** The letters that Unicode does not decompose into a plain letter and an accent. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', Æ: 'Ae', œ: 'oe', Œ: 'Oe', ø: 'o', Ø: 'O', đ: 'd', Đ: 'D' },
  ...{ ł: 'l', Ł: 'L', ð: 'd', Ð: 'D', þ: 'th', Þ: 'Th', ı: 'i' },
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

/** Returns the style that fits most of the names. Where several do, as snake case and camel case fit `id` and `name`, it is `otherwise`
 *  if that fits, and camel case beside names such as `OrderItem`. */
export function styleOf(names: readonly string[], otherwise: Style = 'snake'): Style {
  const fits = names.map(stylesOf);
  const counts = STYLES.map((style) => fits.filter((styles) => styles.includes(style)).length);
  const most = Math.max(...counts);
  const best = STYLES.filter((_, i) => counts[i] === most);
  if (most === 0 || best.includes(otherwise)) return otherwise;
  return otherwise === 'pascal' && best.includes('camel') ? 'camel' : best[0]!;
}

/** Returns a name that GraphQL can spell: the name itself where possible, else its words in its style. */
export function graphqlName(name: string, otherwise: string): string {
  if (isGraphqlName(name)) return name;
  const plain = spell(wordsOf(name), styleOf([name]));
  if (plain === '') return otherwise;
  return /^\d/.test(plain) ? `_${plain}` : plain;
}

/** Returns the name of a table or function in the API: the engine's own, except where GraphQL cannot spell it, or where the schema would
 *  begin a name of another style, as in `sales_OrderItem`; `otherwise` for names without a letter that GraphQL has. */
export function apiName(named: QualifiedName, otherwise: string): string {
  if (wordsOf(named.name).length === 0) return otherwise;
  const base = baseName(named);
  const style = styleOf([named.name]);
  if (style === 'snake' || base === named.name || !isGraphqlName(base)) return graphqlName(base, otherwise);
  return graphqlName(spell(wordsOf(base), style), otherwise);
}

/** Returns the name, or the name with the first number that is free: `prix_2`, `Prix2`. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  const between = name.includes('_') || !JOINED.has(styleOf([name])) ? '_' : '';
  let free = name;
  for (let count = 2; taken.has(free); count++) free = `${name}${between}${count}`;
  return free;
}

/** Returns the styles that spell a name as it is: two for `name` and `Name`, none for a single letter, which says nothing. */
function stylesOf(name: string): readonly Style[] {
  const plain = plainLetters(name).replaceAll(/^_+|_+$/g, '');
  if (/^.?$/.test(plain)) return [];
  if (/^[a-z0-9]+$/.test(plain)) return ['snake', 'camel'];
  if (/^[A-Z0-9]+$/.test(plain)) return ['upper', 'pascal', 'title'];
  if (/^[A-Z0-9_]+$/.test(plain)) return ['upper'];
  if (/^[A-Z][a-z0-9]*$/.test(plain)) return ['pascal', 'title'];
  if (/^[A-Z][A-Za-z0-9]*$/.test(plain)) return ['pascal'];
  if (/^[A-Za-z0-9]+$/.test(plain)) return ['camel'];
  if (/^[A-Z][A-Za-z0-9]*(_[A-Z0-9][A-Za-z0-9]*)+$/.test(plain)) return ['title'];
  // Names with spaces and signs: `Country of origin`, `created-at`.
  return /^[^_]*[A-Z][a-z]/.test(plain) && !plain.includes('_') ? ['pascal'] : ['snake'];
}

function capitalised(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function plainLetters(name: string): string {
  const letters = [...name].map((letter) => PLAIN_LETTERS[letter] ?? letter);
  return letters.join('').normalize('NFKD').replaceAll(/\p{M}/gu, '');
}
