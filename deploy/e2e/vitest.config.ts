/** Configures the end-to-end tests, which are separate because they need a cluster (deploy/e2e/run). */
import { basename } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The order of the stories: first what all others require, last what disturbs the cluster. */
const STORIES = [
  'image',
  'install',
  'first-api',
  'kinds',
  'health',
  'tenants',
  'upgrade',
  'up-upgrade',
  'argocd',
  'argocd-upgrade',
  'chaos',
  'mass-deletion',
  'scale',
];

class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => STORIES.indexOf(basename(moduleId, '.e2e.ts'));
    return files.toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    // health.test.ts runs here as well, because it needs Argo CD's program.
    include: ['deploy/e2e/**/*.e2e.ts', 'deploy/argocd/health.test.ts'],
    // Stories run one after the other because they share the cluster. Each step has its own limits.
    fileParallelism: false,
    sequence: { sequencer: InOrder },
    testTimeout: 900_000,
    hookTimeout: 900_000,
    setupFiles: ['deploy/e2e/story.ts'],
    // One story that fails may be a moment of the machine, and is repeated alone (.ci/stages.ts). Two are a reason to stop.
    bail: 2,
    ...(process.env['VITEST_JSON']
      ? { reporters: ['default', 'json'], outputFile: { json: process.env['VITEST_JSON'] } }
      : {}),
  },
});
