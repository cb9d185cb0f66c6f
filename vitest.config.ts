import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['*.test.ts', '{engine,operator,crds,deploy,docs,testing,bin}/**/*.test.ts'],
    globalSetup: ['testing/setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
  },
});
