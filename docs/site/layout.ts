/** The page around a document: header with search and versions, navigation, headings, content. In: the parts. Out: HTML. Pure.
 *  All addresses of the site are relative, so that it works in any folder of any host. Not here: style, search and what the menu of versions does (page/). */
import { markdownPath, type SiteDocument } from './documents.ts';
import type { NavigationGroup } from './navigation.ts';
import { pathFrom, type Rendered } from './rendering.ts';

export type Layout = {
  readonly navigation: readonly NavigationGroup[];
  /** The version of the documents. */
  readonly version: string;
  /** True when the folder beside others has a list of the versions above it (publish.ts). */
  readonly isVersioned: boolean;
  /** The address of the files of the repository on the forge. */
  readonly repository: string | undefined;
};

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'";

export function pageHtml(document: SiteDocument, rendered: Rendered, layout: Layout): string {
  const to = (path: string) => escaped(pathFrom(document.path, path));
  const title = document.title === 'Pergola' ? 'Pergola' : `${document.title} · Pergola`;
  return `<!doctype html>
<html lang="en" data-root="${to('.') || '.'}">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="${to('page/style.css')}">
<link rel="alternate" type="text/markdown" href="${to(markdownPath(document))}">
<link rel="icon" href="${to('page/icon.svg')}">
<script type="module" src="${to('page/search.js')}"></script>${
    layout.isVersioned ? `\n<script type="module" src="${to('page/versions.js')}"></script>` : ''
  }
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="name" href="${to('index.html')}">Pergola</a>
<span class="version" data-path="${escaped(document.path)}">${escaped(layout.version)}</span>
<search><input type="search" aria-label="Search" placeholder="Search" autocomplete="off"><div class="results" role="status"></div></search>
</header>
<div class="columns">
<details class="navigation" open><summary>Contents</summary>
<nav aria-label="Documents">
${layout.navigation.map((group) => groupHtml(document, group)).join('\n')}
</nav></details>
<main id="content" tabindex="-1">
${rendered.html}
<p class="source"><a href="${to(markdownPath(document))}">This page as Markdown</a>${sourceHtml(document, layout)}</p>
</main>
${headingsHtml(rendered)}
</div>
</body>
</html>
`;
}

/** Returns the link to the file of the page on the forge, where a reader proposes a change. */
function sourceHtml({ source }: SiteDocument, { repository }: Layout): string {
  if (repository === undefined) return '';
  return ` · <a href="${escaped(`${repository}/${source}`)}">Source of this page</a>`;
}

function groupHtml(document: SiteDocument, { title, documents }: NavigationGroup): string {
  if (documents.length === 0) return '';
  const links = documents.map((one) => {
    const current = one === document ? ' aria-current="page"' : '';
    return `<li><a href="${escaped(pathFrom(document.path, one.path))}"${current}>${escaped(one.title)}</a></li>`;
  });
  const list = `<ul>${links.join('')}</ul>`;
  if (title === '') return list;
  const isOpen = documents.includes(document) || documents.every(({ source }) => source.includes('/guides/'));
  return `<details${isOpen ? ' open' : ''}><summary>${escaped(title)}</summary>${list}</details>`;
}

function headingsHtml({ sections }: Rendered): string {
  const headings = sections.filter(({ level }) => level === 2);
  if (headings.length < 2 || headings.length > 30) return '';
  const links = headings.map(({ anchor, text }) => `<li><a href="#${anchor}">${escaped(text)}</a></li>`);
  return `<nav class="headings" aria-label="On this page"><ul>${links.join('')}</ul></nav>`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
