/** The links beside each page. In: the list of questions (docs/README.md) and the documents. Out: groups of documents: the guides in the order in
 *  which the questions lead to them, then the reference and what else there is. Pure. */
import { join } from 'node:path';
import type { SiteDocument } from './documents.ts';

export type NavigationGroup = { readonly title: string; readonly documents: readonly SiteDocument[] };

/** Groups by the beginning of a path, for documents that no question leads to. */
const OTHERS: readonly (readonly [string, RegExp])[] = [
  ['Reference', /^docs\/(reference\/[^/]+\.md|SPEED|GLOSSARY)|^charts\//],
  ['Kinds', /^docs\/reference\/kinds\//],
  ['On the wire', /^docs\/reference\/behaviour\//],
  ['Project', /^(docs\/(ARCHITECTURE|security\/)|[A-Z]+\.md$)/],
  ['Decisions', /^docs\/adr\//],
];

export function navigationOf(documents: readonly SiteDocument[]): readonly NavigationGroup[] {
  const left = new Map(documents.map((document) => [document.source, document]));
  const take = (source: string): readonly SiteDocument[] => {
    const document = left.get(source);
    left.delete(source);
    return document ? [document] : [];
  };
  const first = { title: '', documents: [...take('README.md'), ...take('docs/README.md')] };
  const questions = documents.find(({ source }) => source === 'docs/README.md')?.text ?? '';
  const guides = questions
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const links = [...section.matchAll(/\]\((guides\/[^)#]+)/g)].map(([, link]) => join('docs', link!));
      return { title: section.split('\n')[0]!, documents: links.flatMap(take) };
    });
  const others = OTHERS.map(([title, pattern]) => ({
    title,
    documents: [...left.keys()].filter((source) => pattern.test(source)).flatMap(take),
  }));
  return [first, ...guides, ...others];
}
