/** Reads the commands of the shell blocks of a document. In: a Markdown file. Out: commands as words, with their lines.
 *  Not here: executing them. Quotes, comments, continued lines, pipes and `&&` are read; other syntax of the shell stays in the words. */
import { readFileSync } from 'node:fs';
import { blocksOf } from './guide.ts';

export type ShellCommand = {
  /** The line of the document in which the command begins. */
  readonly line: number;
  readonly words: readonly string[];
};

const LANGUAGES: readonly string[] = ['sh', 'bash', 'shell', 'console'];

/** One part of a command line: quoted text, a comment, an operator, white space, or other text. */
const PARTS =
  /'[^']*'|"(?:[^"\\]|\\.)*"|(?<=^|\s)#[^\n]*|\\\n|&&|\|\|?|;|\d?>>?\s*\S+|<\s*\S+|\n|[^\S\n]+|[^\s'"&|;<>]+|./gs;

export function shellCommands(file: string): readonly ShellCommand[] {
  return blocksOf(readFileSync(file, 'utf8'))
    .filter(({ language }) => LANGUAGES.includes(language))
    .flatMap(({ line, text }) => commandsIn(text).map((one) => ({ ...one, line: line + one.line })));
}

/** Returns the commands of a text, with lines from 1. */
export function commandsIn(text: string): readonly ShellCommand[] {
  const commands: ShellCommand[] = [];
  let [words, word, line, start]: [string[], string | undefined, number, number] = [[], undefined, 1, 1];
  const endWord = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = () => {
    endWord();
    if (words.length > 0) commands.push({ line: start, words });
    words = [];
  };
  for (const [part] of text.matchAll(PARTS)) {
    if (/^(\n|&&|\|\|?|;)$/.test(part)) endCommand();
    else if (/^(\s|\\\n|#|\d?>|<)/.test(part)) endWord();
    else {
      if (words.length === 0 && word === undefined) start = line;
      word = (word ?? '') + (/^['"]/.test(part) && part.length > 1 ? part.slice(1, -1) : part);
    }
    line += part.split('\n').length - 1;
  }
  endCommand();
  return commands;
}
