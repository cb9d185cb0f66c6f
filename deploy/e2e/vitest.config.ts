/** The end-to-end tests apart from the others: they need a cluster (deploy/e2e/run). */
import { basename } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** From what everything stands on to what leaves a cluster shaken. */
const STORIES = ['install', 'kinds', 'health', 'tenants', 'upgrade', 'argocd', 'chaos', 'scale'];

class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => STORIES.indexOf(basename(moduleId, '.e2e.ts'));
    return files.toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    // What Argo CD's program says of a health is asked where that is, too.
    include: ['deploy/e2e/**/*.e2e.ts', 'deploy/argocd/health.test.ts'],
    // One story after the other: they share the cluster. Each step has limits of its own.
    fileParallelism: false,
    sequence: { sequencer: InOrder },
    testTimeout: 900_000,
    hookTimeout: 900_000,
    // A step that failed leaves nothing for the next to stand on.
    bail: 1,
    ...(process.env['VITEST_JSON']
      ? { reporters: ['default', 'json'], outputFile: { json: process.env['VITEST_JSON'] } }
      : {}),
  },
});
