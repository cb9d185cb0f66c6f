/** Finds the least memory with which an engine of 10 roles answers the administrator's introspection of generated tables, in steps of a container's usual
 *  limits. Out: a line for each step; --out FILE writes the figures (docs/speed/sizing.json), of which the table of docs/guides/production.md is made.
 *  In: the right to create control groups, without which nothing is measured. Not here: time (size.ts). */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundle } from '../bin/bundle.ts';
import { FOLDER } from '../bin/bundled.mjs';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { introspected } from './large-schema.ts';
import { writeRecord } from './record.ts';

const { values: options } = parseArgs({
  options: { tables: { type: 'string', default: '500,1000,2000,4000' }, out: { type: 'string' } },
});
/** Limits in MiB. */
const STEPS = [256, 384, 512, 768, 1024, 1536, 2048, 3072];

const folder = mkdtempSync(join(tmpdir(), 'pergola-sizing-'));
chmodSync(folder, 0o711);
// As in the image.
await bundle(FOLDER);
const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
const figures: Record<string, number> = {};
try {
  // More tables never fit into less.
  let at = 0;
  for (const tables of options.tables.split(',').map(Number)) {
    for (; at < STEPS.length; at++) {
      const { outcomes, peakMb } = await introspected(postgres.url, tables, STEPS[at]! * 2 ** 20);
      console.log(`${tables} tables, ${STEPS[at]} MiB: ${[...outcomes].join(', ')}, ${peakMb} MiB at most`);
      if (outcomes.size === 1 && outcomes.has('answered')) break;
    }
    if (at === STEPS.length) throw new Error(`${tables} tables do not fit into ${STEPS.at(-1)} MiB`);
    figures[tables] = STEPS[at]!;
  }
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
if (options.out) writeRecord(options.out, figures);
