/** Tests that every relative link of the documents leads to a file, and its anchor to a heading there, with the anchors that forges give to headings. Each guide
 *  is found from the list of questions. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = dirname(import.meta.dirname);
const FILES = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)) && !file.includes('golden/'));

/** Returns the text of a document without its code, in which brackets mean other things. */
function proseOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
    .replaceAll(/^( *)```[\s\S]*?^ *```$/gm, '')
    .replaceAll(/`[^`\n]*`\((?!.*\))/g, '');
}

/** Returns the anchors of the headings. The second of two equal headings ends in `-1`. */
function anchorsOf(file: string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const anchors = [...proseOf(file).matchAll(/^#+ +(.+?) *$/gm)].map(([, heading = '']) => {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = text.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/g, '-');
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
  return new Set(anchors);
}

test.each(FILES)('%s has no dead link', (file) => {
  const dead = [...proseOf(file).matchAll(/\]\((?!\w+:)([^)\s]*)\)/g)].flatMap(([, link = '']) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? file : join(dirname(file), decodeURIComponent(path));
    if (!existsSync(join(ROOT, target))) return [link];
    return anchor === undefined || !target.endsWith('.md') || anchorsOf(target).has(anchor) ? [] : [link];
  });
  expect(dead).toEqual([]);
});

test('the list of questions leads to every guide', () => {
  const list = proseOf('docs/README.md');
  const guides = readdirSync(join(ROOT, 'docs/guides'));
  expect(guides.filter((guide) => !list.includes(`(guides/${guide}`))).toEqual([]);
});
