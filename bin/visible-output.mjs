/** Makes control characters visible in what a command prints: names of a database, a cluster or a file may hold sequences that change the
 *  title, the colours or the text of a terminal. ESC becomes `\u001b`. Line breaks and tabs stay, and so do the colours of `paint`.
 *  Plain JavaScript, like the file that uses it. Not here: which text has a colour (operator/folder/paint.ts). */
import { randomUUID } from 'node:crypto';

/** The key of the text that stands for ESC in colours, which `paint` reads. It is another one in each process, so that no name has it. */
const ESCAPE = Symbol.for('pergola.escape');

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find.
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)/g;

/** Filters both outputs of the process from now on. */
export function makeOutputVisible() {
  const mark = `<${randomUUID()}>`;
  globalThis[ESCAPE] = mark;
  for (const output of [process.stdout, process.stderr]) {
    const write = output.write.bind(output);
    output.write = (chunk, ...rest) => {
      return write(typeof chunk === 'string' ? visible(chunk).replaceAll(mark, '\u001b') : chunk, ...rest);
    };
  }
}

function visible(text) {
  return text.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
