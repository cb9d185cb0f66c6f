/** Reads the commands of a guide and runs them, with the namespace of a test, in a folder that has the packaged charts and nothing else of this
 *  repository.
 *  Not here: commands that only have to exist (docs/commands.test.ts). */
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { CHARTS } from '../../crds/generate.ts';
import { blocksOf } from '../../operator/testing/guide.ts';
import { run } from './cluster.ts';

/** A reader of a guide: a folder with the charts as a release publishes them, unpacked in `charts`. */
export class Reader {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pergola-reader-'));
  readonly #namespace: string;

  constructor(namespace: string) {
    this.#namespace = namespace;
    const charts = join(this.#folder, 'charts');
    mkdirSync(charts);
    for (const chart of CHARTS) {
      execFileSync('helm', ['package', join('charts', chart), '--destination', this.#folder], {
        stdio: 'pipe',
      });
    }
    for (const packed of globSync(join(this.#folder, '*.tgz'))) {
      execFileSync('tar', ['-xzf', packed, '-C', charts]);
      rmSync(packed);
    }
  }

  /** Writes a file that the guide shows. */
  write(file: string, text: string): void {
    const path = join(this.#folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** Runs shell commands whose namespace is `api`. Returns what they print. Commands in the background end with the last one. */
  run(commands: string): Promise<string> {
    const pergola = `pergola() { ${process.execPath} ${resolve('bin/pergola.mjs')} "$@"; }`;
    const prelude = `set -euo pipefail; cd ${this.#folder}; ${pergola}; trap 'jobs -p | xargs -r kill' EXIT\n`;
    const named = commands.replaceAll(/ (-n|create namespace) api\b/g, ` $1 ${this.#namespace}`);
    return run('bash', ['-c', prelude + named]);
  }

  dispose(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Returns the shell blocks of a guide, or of one section, which ends at the next heading of its level. */
export function commandsOf(file: string, heading?: string): readonly string[] {
  const text = readFileSync(`docs/guides/${file}`, 'utf8');
  const section =
    heading === undefined ? text : (text.split(`\n## ${heading}\n`)[1] ?? '').split(/^## /m)[0]!;
  return blocksOf(section)
    .filter(({ language }) => language === 'sh')
    .map((block) => block.text);
}
