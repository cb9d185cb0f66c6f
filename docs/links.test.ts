/** Tests that every relative link of the documents leads to a file, and its anchor to a heading there, with the anchors that forges give to headings. Each guide
 *  is found from the list of questions. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { anchorOf, anchors } from './site/anchors.ts';

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

function anchorsOf(file: string): ReadonlySet<string> {
  const headings = [...proseOf(file).matchAll(/^#+ +(.+?) *$/gm)];
  const anchor = anchors();
  return new Set(headings.map(([, heading = '']) => anchor(heading)));
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

/** Words of questions, and the text that leads to the answer: the heading of the section that the first link of the row names. */
const QUESTIONS: Readonly<Record<string, string>> = {
  Keycloak: 'Signing in with an identity provider',
  Auth0: 'Signing in with an identity provider',
  computed: 'Computed fields',
  browser: 'From a browser',
  'a query slow': 'When a query is slow',
  'restore it, with the key': 'Backup, and when something is lost',
  'which order do I upgrade': 'Upgrading, going back, starting again',
  'several databases?': 'Several databases',
  RLS: 'Permissions',
  'row level security': 'Permissions',
  'delete softly': 'Soft delete',
  'multi-tenant': "One tenant does not see another's rows",
  'N+1': 'Is there an N+1 problem?',
  'view as': 'View as another role',
  Hasura: 'Coming from Hasura',
};

test.each(Object.entries(QUESTIONS))('the question with "%s" leads to "%s"', (words, heading) => {
  const rows = proseOf('docs/README.md')
    .split('\n')
    .filter((line) => line.startsWith('|') && line.split('|')[1]!.includes(words));
  const targets = rows.map((row) => /\]\(([^)#]+)(?:#([^)]+))?\)/.exec(row.split('|')[2]!));
  const headings = targets.map((target) => {
    const [, path = '', anchor] = target ?? [];
    const lines = proseOf(join('docs', path)).match(/^#+ .*$/gm) ?? [];
    const found =
      anchor === undefined ? lines[0] : lines.find((line) => anchorOf(line.replace(/^#+ /, '')) === anchor);
    return found?.replace(/^#+ /, '');
  });
  expect(headings).toContain(heading);
});

test('a search finds the words that people use', () => {
  const guides = readdirSync(join(ROOT, 'docs/guides')).map((guide) => proseOf(`docs/guides/${guide}`));
  const text = guides.join('\n').toLowerCase();
  const words = [
    'rls',
    'row level security',
    'view as',
    'soft delete',
    'multi-tenant',
    'n+1',
    'impersonate',
    'backup',
  ];
  expect(words.filter((word) => !text.includes(word))).toEqual([]);
});
