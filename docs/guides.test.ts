/** The resources that the documents show: each YAML block with a resource of ours is valid, so that readers can apply what they copy, and by the JSON Schemas of
 *  a release, so that editors and kubeconform accept it. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import { loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { jsonSchemas } from '../crds/json-schemas.ts';
import { problemsOf } from '../operator/kinds/validate.ts';
import { GROUP_VERSION, kindOf, schemaFileOf } from '../operator/kinds.ts';

const ROOT = dirname(import.meta.dirname);

type Manifest = { readonly apiVersion?: string; readonly kind?: string; readonly spec?: object };

const ajv = new Ajv({ strict: false, validateFormats: false });
const schemas = new Map([...jsonSchemas()].map(([file, text]) => [file, JSON.parse(text) as object]));

const shown = documents().flatMap((file) =>
  blocksOf(readFileSync(file, 'utf8')).flatMap(({ text, line }) =>
    (loadAll(text) as readonly (Manifest | undefined)[])
      .filter((manifest) => manifest?.apiVersion === GROUP_VERSION)
      .map((manifest) => [`${file.slice(ROOT.length + 1)}:${line}`, manifest!] as const),
  ),
);

test.each(shown)('%s shows a valid resource', (_, manifest) => {
  const { kind = '', spec } = manifest;
  const row = kindOf(kind);
  expect(row, kind).toBeDefined();
  expect(problemsOf(row!, spec)).toEqual([]);
  const isValid = ajv.compile(schemas.get(schemaFileOf(kind))!);
  expect([isValid(manifest), isValid.errors]).toEqual([true, null]);
});

test('the guides show resources', () => {
  expect(shown.length).toBeGreaterThan(5);
});

/** Returns README and its like, the guides, and the pages of the behaviour of the engine and of its security. */
function documents(): readonly string[] {
  return ['.', 'docs', 'docs/guides', 'docs/reference/behaviour', 'docs/security'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(ROOT, folder, name)),
  );
}

/** Returns the YAML blocks that name our API group, with the line they begin at. */
function blocksOf(text: string): readonly { readonly text: string; readonly line: number }[] {
  return [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)]
    .filter(([, block = '']) => block.includes(GROUP_VERSION))
    .map((match) => ({ text: match[1] ?? '', line: text.slice(0, match.index).split('\n').length }));
}
