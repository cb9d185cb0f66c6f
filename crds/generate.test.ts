/** What is committed is what the tables make, and what every definition must hold to. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { KINDS, type KindRow } from '@pergola/operator/kinds';
import { expect, test } from 'vitest';
import { CHARTS, definition, generatedFiles } from './generate.ts';

const ROOT = dirname(import.meta.dirname);
const FOLDERS = ['crds/generated', ...CHARTS.map((chart) => `charts/${chart}/files/crds`)];
/** `kubectl apply` keeps the object in an annotation, and annotations end at 262,144 bytes. Half of it leaves room to grow. */
const MOST_BYTES = 130_000;

/** Once: it takes a while. */
const generated = generatedFiles();

test('the committed definitions are current: otherwise npm run generate', () => {
  for (const [file, content] of generated) {
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    expect(readFileSync(join(ROOT, file), 'utf8'), file).toBe(content);
  }
});

test('there is no definition of a kind that is gone', () => {
  const committed = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
  );
  expect(committed.filter((file) => !generated.has(file))).toEqual([]);
});

test('each is small enough for kubectl apply', () => {
  for (const [file, content] of generated) expect(content.length, file).toBeLessThan(MOST_BYTES);
});

test.each(KINDS.map((row: KindRow) => [row.kind, row] as const))(
  '%s has no default in its spec and one in its status',
  (_, row) => {
    const { spec, status } = schemasOf(row);
    expect(JSON.stringify(spec)).not.toContain('"default":');
    expect(status.default).toEqual({ observedGeneration: -1 });
  },
);

test('the charts keep definitions when their release goes', () => {
  const copies = [...generated].filter(([file]) => file.startsWith('charts/'));
  expect(copies.length).toBe(KINDS.length * CHARTS.length);
  for (const [, content] of copies) expect(content).toContain('helm.sh/resource-policy: keep');
});

test('plural names, short names and kinds are each one of a kind', () => {
  const names = KINDS.flatMap((row: KindRow) => [row.kind, row.plural, ...row.shortNames]);
  expect(new Set(names).size).toBe(names.length);
});

function schemasOf(row: KindRow): { spec: object; status: { default?: object } } {
  const { versions } = definition(row).spec as {
    versions: { schema: { openAPIV3Schema: { properties: { spec: object; status: object } } } }[];
  };
  return versions[0]!.schema.openAPIV3Schema.properties;
}
