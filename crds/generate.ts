/** KINDS → custom resource definitions. `npm run generate` writes crds/generated/<plural>.yaml and the charts' copies, which
 *  differ only in that Helm keeps them when a release goes, and that Argo CD applies them first. generate.test.ts compares
 *  what is committed with what this makes.
 *  Not here: schemas (operator/kinds), their projection (structural.ts), the chart's switch (templates/crds.yaml). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { API_GROUP, API_VERSION, KINDS, type KindRow, STATUS } from '@pergola/operator/kinds';
import { dump } from 'js-yaml';
import { specExampleOf } from './example.ts';
import { structural } from './structural.ts';

export type Definition = {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: object;
};

/** All kinds of ours in one word: `kubectl get pergola`. */
const CATEGORY = 'pergola';

/** `engine` or `object`: the chart derives from it which kinds its role `edit` covers. */
const CONCERNS_LABEL = 'pergola.dev/concerns';

const CHART_ANNOTATIONS = {
  'helm.sh/resource-policy': 'keep',
  'argocd.argoproj.io/sync-wave': '-5',
} as const;

/** The release with its definitions, and the definitions alone. */
export const CHARTS = ['pergola', 'pergola-crds'] as const;

const ROOT = dirname(import.meta.dirname);

/** Path from the repository's root → content, of every file that is derived from KINDS. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['crds/kustomization.yaml', kustomization()],
    ...KINDS.flatMap((row: KindRow): [string, string][] => {
      const made = definition(row);
      const metadata = { ...made.metadata, annotations: CHART_ANNOTATIONS };
      return [
        [`crds/generated/${row.plural}.yaml`, yaml(made)],
        ...CHARTS.map((chart): [string, string] => [
          `charts/${chart}/files/crds/${row.plural}.yaml`,
          yaml({ ...made, metadata }),
        ]),
      ];
    }),
  ]);
}

/** Returns the definitions as a part of kustomizations, which read no file outside of their folder. */
function kustomization(): string {
  return yaml({
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: KINDS.map(({ plural }) => `generated/${plural}.yaml`),
  });
}

export function definition(row: KindRow): Definition {
  const { kind, plural, singular, shortNames } = row;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${API_GROUP}`, labels: { [CONCERNS_LABEL]: row.concerns } },
    spec: {
      group: API_GROUP,
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames, categories: [CATEGORY] },
      scope: row.scope,
      versions: [
        {
          name: API_VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: row.columns,
          ...(row.selectableFields.length > 0
            ? { selectableFields: row.selectableFields.map((jsonPath) => ({ jsonPath })) }
            : {}),
          schema: { openAPIV3Schema: rootSchema(row) },
        },
      ],
    },
  };
}

function rootSchema({ kind, description, spec }: KindRow): object {
  return {
    type: 'object',
    description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: { description: specDescription(kind), ...structural(spec, { path: `${kind}.spec` }) },
      status: {
        description: STATUS_DESCRIPTION,
        ...structural(STATUS, { path: `${kind}.status`, allowsDefault: true }),
      },
    },
  };
}

const STATUS_DESCRIPTION =
  'What the operator found: whether the resource is applied, and why not. Only the operator writes it.';

/** Returns the description of a spec, with an example: `kubectl explain` keeps the lines of indented text. */
function specDescription(kind: string): string {
  const example = specExampleOf(kind).replaceAll(/^(?=.)/gm, '  ');
  return `What the resource declares. For example:\n\n${example}`;
}

function yaml(value: object): string {
  const header = '# Generated from operator/kinds by `npm run generate`; edits are lost.\n';
  return header + dump(value, { noRefs: true, lineWidth: 110 });
}

if (import.meta.main) {
  for (const [file, content] of generatedFiles()) {
    mkdirSync(dirname(join(ROOT, file)), { recursive: true });
    writeFileSync(join(ROOT, file), content);
  }
}
