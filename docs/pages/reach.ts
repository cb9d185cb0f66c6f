/** Prints the table of the security guide that says who may make the operator and the engine reach what, from REACH. The rest of the guide
 *  stays as it is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REACH } from '../../operator/grants/reach.ts';
import { between } from './between.ts';

const GUIDE = join(import.meta.dirname, '../guides/security.md');

/** Returns the guide with the table between its two comments. */
export function securityGuide(): string {
  return between(readFileSync(GUIDE, 'utf8'), 'reach', table());
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
