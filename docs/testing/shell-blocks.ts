/** Reads the shell blocks of the documents, with what a document shows after each. In: the Markdown files of the repository. Out: blocks with their
 *  place. Not here: what a block needs (shell-worlds.ts, cluster-worlds.ts), running it (shell.ts). */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const CLONE = join(import.meta.dirname, '../..');

export type ShellBlock = {
  readonly document: string;
  /** The line of the document that opens the block, from 1. */
  readonly line: number;
  readonly text: string;
  /** The text of the next fenced block of the document, of any language. */
  readonly shown: string;
};

type Fenced = { readonly line: number; readonly language: string; readonly text: string };

const DOCUMENT = /^(README|CONTRIBUTING|SECURITY|(docs|deploy|charts|bin)\/.*)\.md$/;
const SHELLS: readonly string[] = ['sh', 'bash', 'shell', 'console'];

/** Returns the shell blocks of all documents. */
export function shellBlocks(): readonly ShellBlock[] {
  const tracked = ['ls-files', '-co', '--exclude-standard', '*.md'];
  return execFileSync('git', tracked, { cwd: CLONE, encoding: 'utf8' })
    .split('\n')
    .filter((file) => DOCUMENT.test(file))
    .flatMap(blocksOf);
}

function blocksOf(document: string): readonly ShellBlock[] {
  const fenced = fencedBlocks(document);
  return fenced.flatMap(({ line, language, text }, i) =>
    SHELLS.includes(language) ? [{ document, line, text, shown: fenced[i + 1]?.text ?? '' }] : [],
  );
}

/** Returns the fenced blocks of a document, those in lists without their indentation. A block ends with the fence that opens it. */
export function fencedBlocks(document: string): readonly Fenced[] {
  const lines = readFileSync(join(CLONE, document), 'utf8').split('\n');
  const blocks: Fenced[] = [];
  for (let i = 0; i < lines.length; i++) {
    const [, indent, fence, language] = /^(\s*)(```+|~~~+)(\w*)/.exec(lines[i]!) ?? [];
    if (indent === undefined) continue;
    const end = lines.findIndex((line, at) => at > i && line.trim() === fence);
    const text = lines.slice(i + 1, end).map((line) => line.replace(indent, ''));
    blocks.push({ line: i + 1, language: language!, text: text.join('\n') });
    i = end;
  }
  return blocks;
}
