/** Prints the table of the security guide that says who may make the operator and the engine reach what, from REACH. The rest of the guide
 *  stays as it is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REACH } from '../../operator/grants/reach.ts';
import { between } from './between.ts';
import { code, table } from './markdown.ts';

const GUIDE = join(import.meta.dirname, '../guides/security.md');

/** Returns the guide with the table between its two comments. */
export function securityGuide(): string {
  const rows = REACH.map(({ fields, reaches, another, home, tests }) => [
    fields.map(code).join(', '),
    reaches,
    another,
    home,
    tests.map(code).join(', '),
  ]);
  const head = [
    'field',
    'what it reaches',
    'from another namespace',
    'in the namespace of the Engine',
    'test',
  ];
  return between(readFileSync(GUIDE, 'utf8'), 'reach', table(head, rows));
}
