/** Lists the documents of the site. In: the repository. Out: each document with its text, its title and its address, in order.
 *  Not here: how a document becomes a page (rendering.ts), and which links the navigation has (navigation.ts). */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type SiteDocument = {
  /** The path in the repository: `docs/guides/limits.md`. */
  readonly source: string;
  /** The path on the site: `guides/limits.html`. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
};

export const ROOT = join(import.meta.dirname, '../..');
const DOCUMENTS = /^(README|SECURITY|CONTRIBUTING|CHANGELOG|(docs|charts)\/.*)\.md$/;

/** Names of pages that the path of the file does not give. */
const PATHS: Readonly<Record<string, string>> = {
  'README.md': 'index.html',
  'docs/README.md': 'questions.html',
};

/** Returns the documents of the site. Files that Git ignores are left out. */
export function siteDocuments(): readonly SiteDocument[] {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
    cwd: ROOT,
    encoding: 'utf8',
  }).split('\n');
  return files
    .filter((file) => DOCUMENTS.test(file) && existsSync(join(ROOT, file)))
    .map((source) => {
      const text = readFileSync(join(ROOT, source), 'utf8');
      return { source, path: PATHS[source] ?? pathOf(source), title: titleOf(text), text };
    });
}

function pathOf(source: string): string {
  return source
    .replace(/^docs\//, '')
    .replace(/README\.md$/, 'index.md')
    .replace(/\.md$/, '.html')
    .toLowerCase();
}

function titleOf(text: string): string {
  return (/^# (.+)$/m.exec(text)?.[1] ?? '').replaceAll('`', '');
}

/** Returns the path of the Markdown of a page. */
export function markdownPath({ path }: SiteDocument): string {
  return path.replace(/\.html$/, '.md');
}
