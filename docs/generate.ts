/** Prints docs/reference from the tables, docs/SPEED.md from measured figures, the READMEs of the charts and the diagrams: one page each, and
 *  one table each of the guides security and production. `npm run generate` writes them, generate.test.ts compares them.
 *  A page is a row of PAGES; kinds have one each. To add one, add a row. Not here: prose (docs/guides), CRDs (crds/generate.ts). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { KINDS, type KindRow } from '../operator/kinds.ts';
import { chartPage } from './pages/chart.ts';
import { chartReadme, definitionsReadme } from './pages/chart-readme.ts';
import { conditionsPage } from './pages/conditions.ts';
import { DIAGRAMS, diagram } from './pages/diagrams.ts';
import { errorsPage } from './pages/errors.ts';
import { fileOf, kindPage, kindsPage } from './pages/kinds.ts';
import { metricsPage } from './pages/metrics.ts';
import { operationsPage } from './pages/operations.ts';
import { optionsPage } from './pages/options.ts';
import { securityGuide } from './pages/reach.ts';
import { productionGuide } from './pages/sizing.ts';
import { speedPage } from './pages/speed.ts';

export type Page = {
  /** The path of the page, relative to docs/reference. */
  readonly file: string;
  readonly content: () => string;
};

export const PAGES: readonly Page[] = [
  { file: 'operations.md', content: operationsPage },
  { file: 'errors.md', content: errorsPage },
  { file: 'options.md', content: optionsPage },
  { file: 'metrics.md', content: metricsPage },
  { file: 'kinds.md', content: kindsPage },
  { file: 'conditions.md', content: conditionsPage },
  { file: 'chart.md', content: chartPage },
  { file: '../../charts/pergola/README.md', content: chartReadme },
  { file: '../../charts/pergola-crds/README.md', content: definitionsReadme },
  { file: '../SPEED.md', content: speedPage },
  { file: '../guides/security.md', content: securityGuide },
  { file: '../guides/production.md', content: productionGuide },
  ...Object.entries(DIAGRAMS).map(([name, drawn]) => ({
    file: `../images/${name}.svg`,
    content: () => diagram(drawn),
  })),
  ...KINDS.map((row: KindRow) => ({ file: fileOf(row.kind), content: () => kindPage(row) })),
];

const REFERENCE = join(import.meta.dirname, 'reference');

export function pathOf(page: Page): string {
  return join(REFERENCE, page.file);
}

if (import.meta.main) {
  for (const page of PAGES) {
    mkdirSync(dirname(pathOf(page)), { recursive: true });
    writeFileSync(pathOf(page), page.content());
  }
}
