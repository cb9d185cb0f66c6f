/** How `make test` runs: which files, how many at once, in which order, and what is printed. */
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** CI reads its numbers from a JSON report beside the usual output. */
const json = process.env['VITEST_JSON'];

/** Most tests wait for Postgres, a network or a timer, so that two files a core keep the cores busy: on two cores, one file at a time
 *  takes 17 minutes, four take 7. The tests' Postgres has 200 connections, which is the reason for the limit. */
const WORKERS = Math.min(2 * availableParallelism(), 8);

/** The files that take longest. They start first, so that none of them is left over at the end. */
const LONGEST = [
  'operator/kubernetes/health.kube.test.ts',
  'engine/end-to-end/source-watch.test.ts',
  'engine/end-to-end/named-values-places.test.ts',
  'engine/oracle/reads.test.ts',
  'operator/noninterference.test.ts',
  'engine/oracle/writes.test.ts',
  'engine/end-to-end/fuzz.test.ts',
  'engine/end-to-end/crash.test.ts',
  'engine/http/overload.test.ts',
  'operator/kubernetes/',
  'engine/oracle/',
  'engine/end-to-end/planted-secrets.test.ts',
  'bin/',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = LONGEST.findIndex((start) => relative(this.ctx.config.root, moduleId).startsWith(start));
      return found < 0 ? LONGEST.length : found;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

/** Files that share a worker's modules with others, because loading the engine takes longer than most of their tests do: measured on 72
 *  files, a quarter less CPU. */
const SHARED = ['engine/*/**/*.test.ts', 'operator/**/*.test.ts'];
/** Files that replace modules, change the environment of the process, start programs, or count what the process has cached. */
const APART = [
  'engine/{oracle,bench}/**',
  'engine/http/pg-dump.test.ts',
  'engine/execute/plan-cache.test.ts',
  'engine/end-to-end/{access-*,async-action,cli-conversations,database-tls,explain-access*,fuzz}.test.ts',
  'engine/end-to-end/{crash,migrations-killed,planted-secrets,remote-peers}.test.ts',
  // These measure time, and a worker that has run other files has more garbage to collect.
  'engine/end-to-end/{named-values-places,remote-sizes,source-watch,large-bodies}.test.ts',
  'operator/**/*.kube.test.ts',
  'operator/text-pool.test.ts',
  'operator/{golden/golden,folder/artifacts}.test.ts',
  'operator/end-to-end/{noninterference,review}.test.ts',
];
const ALL = [
  '*.test.ts',
  '.ci/*.test.ts',
  '{engine,operator,console,crds,deploy,docs,testing,bin}/**/*.test.ts',
];

/** Packages bring tests of their own. */
const MODULES = '**/node_modules/**';
const shared = globSync(SHARED, { exclude: [...APART, MODULES] });

export default defineConfig({
  test: {
    globalSetup: ['testing/setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    reporters: ['./testing/reporter.ts', ...(json ? ['json'] : [])],
    ...(json ? { outputFile: { json } } : {}),
    projects: [
      {
        extends: true,
        test: { name: 'shared', isolate: false, include: shared },
      },
      {
        extends: true,
        test: {
          name: 'apart',
          include: ALL,
          exclude: [...shared, MODULES],
        },
      },
    ],
  },
});
