/** The READMEs of the charts, which catalogues of charts show: what a chart installs, how, and every value. Not here: the values (deploy/chart/values.ts). */
import { KINDS } from '../../operator/kinds.ts';
import { valuesTable } from './chart.ts';
import { code, table } from './markdown.ts';

const GENERATED = '<!-- Generated from deploy/chart/values.ts by `make generate`; edits are lost. -->';

/** Returns the README of the chart `pergola`. */
export function chartReadme(): string {
  return `${GENERATED}
# Pergola

A governed GraphQL API over your Postgres, declared as Kubernetes custom resources. The chart installs the engine, which serves the API, the operator,
which reconciles resources into it, and the definitions of ${KINDS.length} kinds.

\`\`\`sh
kubectl create namespace api
kubectl -n api create secret generic pergola-database --from-literal=url=postgres://user:password@host:5432/database
kubectl -n api create secret generic pergola-admin --from-literal=admin-secret="$(openssl rand -hex 24)"
helm install pergola charts/pergola -n api --set image.repository=registry.example.org/pergola --wait
helm test pergola -n api
\`\`\`

\`helm get notes pergola -n api\` prints the commands that declare an Engine and serve a first table. For a trial without a database, set
\`postgres.enabled=true\`. The guide: \`docs/guides/installing.md\` of the repository.

Definitions are upgraded with the release and kept when it is uninstalled; the chart \`pergola-crds\` installs them apart (\`crds.enabled=false\`).

## Values

Unknown values are refused before anything is installed, including unknown options of the programs.

${valuesTable()}
`;
}

/** Returns the README of the chart \`pergola-crds\`. */
export function definitionsReadme(): string {
  return `${GENERATED}
# The definitions of Pergola

The custom resource definitions alone, for those who install them apart from the release, with \`crds.enabled=false\` in the chart \`pergola\`. There are no
values. They are kept when the release is uninstalled: deleting a definition deletes its resources.

\`\`\`sh
helm upgrade --install pergola-crds charts/pergola-crds
\`\`\`

${table(
  ['Kind', 'Scope', 'What it declares'],
  KINDS.map(({ kind, scope, description }) => [
    code(kind),
    scope,
    description.split('. ')[0]!.replace(/\.?$/, '.'),
  ]),
)}
`;
}
