/** The shell blocks that docs/shell.test.ts and docs/shell.kube.test.ts do not run, each with the reason.
 *  Not here: the blocks that run (shell-worlds.ts, cluster-worlds.ts). */

export type NotRun = {
  readonly document: string;
  /** The beginning of the block. One block of the document has it. */
  readonly begins: string;
} & (
  | { readonly reason: 'another test runs it'; readonly test: string }
  | { readonly reason: 'another document has the same text'; readonly as: string }
  | { readonly reason: (typeof REASONS)[number] }
);

/** The reasons why no test can run a block. */
export const REASONS = [
  'needs pods that run',
  'builds an image with Docker',
  'asks a registry in the internet',
  'needs a published release',
  'needs a pg_dump that is as new as the server',
] as const;

const elsewhere = (test: string, document: string, ...blocks: readonly string[]): readonly NotRun[] =>
  blocks.map((begins) => ({ document, begins, reason: 'another test runs it', test }));
const because = (reason: (typeof REASONS)[number], document: string, ...blocks: readonly string[]) =>
  blocks.map((begins): NotRun => ({ document, begins, reason }));
const alike = (as: string, document: string, ...blocks: readonly string[]) =>
  blocks.map((begins): NotRun => ({ document, begins, reason: 'another document has the same text', as }));

const DRAFTS = 'bin/init/golden';

export const NOT_RUN: readonly NotRun[] = [
  ...elsewhere('bin/package.test.ts', 'README.md', 'npx ./pergola-'),
  ...['league', 'styles', 'tracker'].flatMap((name) =>
    alike(
      `${DRAFTS}/shop/resources/README.md`,
      `${DRAFTS}/${name}/resources/README.md`,
      'pergola up .',
      'pergola validate',
    ),
  ),
  ...because('needs pods that run', 'docs/guides/console.md', 'kubectl -n api port-forward'),
  ...elsewhere('docs/first-api.test.ts', 'docs/guides/first-api.md', 'pergola up notes', 'curl -s'),
  ...elsewhere(
    'deploy/e2e/first-api.e2e.ts',
    'docs/guides/first-api.md',
    'docker build',
    'kubectl -n api apply',
    'kubectl -n argocd patch',
  ),
  ...elsewhere(
    'docs/tutorial.test.ts',
    'docs/guides/first-product.md',
    'pergola up tracker',
    'pergola test -f tracker',
    'cp -r tracker branch',
    'pergola test -f branch',
    'export ENGINE_GRAPHQL_ADMIN_SECRET',
  ),
  ...elsewhere('deploy/e2e/install.e2e.ts', 'docs/guides/installing.md', 'IMAGE=', 'kubectl delete pergola'),
  ...because('needs a published release', 'docs/guides/installing.md', 'helm install pergola "oci://'),
  ...elsewhere('docs/backup.test.ts', 'docs/guides/installing.md', 'pg_dump', 'pg_restore'),
  ...because('asks a registry in the internet', 'docs/guides/migrations.md', 'flux push'),
  ...because('needs pods that run', 'docs/guides/operating.md', 'kubectl -n api logs'),
  ...elsewhere('deploy/e2e/previous.test.ts', 'docs/guides/releasing.md', 'node deploy/release/previous.ts'),
  ...elsewhere(
    'deploy/release/publish.test.ts',
    'docs/guides/releasing.md',
    'node deploy/release/artifacts.ts',
    'node deploy/release/publish.ts',
  ),
  ...because(
    'needs a pg_dump that is as new as the server',
    'docs/guides/testing-permissions.md',
    'pg_dump --schema-only',
    'mkdir -p migrations',
  ),
  ...because('asks a registry in the internet', 'docs/guides/releasing.md', 'docker buildx imagetools'),
  ...because(
    'builds an image with Docker',
    'docs/guides/releasing.md',
    'docker buildx build -f deploy/Dockerfile --build-context',
    'docker buildx build -f deploy/Dockerfile --platform',
  ),
  ...because(
    'needs a published release',
    'docs/guides/releasing.md',
    'cosign verify-blob',
    'cosign verify "',
  ),
  ...elsewhere('docs/signing-in.test.ts', 'docs/guides/signing-in.md', 'node -p'),
  ...elsewhere('deploy/e2e/up-upgrade.e2e.ts', 'docs/guides/upgrading.md', 'cp -a .pergola', 'git checkout'),
  ...elsewhere(
    'deploy/e2e/upgrade.e2e.ts',
    'docs/guides/upgrading.md',
    'kubectl annotate',
    'kubectl get',
    'helm upgrade',
    'kubectl replace',
    'kubectl -n api patch',
    'kubectl -n api scale',
    'kubectl -n api get',
    'kubectl -n api delete',
    'jq',
  ),
];
