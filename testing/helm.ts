/** Renders charts with helm: `describeHelm` gives tests a function from values to objects. It looks for helm on PATH and in
 *  KUBEBUILDER_ASSETS. Without helm the tests are skipped, with the reason in their name; with CI=true they fail.
 *  Not here: a cluster (kube.ts). */
import { type ExecFileException, execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { loadAll } from 'js-yaml';
import { describe, expect, test } from 'vitest';

// biome-ignore lint/suspicious/noExplicitAny: any object of a chart; the test knows its type
export type Rendered = any;

export type Helm = {
  /** The path of helm. */
  readonly program: string;
  /** Returns the objects of the chart with these values, as release `pergola` in namespace `api`; rejects with helm's error.
   *  The same values are rendered once. */
  readonly template: (values?: object, chart?: string) => Promise<readonly Rendered[]>;
  readonly run: (args: readonly string[], input?: string) => Promise<string>;
};

const CHARTS = join(dirname(import.meta.dirname), 'charts');

export function describeHelm(name: string, body: (helm: Helm) => void): void {
  const program = findProgram('helm');
  if (program !== undefined) {
    describe(name, () => body(helmAt(program)));
    return;
  }
  const reason = 'helm is neither on PATH nor in KUBEBUILDER_ASSETS';
  if (process.env['CI'] === 'true') test(`${name}: needs helm`, () => expect.fail(reason));
  else test.skip(`${name} (${reason})`);
}

/** Returns the only object of a kind, or the one with that name among several. */
export function find(objects: readonly Rendered[], kind: string, name?: string): Rendered {
  return objects.find((x) => x.kind === kind && (name === undefined || x.metadata.name === name));
}

/** Returns the path of a program on PATH or in KUBEBUILDER_ASSETS. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), process.env['KUBEBUILDER_ASSETS'] ?? ''];
  return folders
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

function helmAt(program: string): Helm {
  const run: Helm['run'] = async (args, input = '') => {
    const running = promisify(execFile)(program, args, { maxBuffer: 64 * 1024 * 1024 });
    running.child.stdin?.end(input);
    try {
      return (await running).stdout;
    } catch (error) {
      throw new Error((error as ExecFileException).stderr ?? String(error));
    }
  };
  const rendered = new Map<string, Promise<string>>();
  return {
    program,
    run,
    template: async (values = {}, chart = 'pergola') => {
      const args = ['template', 'pergola', join(CHARTS, chart), '--namespace', 'api', '--values', '-'];
      const key = JSON.stringify([chart, values]);
      const text = rendered.get(key) ?? run(args, JSON.stringify(values));
      rendered.set(key, text);
      return loadAll(await text).filter((object) => object !== null && object !== undefined);
    },
  };
}
