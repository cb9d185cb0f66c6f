/** Renders a document. In: its Markdown. Out: HTML, the headings, and the sections with their plain text for the search. Links between documents
 *  lead to pages; links to other files of the repository lead to the forge if its address is given, and are text otherwise.
 *  Pure. Not here: what surrounds the content (layout.ts). */
import { dirname, join, relative } from 'node:path';
import markdownIt from 'markdown-it';
import { anchors } from './anchors.ts';
import { markdownPath, type SiteDocument } from './documents.ts';

export type Heading = { readonly level: number; readonly anchor: string; readonly text: string };
export type Section = Heading & { readonly body: string };
export type Rendered = {
  readonly html: string;
  readonly sections: readonly Section[];
  /** Files of the repository that the page shows, such as images. */
  readonly files: readonly string[];
};

/** Says what the addresses in a document become. */
export type Targets = {
  readonly documents: ReadonlyMap<string, SiteDocument>;
  /** The address of the files of the repository on the forge, with the version, without the last slash. */
  readonly repository: string | undefined;
};

type Markdown = ReturnType<typeof markdownIt>;
type Tokens = ReturnType<Markdown['parse']>;
type Token = Tokens[number];

const markdown = markdownIt({ linkify: false, html: false });
// A wide table or a long line moves in its own frame, which the keyboard reaches.
markdown.renderer.rules['table_open'] = () => '<div class="wide" tabindex="0"><table>\n';
markdown.renderer.rules['table_close'] = () => '</table></div>\n';
const fence = markdown.renderer.rules['fence']!;
markdown.renderer.rules['fence'] = (...args) => fence(...args).replace(/^<pre/, '<pre tabindex="0"');

export function render(document: SiteDocument, targets: Targets): Rendered {
  const tokens = markdown.parse(document.text.replaceAll('<br>', ' · '), {});
  const files: string[] = [];
  const sections = setAnchors(tokens);
  for (const token of tokens) {
    for (const child of token.children ?? []) setAddress(child, document, targets, files);
  }
  return { html: markdown.renderer.render(tokens, markdown.options, {}), sections, files };
}

/** Returns the Markdown of a document with links to the Markdown of others, as they are beside it. Code is as it was. */
export function markdownOf(document: SiteDocument, { documents, repository }: Targets): string {
  const own = markdownPath(document);
  const linked = (text: string) =>
    text.replace(/\]\(([^)\s]+)\)/g, (link, address: string) => {
      if (/^([a-z]+:|#)/.test(address)) return link;
      const [path = '', anchor] = decodeURI(address).split('#');
      const file = join(dirname(document.source), path).replace(/\/$/, '');
      const target = documents.get(file);
      if (target) return `](${pathFrom(own, markdownPath(target), anchor)})`;
      if (/\.(png|svg)$/.test(file)) return `](${pathFrom(own, file)})`;
      return repository === undefined ? link : `](${repository}/${file})`;
    });
  return document.text
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part, i) => (i % 2 === 0 ? linked(part) : part))
    .join('');
}

/** Gives headings their anchors. Returns the sections that they begin. */
function setAnchors(tokens: Tokens): readonly Section[] {
  const anchorOf = anchors();
  const sections: { level: number; anchor: string; text: string; body: string }[] = [];
  for (const [i, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const { content } = tokens[i + 1]!;
      const anchor = anchorOf(content);
      token.attrSet('id', anchor);
      sections.push({ level: Number(token.tag.slice(1)), anchor, text: textOf(tokens[i + 1]!), body: '' });
    }
    const isHeading = tokens[i - 1]?.type === 'heading_open';
    const last = sections.at(-1);
    if (last && !isHeading && (token.type === 'inline' || token.type === 'fence'))
      last.body += `${textOf(token)}\n`;
  }
  return sections;
}

function textOf({ children, content }: Token): string {
  if (children === null) return content;
  return children
    .map((child) => (child.type === 'softbreak' ? ' ' : child.type === 'image' ? '' : child.content))
    .join('');
}

function setAddress(
  token: Token,
  document: SiteDocument,
  { documents, repository }: Targets,
  files: string[],
): void {
  const name = token.type === 'image' ? 'src' : 'href';
  const address = token.attrGet(name);
  if (typeof address !== 'string' || /^[a-z]+:/.test(address) || address.startsWith('#')) return;
  const [path = '', anchor] = decodeURI(address).split('#');
  const file = join(dirname(document.source), path).replace(/\/$/, '');
  const target = documents.get(file);
  if (target) token.attrSet(name, pathFrom(document.path, target.path, anchor));
  else if (token.type === 'image') {
    files.push(file);
    token.attrSet(name, pathFrom(document.path, file));
  } else if (repository !== undefined) token.attrSet(name, `${repository}/${file}`);
  else {
    // The page has no file to lead to. The name of the file still says where it is.
    token.attrs = [];
    token.attrSet('title', file);
  }
}

/** Returns the address of one page in another. */
export function pathFrom(from: string, to: string, anchor?: string): string {
  const path = relative(dirname(from), to);
  return anchor === undefined ? path : `${path}#${anchor}`;
}
