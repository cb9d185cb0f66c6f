/** Tests `pergola explain` on every field of every kind. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { FlagProblem } from '../operator/folder/flag-problem.ts';
import { KINDS, type KindRow } from '../operator/kinds.ts';
import { explained, type FieldSchema, propertiesOf, schemaOf } from './explain.ts';

type Found = { readonly path: readonly string[]; readonly schema: FieldSchema };

function fieldsOf(schema: FieldSchema, path: readonly string[] = []): readonly Found[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, field]) => {
    const here = { path: [...path, name], schema: field };
    return [here, ...fieldsOf(field, here.path)];
  });
}

test.each(KINDS.map((row: KindRow) => [row.kind, row] as const))(
  'every field of %s is explained with its description, and --recursive lists all',
  (kind, row) => {
    const fields = fieldsOf(schemaOf(row));
    const all = explained(kind, true).split('FIELDS:\n')[1]!.split('\n').filter(Boolean);
    expect(all.map((line) => line.trim().split(' ')[0])).toEqual(fields.map(({ path }) => path.at(-1)));
    expect(all.map((line) => /^ */.exec(line)![0].length)).toEqual(fields.map(({ path }) => 2 * path.length));
    for (const { path, schema } of fields) {
      const text = explained(`${kind}.${path.join('.')}`, false);
      expect(text).toContain(`FIELD: ${path.join('.')} <`);
      if (schema.description !== undefined) expect(text).toContain(schema.description.split('\n')[0]);
      for (const name of Object.keys(propertiesOf(schema)))
        expect(text).toMatch(new RegExp(`^  ${name}  <`, 'm'));
    }
    if (fields.some(({ path }) => path[0] === 'spec' && path.length > 1)) {
      const [, field] = fields.find(({ path }) => path[0] === 'spec' && path.length > 1)!.path;
      expect(explained(`${row.plural}.${field}`, false)).toBe(explained(`${kind}.spec.${field}`, false));
    }
  },
);

test('unknown kinds and fields are named with the nearest one', () => {
  expect(() => explained('Tabel', false)).toThrow(
    new FlagProblem('there is no kind Tabel; did you mean Table?'),
  );
  expect(() => explained('table.spec.permisions', false)).toThrow(
    new FlagProblem('Table.spec has no field permisions; did you mean permissions?'),
  );
});

test('the command prints a field with its type, and the kinds without an argument', () => {
  const run = (...args: string[]) =>
    execFileSync(process.execPath, ['bin/pergola.mjs', 'explain', ...args], { encoding: 'utf8' });
  expect(run('table.spec.permissions.role')).toContain('FIELD: spec.permissions.role <string> -required-');
  for (const { kind } of KINDS) expect(run()).toMatch(new RegExp(`^${kind} +\\S`, 'm'));
});
