/** Builds the site from the documents: a page and a Markdown file for each, the index of the search, and llms.txt. The files work on any host
 *  that serves a folder. `npm run site` runs it.
 *  In: --out FOLDER (dist/site), --repository URL (the files of this version on the forge).
 *  Not here: serving (serve.ts), which is for a look at the site; the site with all versions (publish.ts). */
import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import MiniSearch from 'minisearch';
import project from '../../package.json' with { type: 'json' };
import { markdownPath, ROOT, type SiteDocument, siteDocuments } from './documents.ts';
import { pageHtml } from './layout.ts';
import { type NavigationGroup, navigationOf } from './navigation.ts';
import { INDEX } from './page/words.js';
import { markdownOf, type Rendered, render } from './rendering.ts';

export type SiteOptions = {
  readonly repository?: string | undefined;
  readonly version?: string;
  readonly isVersioned?: boolean;
};

export const BUILT = join(ROOT, 'dist/site');
const PAGE = join(import.meta.dirname, 'page');

export function buildSite(
  folder: string,
  { repository, version = project.version, isVersioned = false }: SiteOptions = {},
): void {
  rmSync(folder, { recursive: true, force: true });
  const documents = siteDocuments();
  const navigation = navigationOf(documents);
  const targets = { documents: new Map(documents.map((one) => [one.source, one])), repository };
  const layout = { navigation, version, isVersioned, repository };
  const pages = documents.map((document) => ({ document, rendered: render(document, targets) }));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const { document, rendered } of pages) {
    write(document.path, pageHtml(document, rendered, layout));
    write(markdownPath(document), markdownOf(document, targets));
    for (const file of rendered.files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      copyFileSync(join(ROOT, file), join(folder, file));
    }
  }
  write('search.json', JSON.stringify(searchIndex(pages)));
  write('llms.txt', listOfPages(navigation));
  cpSync(PAGE, join(folder, 'page'), { recursive: true });
  const minisearch = createRequire(import.meta.url).resolve('minisearch');
  copyFileSync(join(dirname(minisearch), '../es/index.js'), join(folder, 'page/minisearch.js'));
}

type SitePage = { readonly document: SiteDocument; readonly rendered: Rendered };

/** Returns the index of the sections of all pages. */
function searchIndex(pages: readonly SitePage[]): MiniSearch {
  const index = new MiniSearch(INDEX);
  for (const { document, rendered } of pages) {
    for (const { anchor, level, text, body } of rendered.sections) {
      const url = level === 1 ? document.path : `${document.path}#${anchor}`;
      index.add({ id: index.documentCount, url, heading: text, title: document.title, body });
    }
  }
  return index;
}

/** Returns llms.txt: the list of all pages as Markdown, for programs. Reference: llmstxt.org. */
function listOfPages(navigation: readonly NavigationGroup[]): string {
  const groups = navigation.map(({ title, documents }) => {
    const links = documents.map((one) => `- [${one.title}](${markdownPath(one)})`);
    return `## ${title || 'Begin here'}\n\n${links.join('\n')}`;
  });
  return `# Pergola\n\n> ${project.description}\n\n${groups.join('\n\n')}\n`;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { out: { type: 'string' }, repository: { type: 'string' } } });
  buildSite(values.out ?? BUILT, { repository: values.repository });
}
