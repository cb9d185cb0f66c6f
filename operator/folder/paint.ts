/** Colours of text for a terminal. Not here: what is printed in which colour. */
import { styleText } from 'node:util';

/** The key of the text that stands for ESC where the output makes control characters visible (bin/visible-output.mjs). */
const ESCAPE = Symbol.for('pergola.escape');

/** Returns the text with the colour, or as it is if the standard output is no terminal or colours are switched off. */
export function paint(format: Parameters<typeof styleText>[0], text: string): string {
  const mark = escapeMark();
  // The text between the marks stays as it is: its own control characters are made visible.
  const [before = '', after = ''] = styleText(format, '|', { stream: process.stdout }).split('|');
  return before.replaceAll('\u001b', mark) + text + after.replaceAll('\u001b', mark);
}

/** Returns what moves a terminal back to the beginning of its line, and empties the line. */
export function emptyLine(): string {
  const mark = escapeMark();
  return `${mark}[1G${mark}[K`;
}

function escapeMark(): string {
  return (globalThis as { readonly [ESCAPE]?: string })[ESCAPE] ?? '\u001b';
}
