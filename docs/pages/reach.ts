/** Prints the table of the security guide that says who may make the operator and the engine reach what, from REACH. The rest of the guide
 *  stays as it is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REACH } from '../../operator/grants/reach.ts';

const GUIDE = join(import.meta.dirname, '../guides/security.md');
const [BEGIN, END] = ['<!-- generated: reach -->', '<!-- end of generated -->'];

/** Returns the guide with the table between its two comments. */
export function securityGuide(): string {
  const guide = readFileSync(GUIDE, 'utf8');
  const [start, end] = [guide.indexOf(BEGIN), guide.indexOf(END)];
  if (start < 0 || end < start) throw new Error('docs/guides/security.md has no place for the table');
  return `${guide.slice(0, start + BEGIN.length)}\n\n${table()}\n\n${guide.slice(end)}`;
}

function table(): string {
  const rows = REACH.map(({ fields, reaches, another, home, tests }) =>
    [fields.map(code).join(', '), reaches, another, home, tests.map(code).join(', ')].join(' | '),
  );
  return [
    '| field | what it reaches | from another namespace | in the namespace of the Engine | test |',
    '|---|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}
