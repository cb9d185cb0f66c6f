/** Tests which schemas written files name: the flag, the addresses for a file, and which older lines are replaced. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { KINDS } from '../kinds.ts';
import { withSchemaLines } from '../yaml/schema-line.ts';
import { readTexts } from './read-folder.ts';
import { schemaBaseOf, schemaLineOf, schemasOfFile } from './schemas.ts';

const SITE = 'https://docs.example/pergola/0.4.0/schemas';
const TABLE = 'pergola.dev/table_v1alpha1.json';

const root = mkdtempSync(join(tmpdir(), 'pergola-schemas-'));
const folder = join(root, 'schemas');
mkdirSync(join(folder, 'pergola.dev'), { recursive: true });
afterAll(() => rmSync(root, { recursive: true }));

const line = (given: string, file: string) => schemaLineOf(schemaBaseOf(given), 'Table', file);

test('a clone and --schemas none name no schema', () => {
  expect(schemaBaseOf(undefined)).toBeUndefined();
  expect(schemaBaseOf('none')).toBeUndefined();
  expect(schemaLineOf(undefined, 'Table', 'a.yaml')).toBe('');
});

test('a URL is followed by the file of the kind', () => {
  expect(line(`${SITE}/`, 'a/b.yaml')).toBe(`# yaml-language-server: $schema=${SITE}/${TABLE}\n`);
  const files = KINDS.map(({ kind }) => schemaLineOf(schemaBaseOf(SITE), kind, 'a.yaml'));
  expect(new Set(files).size).toBe(KINDS.length);
});

test('a folder is named from the folder of the file, and an absolute path as it is', () => {
  const before = process.cwd();
  process.chdir(root);
  try {
    expect(line('schemas', 'resources/tables/a.yaml')).toContain(`$schema=../../schemas/${TABLE}\n`);
    expect(line('./schemas/', '-')).toContain(`$schema=./schemas/${TABLE}\n`);
  } finally {
    process.chdir(before);
  }
  expect(line(folder, 'a.yaml')).toContain(`$schema=${folder}/${TABLE}\n`);
  mkdirSync(join(root, 'my schemas/pergola.dev'), { recursive: true });
  expect(line(join(root, 'my schemas'), 'a.yaml')).toContain(
    `$schema=file://${root}/my%20schemas/${TABLE}\n`,
  );
});

test.each(['', 'non', 'public', 'https://a b', 'docs.example'])('--schemas %j is refused', (given) => {
  expect(() => schemaBaseOf(given)).toThrow(
    /^--schemas .* is neither a URL nor a folder with pergola\.dev\//,
  );
});

test('a line with our schema of another version is replaced, and with the flag one of any base', () => {
  const packaged = schemasOfFile({ base: SITE, isGiven: false }, 'a.yaml');
  const given = schemasOfFile({ base: SITE, isGiven: true }, 'a.yaml');
  const isReplaced = (address: string) => [packaged.isReplaced(address), given.isReplaced(address)];
  const older = SITE.replace('0.4.0', '0.3.0-rc.1');
  expect(isReplaced(`${older}/${TABLE}`)).toEqual([true, true]);
  expect(isReplaced(`${SITE}/pergola.dev/source_v1alpha1.json`)).toEqual([true, true]);
  expect(isReplaced(`https://catalog.example/main/${TABLE}`)).toEqual([false, true]);
  expect(isReplaced('https://catalog.example/main/apps/deployment_v1.json')).toEqual([false, false]);
  expect(isReplaced(`${SITE}/my-own.json`)).toEqual([false, false]);
});

test('resources with lines are read as those without, and their positions are those of the content', () => {
  const text =
    'apiVersion: pergola.dev/v1alpha1\nkind: Table\nmetadata: { name: a }\nspec:\n  table: a\n---\n' +
    'apiVersion: v1\nkind: Secret\nmetadata: { name: s }\nstringData: { a: b }\n---\n' +
    'apiVersion: pergola.dev/v1alpha1\nkind: InheritedRole\nmetadata: { name: r }\nspec:\n  roles: [b]\n';
  const named = withSchemaLines(text, schemasOfFile({ base: SITE, isGiven: true }, 'a.yaml'));
  expect(named.match(/\$schema=.*/g)).toEqual([
    `$schema=${SITE}/${TABLE}`,
    `$schema=${SITE}/pergola.dev/inheritedrole_v1alpha1.json`,
  ]);
  const read = (one: string) => {
    const { manifests, secrets, problems } = readTexts([{ name: 'a.yaml', text: one }]);
    return {
      problems,
      secrets,
      resources: manifests.map(({ kind, name, spec }) => ({ kind, name, spec })),
      positions: manifests.map(({ position }) => position),
    };
  };
  expect(read(named)).toEqual({ ...read(text), positions: ['a.yaml:2', 'a.yaml:14'] });
});
