/** Creates a Git repository for Argo CD: a folder on this machine with the charts, the examples and deploy/argocd, changed by commits.
 *  The repository, server, namespace and image of the examples are replaced by those of the test.
 *  Not here: the tests of Argo CD (argocd.e2e.ts). */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class Repository {
  readonly folder = mkdtempSync(join(tmpdir(), 'pergola-e2e-'));

  /** `replaced` maps texts of the examples to texts of the test. `parts` are the folders that the repository has at first. */
  constructor(
    replaced: Readonly<Record<string, string>>,
    parts: readonly string[] = ['charts', 'deploy/argocd', 'deploy/examples'],
  ) {
    for (const part of parts) {
      cpSync(part, join(this.folder, part), { recursive: true });
    }
    for (const file of globSync('deploy/argocd/**/*.yaml', { cwd: this.folder })) {
      this.write(file, (text) =>
        Object.entries(replaced).reduce((rest, [from, to]) => rest.replaceAll(from, to), text),
      );
    }
    this.#git('init', '--quiet', '--initial-branch=main');
    this.commit('everything');
  }

  get url(): string {
    return `file://${this.folder}`;
  }

  write(file: string, change: (text: string) => string): void {
    const path = join(this.folder, file);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  }

  add(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text);
  }

  remove(file: string): void {
    rmSync(join(this.folder, file));
  }

  commit(message: string): void {
    this.#git('add', '--all');
    this.#git(
      '-c',
      'user.name=e2e',
      '-c',
      'user.email=e2e@example.org',
      'commit',
      '--quiet',
      '--allow-empty',
      '-m',
      message,
    );
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #git(...args: readonly string[]): void {
    execFileSync('git', args, { cwd: this.folder, stdio: 'inherit' });
  }
}
