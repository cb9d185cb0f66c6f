import { defineConfig } from 'vitest/config';

/** CI reads its numbers from a JSON report beside the usual output. */
const json = process.env['VITEST_JSON'];

export default defineConfig({
  test: {
    include: ['*.test.ts', '{engine,operator,crds,deploy,docs,testing,bin}/**/*.test.ts'],
    globalSetup: ['testing/setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    reporters: ['./testing/reporter.ts', ...(json ? ['json'] : [])],
    ...(json ? { outputFile: { json } } : {}),
  },
});
