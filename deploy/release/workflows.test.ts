/** Tests the workflows of the forge: they are YAML with the least rights, run only what exists here, name no host, and miss no stage of
 *  continuous integration that needs nothing beside the clone. Not here: their lint (other-linters.test.ts). */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const FILES = globSync('.github/**/*.{yaml,yml,json,md}', { cwd: ROOT }).toSorted();

type Step = { readonly run?: string; readonly uses?: string };
type Job = {
  readonly steps: readonly Step[];
  readonly needs?: string | readonly string[];
  readonly 'timeout-minutes'?: number;
  readonly strategy?: { readonly matrix: { readonly stage: readonly string[] } };
};
type Workflow = {
  readonly permissions: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
};

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

test.each(FILES)('%s names no host', (file) => {
  const hosts = read(file).match(/\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|io|org|dev|net|cloud|sh)\b/gi) ?? [];
  expect(hosts).toEqual([]);
});

describe.each(globSync('.github/workflows/*.yaml', { cwd: ROOT }))('%s', (file) => {
  const { permissions, jobs } = load(read(file)) as Workflow;
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  test('may only read unless a job says more, and ends', () => {
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });

  test('runs files that exist', () => {
    const named = steps.flatMap(
      ({ run = '' }) => run.match(/(?<![\w./-])(?:\.ci|deploy|docs|bin)\/[\w./-]+/g) ?? [],
    );
    for (const path of named) expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
  });

  test('puts no text of an event into a script', () => {
    for (const { run = '' } of steps) expect(run).not.toMatch(/\$\{\{\s*github\.(?:event|head_ref|ref_name)/);
  });

  test('uses actions of a stated version', () => {
    for (const { uses } of steps) expect(uses ?? 'a@v1').toMatch(/@(?:v\d|[0-9a-f]{40})/);
  });
});

test('continuous integration runs every stage that needs nothing beside the clone', () => {
  const { jobs } = load(read('.github/workflows/ci.yaml')) as Workflow;
  const [, table = ''] = read('.ci/stages.ts').split(/^const ALL.*$/m);
  // From the name of a stage to that of the next one.
  const declared = table
    .split(/^\];/m)[0]!
    .split(/\b(?:name: |script\()(?=')/)
    .slice(1)
    .map((text) => [text, /^'([a-z0-9-]+)'/.exec(text)?.[1]] as const);
  const beside = [
    'e2e',
    'e2e-scale',
    'conformance',
    ...declared.filter(([text]) => /needs: /.test(text)).map(([, name]) => name),
  ];
  const alone = declared.map(([, name]) => name!).filter((name) => !beside.includes(name));
  expect(alone).toContain('speed');
  expect(jobs['stage']?.strategy?.matrix.stage.toSorted()).toEqual(alone.toSorted());
});

test('the package of a release, in the image too, gets the address of the site', () => {
  const { env, jobs } = load(read('.github/workflows/release.yaml')) as Workflow;
  expect(env?.['SITE_URL']).toBe('${{ vars.SITE_URL }}');
  const builds = jobs['image']!.steps.filter(({ run = '' }) => run.includes('docker buildx build'));
  expect(builds.length).toBe(2);
  for (const { run } of builds) expect(run).toContain('--build-arg "SITE_URL=$SITE_URL"');
  expect(read('deploy/Dockerfile')).toMatch(/^ARG SITE_URL=""\nRUN node bin\/package\.ts/m);
});

test('nothing of a release waits for a person', () => {
  const { jobs } = load(read('.github/workflows/release.yaml')) as Workflow;
  for (const job of Object.values(jobs)) expect(job).not.toHaveProperty('environment');
  const scripts = jobs['publish']!.steps.map(({ run = '' }) => run);
  // What it runs is tested in publish.test.ts.
  expect(scripts.at(-1)).toMatch(
    /^node deploy\/release\/publish\.ts release --charts .* --npm .* --tag .* --provenance\n$/,
  );
});

test('a release publishes the documents after everything else, and a trial pushes nothing', () => {
  const { jobs } = load(read('.github/workflows/release.yaml')) as Workflow;
  const { needs, steps } = jobs['site']!;
  expect(needs).toEqual(Object.keys(jobs).filter((job) => job !== 'site'));
  const script = steps.at(-1)!.run!;
  const argumentsOf = (isRelease: boolean) =>
    execFileSync('bash', ['--norc', '-ec', `node() { printf '%s\\n' "$@"; }\n${script}`], {
      encoding: 'utf8',
      env: {
        IS_RELEASE: String(isRelease),
        SITE_BRANCH: 'site',
        GITHUB_SERVER_URL: 'https://forge.example',
        GITHUB_REPOSITORY: 'pergola/pergola',
        GITHUB_SHA: 'c0ffee',
      },
    })
      .trim()
      .split('\n');
  const trial = [
    ...['docs/site/publish.ts', '--branch', 'site'],
    ...['--repository', 'https://forge.example/pergola/pergola/blob/c0ffee'],
  ];
  expect(argumentsOf(false)).toEqual(trial);
  expect(argumentsOf(true)).toEqual(trial.toSpliced(3, 0, '--push'));
});
