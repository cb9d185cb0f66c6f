/** Singular and plural of English nouns, for the names of tables. `singular` and `plural` accept either form and keep capitals:
 *  `Category`, `Categories`. Unknown words follow the rules. Pure.
 *  Not here: names of several words (words.ts), whose last word is the noun. */

/** The nouns whose plural follows no rule. */
const IRREGULAR: readonly (readonly [singular: string, plural: string])[] = [
  ['alias', 'aliases'],
  ['analysis', 'analyses'],
  ['atlas', 'atlases'],
  ['cache', 'caches'],
  ['canvas', 'canvases'],
  ['basis', 'bases'],
  ['bonus', 'bonuses'],
  ['bus', 'buses'],
  ['calf', 'calves'],
  ['campus', 'campuses'],
  ['census', 'censuses'],
  ['child', 'children'],
  ['consensus', 'consensuses'],
  ['corpus', 'corpora'],
  ['crisis', 'crises'],
  ['criterion', 'criteria'],
  ['datum', 'data'],
  ['diagnosis', 'diagnoses'],
  ['echo', 'echoes'],
  ['foot', 'feet'],
  ['gas', 'gases'],
  ['goose', 'geese'],
  ['half', 'halves'],
  ['hero', 'heroes'],
  ['index', 'indexes'],
  ['knife', 'knives'],
  ['leaf', 'leaves'],
  ['lens', 'lenses'],
  ['life', 'lives'],
  ['loaf', 'loaves'],
  ['man', 'men'],
  ['matrix', 'matrices'],
  ['medium', 'media'],
  ['mouse', 'mice'],
  ['phenomenon', 'phenomena'],
  ['person', 'people'],
  ['potato', 'potatoes'],
  ['quiz', 'quizzes'],
  ['shelf', 'shelves'],
  ['status', 'statuses'],
  ['synopsis', 'synopses'],
  ['thesis', 'theses'],
  ['thief', 'thieves'],
  ['tomato', 'tomatoes'],
  ['tooth', 'teeth'],
  ['vertex', 'vertices'],
  ['veto', 'vetoes'],
  ['virus', 'viruses'],
  ['wife', 'wives'],
  ['wolf', 'wolves'],
  ['woman', 'women'],
];

/** The nouns with one form. */
const UNCOUNTABLE: ReadonlySet<string> = new Set([
  ...['access', 'advice', 'aircraft', 'content', 'data', 'equipment', 'feedback', 'fish', 'furniture'],
  ...['hardware', 'information', 'inventory', 'luggage', 'metadata', 'money', 'news', 'police', 'progress'],
  ...['research', 'rice', 'series', 'sheep', 'software', 'species', 'staff', 'stock', 'stuff', 'traffic'],
  ...['weather', 'sms', 'gps', 'dns', 'stats', 'statistics', 'analytics'],
]);

type Rule = readonly [ending: RegExp, replacement: string];

/** The rules for plurals; the first that matches applies. */
const PLURALS: readonly Rule[] = [
  [/([^aeiou])y$/, '$1ies'],
  [/(s|x|z|ch|sh)$/, '$1es'],
  [/$/, 's'],
];

/** The rules for singulars; the first that matches applies. */
const SINGULARS: readonly Rule[] = [
  [/(ss|us|is)$/, '$1'],
  [/^(cook|mov|zomb|genr|calor|rook|pixi|prair|sort)ies$/, '$1ie'],
  [/([^aeiou])ies$/, '$1y'],
  [/(ss|x|zz|ch|sh)es$/, '$1'],
  [/s$/, ''],
];

const PLURAL_OF = new Map(IRREGULAR);
const SINGULAR_OF = new Map(IRREGULAR.map(([singular, plural]) => [plural, singular]));

export function plural(noun: string): string {
  const one = singular(noun);
  const low = one.toLowerCase();
  if (UNCOUNTABLE.has(low)) return one;
  return likeCapitals(one, PLURAL_OF.get(low) ?? following(low, PLURALS));
}

export function singular(noun: string): string {
  const low = noun.toLowerCase();
  if (UNCOUNTABLE.has(low) || PLURAL_OF.has(low)) return noun;
  return likeCapitals(noun, SINGULAR_OF.get(low) ?? following(low, SINGULARS));
}

function following(word: string, rules: readonly Rule[]): string {
  const rule = rules.find(([ending]) => ending.test(word));
  return rule ? word.replace(rule[0], rule[1]) : word;
}

/** Returns the word, which is in lower case, with the capitals of the model. */
function likeCapitals(model: string, word: string): string {
  if (model.length > 1 && model === model.toUpperCase()) return word.toUpperCase();
  return /^[A-Z]/.test(model) ? word.slice(0, 1).toUpperCase() + word.slice(1) : word;
}
