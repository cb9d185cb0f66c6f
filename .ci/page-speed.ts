/** Measures every page of the console in a browser, on a music shop, a huge model and a thousand tables: bytes, first paint, longest task
 *  (console/speed.test.ts). Needs a Chromium. In: --only, the name of one of them. Out: a table, --out a file for
 *  docs/SPEED.md, in which the figures of other models stay; exit 1 when a limit is exceeded. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { PageFigures } from '../console/testing/page-figures.ts';
import { type Recorded, writeRecord } from './record.ts';

/** The figures of each page by the title of the page and the name of the model. */
export type FiguresOfPages = Readonly<Record<string, Readonly<Record<string, PageFigures>>>>;

const { values: options } = parseArgs({ options: { out: { type: 'string' }, only: { type: 'string' } } });
const folder = mkdtempSync(join(tmpdir(), 'pergola-page-speed-'));
try {
  const file = join(folder, 'figures');
  const { status } = spawnSync(
    'vitest',
    [...['run', 'console/speed.test.ts', '--maxWorkers=1'], ...(options.only ? ['-t', options.only] : [])],
    {
      stdio: 'inherit',
      env: { ...process.env, PERGOLA_FIGURES: file, PERGOLA_TEST_DATA: '' },
    },
  );
  const before = options.only && options.out ? recordedIn(options.out) : {};
  const figures = figuresIn(readFileSync(file, 'utf8'), before);
  console.table(figures);
  if (options.out) writeRecord<FiguresOfPages>(options.out, figures);
  process.exitCode = status === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function recordedIn(file: string): FiguresOfPages {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Recorded<FiguresOfPages>).figures : {};
}

function figuresIn(text: string, before: FiguresOfPages): FiguresOfPages {
  const pages: Record<string, Record<string, PageFigures>> = Object.fromEntries(
    Object.entries(before).map(([title, figures]) => [title, { ...figures }]),
  );
  for (const line of text.trim().split('\n')) {
    const { world, title, figures } = JSON.parse(line);
    pages[title] = { ...pages[title], [world]: figures };
  }
  return pages;
}
