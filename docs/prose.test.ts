/** Checks the prose of all documents: length of sentences, words that the house does not use, doubled words, spelling. CHANGELOG.md is checked down to
 *  the last release. words.txt has the known words: UPDATE_GOLDEN=1 (`make golden`) adds those that documents use and removes the others, so review its diff. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isListed, proseBlocks, sentencesOf, wordCount, wordsOf } from './prose.ts';

const ROOT = join(import.meta.dirname, '..');
const WORDS = join(import.meta.dirname, 'words.txt');
const MOST_WORDS = 40;

/** Words that need decoding, and what to write. */
const FORBIDDEN: readonly (readonly [RegExp, string])[] = [
  [/\bask(s|ed|ing)?\b/i, 'request, call, query'],
  [/\b(tell|tells|telling|told)\b/i, 'notify, report, send, return'],
  [/\b(hears?|heard) of\b/i, 'receive, observe'],
  [/\bwhoever\b/i, 'the role: client, administrator, operator, user'],
  [/\bheirs?\b/i, 'inherited roles'],
  [/\boutward\b/i, 'outbound'],
  [/\bunderstood\b/i, 'parsed, planned'],
  [/\bnobody's\b/i, 'no'],
  [/\blies idle\b/i, 'is not used'],
  [/\bguard bites\b/i, 'the limit or policy refuses'],
  [/\bis alone in it\b/i, 'is the only one'],
];

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && !file.includes('golden/') && existsSync(join(ROOT, file)));
const blocks = files.flatMap((file) => proseBlocks(textOf(file)).map((block) => ({ file, ...block })));

/** Returns the text that is checked. What a release says stays as it is. */
function textOf(file: string): string {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return file === 'CHANGELOG.md'
    ? text
        .split(/^(?=## )/m)
        .slice(0, 2)
        .join('')
    : text;
}

/** Returns what is wrong in each block, with its position. */
function problems(problemsIn: (text: string) => readonly string[]): readonly string[] {
  return blocks.flatMap(({ file, line, text }) =>
    problemsIn(text).map((problem) => `${file}:${line}: ${problem}`),
  );
}

const longSentences = (text: string) =>
  sentencesOf(text)
    .filter((sentence) => wordCount(sentence) > MOST_WORDS)
    .map((sentence) => `${wordCount(sentence)} words: ${sentence}`);
const forbiddenWords = (text: string) =>
  FORBIDDEN.flatMap(([words, instead]) => {
    const found = words.exec(text);
    return found ? [`"${found[0]}"; write ${instead}`] : [];
  });
const doubledWords = (text: string) =>
  [...text.matchAll(/(?<![\p{L}-])(\p{L}+) \1(?![\p{L}-])/giu)].map(([doubled]) => `"${doubled}"`);

test(`a sentence has at most ${MOST_WORDS} words`, () => {
  expect(problems(longSentences)).toEqual([]);
});

test('words are those of the field', () => {
  expect(problems(forbiddenWords)).toEqual([]);
});

test('no word is doubled', () => {
  expect(problems(doubledWords)).toEqual([]);
});

test('each word is known', () => {
  const used = [...new Set(blocks.flatMap(({ text }) => wordsOf(text)))];
  if (process.env['UPDATE_GOLDEN']) writeFileSync(WORDS, `${stems(used).join('\n')}\n`);
  const known = new Set(readFileSync(WORDS, 'utf8').trimEnd().split('\n'));
  const unknown = problems((text) => wordsOf(text).filter((word) => !isListed(word, known)));
  expect(unknown).toEqual([]);
});

/** Returns the words without those that are others with an ending. */
function stems(words: readonly string[]): readonly string[] {
  const list = new Set<string>();
  for (const word of words.toSorted((a, b) => a.length - b.length)) if (!isListed(word, list)) list.add(word);
  return [...list].toSorted();
}

test('documents call Hasura by its name', () => {
  const found = blocks.filter(
    ({ file, text }) => /^(docs\/(?!adr\/)|README)/.test(file) && /reference engine/i.test(text),
  );
  expect(found).toEqual([]);
});

test.each([
  ['a long sentence', `One ${'word '.repeat(40)}. And another.`, longSentences],
  ['a forbidden word', 'The engine is asked.', forbiddenWords],
  ['a doubled word', 'It is the the engine.', doubledWords],
])('%s is found', (_, text, find) => {
  expect(proseBlocks(text).flatMap((block) => find(block.text))).toHaveLength(1);
  expect(proseBlocks('```\n' + text + '\n```').flatMap((block) => find(block.text))).toEqual([]);
});

test('an unknown word is found in a paragraph, a list, a heading and a table, and not in code', () => {
  const text =
    '# Recieve\n\n- a recieved `recieve`\n  https://recieve\n\n| a | recieves |\n|---|---|\n| [x](recieve.md) | b |\n';
  const found = proseBlocks(text).flatMap((block) =>
    wordsOf(block.text).filter((word) => word.startsWith('rec')),
  );
  expect(found).toEqual(['recieve', 'recieved', 'recieves']);
  expect(isListed('recieve', new Set(['receive']))).toBe(false);
  const list = new Set(['lock', 'drop', 'serve', 'policy']);
  for (const word of ['locks', 'locked', 'dropping', 'serving', 'served', 'policies']) {
    expect([word, isListed(word, list)]).toEqual([word, true]);
  }
});
