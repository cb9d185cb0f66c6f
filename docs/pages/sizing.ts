/** Prints the table of the production guide that says how much memory an engine needs, from the figures of `npm run sizing`. The rest of the guide stays as
 *  it is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recorded } from '../../.ci/record.ts';
import { between } from './between.ts';
import { table } from './markdown.ts';

const GUIDE = join(import.meta.dirname, '../guides/production.md');
const FIGURES = join(import.meta.dirname, '../speed/sizing.json');

/** The share of a limit that is advised above the least one: subscriptions, plans and answers need memory, too. */
const MORE = 1.5;
/** Limits that people write, in MiB. */
const USUAL = [256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144];

export function productionGuide(): string {
  const { figures }: Recorded<Readonly<Record<string, number>>> = JSON.parse(readFileSync(FIGURES, 'utf8'));
  const rows = Object.entries(figures).map(([tables, least]) => [
    Number(tables).toLocaleString('en'),
    quantity(least),
    quantity(advised(least)),
  ]);
  const printed = table(['tables, each with relationships', 'least', 'advised'], rows);
  // It is in an item of a list.
  return between(readFileSync(GUIDE, 'utf8'), 'sizing', printed.replaceAll(/^/gm, '  '));
}

function advised(least: number): number {
  return USUAL.find((limit) => limit >= least * MORE)!;
}

function quantity(mebibytes: number): string {
  return mebibytes % 1024 === 0 ? `${mebibytes / 1024}Gi` : `${mebibytes}Mi`;
}
