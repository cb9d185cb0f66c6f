/** Generates deploy/argocd/argocd-cm.yaml from the health scripts in this folder. It is a patch, so other settings of Argo CD are kept:
 *  `kubectl -n argocd patch configmap argocd-cm --patch-file argocd-cm.yaml`. Not here: writing it (../chart/generate.ts). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump } from 'js-yaml';

const HEADER = [
  'Generated from deploy/argocd/*.lua by `make generate`.',
  'kubectl -n argocd patch configmap argocd-cm --patch-file argocd-cm.yaml',
  'If resource.customizations is there already, put these two entries into it instead.',
];

const script = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');

export function argocdConfig(): string {
  const customizations = {
    'pergola.dev/*': { 'health.lua': script('health.lua') },
    'argoproj.io/Application': { 'health.lua': script('application-health.lua') },
  };
  const data = { 'resource.customizations': dump(customizations, { lineWidth: -1 }) };
  return `${HEADER.map((line) => `# ${line}\n`).join('')}${dump({ data }, { lineWidth: -1 })}`;
}
