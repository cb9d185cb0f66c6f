/** Writes the generated files of the chart and for Argo CD (`npm run generate`); generate.test.ts compares them with the committed ones.
 *  Not here: definitions of kinds (crds/generate.ts), docs/reference/chart.md and the READMEs of the charts (docs/pages). */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { argocdConfig } from '../argocd/customization.ts';
import { dashboard } from './dashboard.ts';
import { valuesSchema, valuesWhenNull, valuesYaml } from './print.ts';
import { VALUES } from './values.ts';

const ROOT = dirname(dirname(import.meta.dirname));

/** Returns the generated files: path from the repository's root → content. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['charts/pergola/values.yaml', valuesYaml(VALUES)],
    ['charts/pergola/values.schema.json', valuesSchema(VALUES)],
    ['charts/pergola/files/when-null.yaml', valuesWhenNull(VALUES)],
    ['charts/pergola/files/dashboard.json', dashboard()],
    ['deploy/argocd/argocd-cm.yaml', argocdConfig()],
  ]);
}

if (import.meta.main) {
  for (const [file, content] of generatedFiles()) writeFileSync(join(ROOT, file), content);
}
