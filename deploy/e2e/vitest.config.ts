/** The end-to-end test apart from the others: it needs a cluster (deploy/e2e/run). */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['deploy/e2e/**/*.e2e.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    ...(process.env['VITEST_JSON']
      ? { reporters: ['default', 'json'], outputFile: { json: process.env['VITEST_JSON'] } }
      : {}),
  },
});
