/** Splits text into words for the search: in the build, which makes the index, and in the browser, which reads it. */

/** Words that a user may write in several ways, and the way in which the index has them. */
const SAME = [
  [/\brow[- ]level[- ]security\b/g, 'rls'],
  [/\bmulti[- ]?tenan(t|cy)\b/g, 'multitenant'],
  [/\bn ?\+ ?1\b/g, 'nplusone'],
  [/\bsoft[- ](delete[sd]?|deletion)\b/g, 'softdelete'],
  [/\b(multiple|several|many) databases\b/g, 'severaldatabases'],
  [/\b(multiple|more|high)[- ](replicas|availability)\b/g, 'replicas'],
  [/\b(log ?in|login|sign[- ]?in|single sign-on|sso)\b/g, 'signingin'],
  [/\bsigning in\b/g, 'signingin'],
  [/\b(disaster( recovery)?|backups?|restore)\b/g, 'backup'],
  [/\b(uninstall|removing|remove)\b/g, 'remove'],
  [
    /\b(machine size|size of the machine|how large|how much memory|how many cores|capacity|sizing)\b/g,
    'sizing',
  ],
  [/\b(docker|docker[- ]compose|containers?)\b/g, 'container'],
  [/\b(pagination|paging|pages? through)\b/g, 'pagination'],
];

/** What a page counts, by the beginning of its path. Guides are for users; history and decisions are for those who know what they look for. */
const WEIGHTS = [
  [/^guides\//, 1.5],
  [/^(adr\/|changelog|speed)/, 0.3],
];

export function wordsOf(text) {
  const same = SAME.reduce((read, [pattern, word]) => read.replaceAll(pattern, word), text.toLowerCase());
  return same.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** What the index of the search is made with. */
export const INDEX = {
  fields: ['heading', 'title', 'body'],
  storeFields: ['url', 'heading', 'title'],
  tokenize: wordsOf,
  processTerm: (word) => word.replace(/(?<=\w{3})(s|ed|ing)$/, ''),
  searchOptions: {
    boost: { heading: 4, title: 3 },
    boostDocument: (_id, _term, { url }) => WEIGHTS.find(([path]) => path.test(url))?.[1] ?? 1,
    prefix: (word) => word.length > 2,
    fuzzy: (word) => (word.length > 4 ? 0.2 : false),
    combineWith: 'AND',
  },
};
