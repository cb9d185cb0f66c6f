/** Tests that the linters that people use accept what is published: actionlint the workflows of the forge, kubeconform the resources of the examples with the
 *  JSON Schemas of a release. Each also finds a planted mistake. Without Go, which builds both, the tests are skipped. */
import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { writeSchemas } from '../../crds/json-schemas.ts';
import { GROUP_VERSION } from '../../operator/kinds.ts';
import { programOf } from '../../testing/kube/go-module.ts';

const ROOT = join(import.meta.dirname, '../..');
const ACTIONLINT = {
  module: 'github.com/rhysd/actionlint@v1.7.7',
  sum: 'h1:0KgkoNTrYY7vmOCs9BW2AHxLvvpoY9nEUzgBHiPUr0k=',
};
const KUBECONFORM = {
  module: 'github.com/yannh/kubeconform@v0.6.7',
  sum: 'h1:kIvjeiMSU0+/GY48+U9GmJZdGmoej4dArYvv3BfvlyA=',
};
const LONG = 600_000;

const folder = mkdtempSync(join(tmpdir(), 'pergola-linters-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Verdict = { readonly isClean: boolean; readonly output: string };

async function lint(program: string, args: readonly string[]): Promise<Verdict> {
  const { stdout, isClean } = await promisify(execFile)(program, args).then(
    ({ stdout }) => ({ stdout, isClean: true }),
    ({ stdout }: { readonly stdout: string }) => ({ stdout, isClean: false }),
  );
  return { isClean, output: stdout };
}

/** Writes a copy of a text in which one place is a mistake. */
function planted(name: string, text: string, from: string, to: string): string {
  expect(text).toContain(from);
  const file = join(folder, name);
  writeFileSync(file, text.replace(from, to));
  return file;
}

test('actionlint accepts the workflows, and finds a context that does not exist', { timeout: LONG }, async ({
  skip,
}) => {
  const actionlint = (await programOf(ACTIONLINT, 'actionlint', folder)) ?? skip('needs Go');
  // What else is installed must not decide.
  const flags = ['-shellcheck=', '-pyflakes='];
  const workflows = globSync('.github/workflows/*.yaml', { cwd: ROOT }).map((file) => join(ROOT, file));
  expect(workflows.length).toBeGreaterThan(1);
  expect(await lint(actionlint, [...flags, ...workflows])).toEqual({ isClean: true, output: '' });
  const text = readFileSync(join(ROOT, '.github/workflows/release.yaml'), 'utf8');
  const wrong = await lint(actionlint, [
    ...flags,
    planted('release.yaml', text, '${{ vars.', '${{ variables.'),
  ]);
  expect(wrong.isClean).toBe(false);
  expect(wrong.output).toContain('undefined variable "variables"');
});

test('kubeconform accepts the resources of the examples, and finds an unknown field', {
  timeout: LONG,
}, async ({ skip }) => {
  const kubeconform = (await programOf(KUBECONFORM, 'kubeconform', folder)) ?? skip('needs Go');
  writeSchemas(folder);
  const flags = [
    '-strict',
    '-summary',
    '-schema-location',
    `${folder}/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json`,
  ];
  const files = globSync('deploy/examples/**/*.yaml', { cwd: ROOT })
    .map((file) => join(ROOT, file))
    .filter((file) => isOurs(readFileSync(file, 'utf8')));
  expect(files.length).toBeGreaterThan(10);
  const verdict = await lint(kubeconform, [...flags, ...files]);
  expect(verdict).toEqual({
    isClean: true,
    output: expect.stringMatching(/Invalid: 0, Errors: 0, Skipped: 0/),
  });
  const table = files.map((file) => readFileSync(file, 'utf8')).find((text) => /^kind: Table$/m.test(text))!;
  const wrong = await lint(kubeconform, [
    ...flags,
    planted('table.yaml', table, 'spec:\n', 'spec:\n  unknown: true\n'),
  ]);
  expect(wrong.isClean).toBe(false);
  expect(wrong.output).toContain("'unknown' not allowed");
});

/** True when each document of a file is a resource of ours; other kinds have schemas elsewhere. */
function isOurs(text: string): boolean {
  const versions = text.match(/^apiVersion: .*$/gm) ?? [];
  return versions.length > 0 && versions.every((line) => line === `apiVersion: ${GROUP_VERSION}`);
}
