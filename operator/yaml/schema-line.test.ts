/** Tests the lines that name the schemas of documents: where they are added, which are replaced, and that nothing else of a text changes. */
import { YAML_SCHEMA } from '@pergola/engine/metadata';
import { loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { withSchemaLines } from './schema-line.ts';

const OLD = '# yaml-language-server: $schema=old/a.json\n';
const OTHER = '# yaml-language-server: $schema=other.json\n';
const [A, B] = ['a', 'b'].map((kind) => `# yaml-language-server: $schema=new/${kind}.json\n`) as [
  string,
  string,
];

function lines(text: string): string {
  return withSchemaLines(text, {
    schemaOf: (document) => {
      const kind = (document as { readonly kind?: string } | null)?.kind;
      return kind && `new/${kind}.json`;
    },
    isReplaced: (address) => address.startsWith('old/'),
  });
}

test.each<readonly [string, string, string]>([
  ['a document', 'kind: a\n', `${A}kind: a\n`],
  ['comments above stay below the line', '# one\n\nkind: a # two\n', `${A}# one\n\nkind: a # two\n`],
  [
    'a document after its marker',
    '# one\n--- # two\n# three\nkind: a\n',
    `# one\n--- # two\n${A}# three\nkind: a\n`,
  ],
  ['a document in the line of its marker', '--- {kind: a}\n', `---\n${A} {kind: a}\n`],
  ['directives', '%YAML 1.2\n---\nkind: a\n', `%YAML 1.2\n---\n${A}kind: a\n`],
  ['the end of a document', 'kind: a\n...\n---\nkind: b\n', `${A}kind: a\n...\n---\n${B}kind: b\n`],
  [
    'one for each document that has a schema',
    'kind: a\n---\nname: c\n---\n# nothing\n---\nkind: b\n',
    `${A}kind: a\n---\nname: c\n---\n# nothing\n---\n${B}kind: b\n`,
  ],
  [
    'a document after one with long values',
    `kind: a\ntext: long\n---\nname: c\n---\nkind: b\n---\n${OTHER}kind: a\n`,
    `${A}kind: a\ntext: long\n---\nname: c\n---\n${B}kind: b\n---\n${OTHER}kind: a\n`,
  ],
  ['a line that is there', `# one\n${A}kind: a\n`, `# one\n${A}kind: a\n`],
  ['a line above the first marker', `${A}---\nkind: a\n`, `${A}---\nkind: a\n`],
  ['an older line', `# one\n${OLD}# two\nkind: a\n`, `# one\n${A}# two\nkind: a\n`],
  [
    'an older line of the second document',
    `kind: a\n---\n${OLD}kind: b\n`,
    `${A}kind: a\n---\n${B}kind: b\n`,
  ],
  ['another schema', `${OTHER}kind: a\n`, `${OTHER}kind: a\n`],
  ['another schema below the values', `kind: a\n${OTHER}`, `kind: a\n${OTHER}`],
  ['a text that contains such a line', `kind: a\ntext: |\n  ${OLD}`, `kind: a\ntext: |\n  ${OLD}`],
  ['ends of lines of Windows', '# one\r\nkind: a\r\n', `${A.trim()}\r\n# one\r\nkind: a\r\n`],
  ['a byte order mark', '\uFEFFkind: a\n', `\uFEFF${A}kind: a\n`],
  ['an anchor', '--- &x\nkind: a\n', `--- &x\n${A}kind: a\n`],
  ['a text without documents', '# nothing\n', '# nothing\n'],
])('%s', (_, text, expected) => {
  expect(lines(text)).toBe(expected);
  expect(lines(expected)).toBe(expected);
  const load = (one: string) => loadAll(one, { schema: YAML_SCHEMA });
  expect(load(expected)).toEqual(load(text));
});
