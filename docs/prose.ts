/** The prose of a Markdown document as sentences and words: without code, addresses, links and markup.
 *  In: the text of a document. Out: blocks with their line. Pure. Not here: the rules of prose (prose.test.ts). */

/** A paragraph, an item of a list, a heading, or a cell of a table. */
export type ProseBlock = { readonly line: number; readonly text: string };

/** Stands for code and addresses. It is no letter and counts as a word. */
const CODE = '§';

export function proseBlocks(document: string): readonly ProseBlock[] {
  const blocks: ProseBlock[] = [];
  let lines: string[] = [];
  let first = 0;
  let isCode = false;
  const end = () => {
    if (lines.length > 0) blocks.push({ line: first, text: plain(lines.join(' ')) });
    lines = [];
  };
  for (const [i, line] of document.split('\n').entries()) {
    const text = line.trim();
    const isFence = text.startsWith('```');
    const isRow = text.startsWith('|');
    if (isFence) isCode = !isCode;
    if (isFence || isRow || text === '' || /^(#|[-*] |\d+\. |<)/.test(text)) end();
    if (isFence || isCode || text.startsWith('<') || /^\|[\s:|-]+\|$/.test(text)) continue;
    if (isRow) {
      for (const cell of text.split(/(?<!\\)\|/)) {
        if (cell.trim() !== '') blocks.push({ line: i + 1, text: plain(cell.trim()) });
      }
      continue;
    }
    if (lines.length === 0) first = i + 1;
    if (text !== '') lines.push(text.replace(/^([-*]|\d+\.|#+) +/, ''));
    if (text.startsWith('#')) end();
  }
  end();
  return blocks;
}

function plain(markdown: string): string {
  return markdown
    .replaceAll(/(`+)[^`]*\1/g, CODE)
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/https?:\S+/g, CODE)
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('**', '')
    .replaceAll(/(?<![\w])\*|\*(?!\w)/g, '');
}

/** Returns the sentences, which end with a period, a colon or a semicolon, without what is in parentheses. */
export function sentencesOf(text: string): readonly string[] {
  return text
    .replaceAll(/\([^()]*\)/g, '')
    .split(/(?<=[.!?:;]["’)]?)\s+/)
    .filter((sentence) => sentence !== '');
}

export function wordCount(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}§]/u.test(word)).length;
}

/** Returns the words in lower case, without a genitive. Names of programs, which have capitals inside or are capitals only, are no words. */
export function wordsOf(text: string): readonly string[] {
  const found = text.matchAll(/(?<![\p{L}\p{N}_$./@-])\p{L}[\p{L}'’]*(?![\p{L}\p{N}_$/])/gu);
  return [...found]
    .map(([word]) => word.replace(/['’]s?$/, ''))
    .filter((word) => word.length > 1 && !/\p{Ll}\p{Lu}|^\p{Lu}{2}/u.test(word))
    .map((word) => word.toLowerCase());
}

/** Endings of English words, and what they stand for. */
const ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/s$/, ''],
  [/es$/, ''],
  [/ies$/, 'y'],
  [/d$/, ''],
  [/ed$/, ''],
  [/ied$/, 'y'],
  [/ing$/, ''],
  [/ing$/, 'e'],
  [/(.)\1(ed|ing)$/, '$1'],
  [/ly$/, ''],
];

/** True for a listed word, and for one that is a listed word with an ending: `locks`, `locked`, `locking`. */
export function isListed(word: string, list: ReadonlySet<string>): boolean {
  return (
    list.has(word) ||
    ENDINGS.some(([ending, stem]) => ending.test(word) && list.has(word.replace(ending, stem)))
  );
}
