/** The form accepts what the kinds accept: every example, and nothing with a required field missing; its YAML is the resource; the edits are
 *  those of the operator; and a problem of an object is shown at its field. */
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { exampleOf } from '../crds/example.ts';
import { issuesOf } from '../operator/kinds/validate.ts';
import { editAt, editsOf, FORMS, fieldOf, resourceText } from './page/resource.js';
import { emptyOf, entered, fieldsIn, problemsIn, shapeOf } from './page/spec-value.js';

type Resource = { readonly kind: string; readonly spec: Record<string, unknown> };

const EXAMPLES = FORMS.flatMap((row) =>
  exampleOf(row.kind)
    .split(/^---$/m)
    .map((text) => load(text) as Resource)
    .filter(({ kind }) => kind === row.kind)
    .map(({ spec }, i) => [`${row.kind} ${i + 1}`, row, spec] as const),
);

describe.each(EXAMPLES)('%s', (_, row, spec) => {
  test('is complete, as entered and as YAML', () => {
    expect([entered(row.spec, spec), problemsIn(row.spec, spec)]).toEqual([spec, []]);
    const text = resourceText({ kind: row.kind, name: 'example', spec });
    expect(load(text)).toEqual({
      apiVersion: 'pergola.dev/v1alpha1',
      kind: row.kind,
      metadata: { name: 'example' },
      spec,
    });
  });

  test('lacks each required field that is left out, as the operator says', () => {
    const { required = [], properties } = row.spec as {
      required?: string[];
      properties: Record<string, object>;
    };
    for (const name of required.filter((each) => shapeOf(properties[each]!) !== 'object')) {
      const { [name]: _left, ...rest } = spec;
      const texts = issuesOf(row, rest).map(({ text }) => text);
      const [found] = problemsIn(row.spec, rest);
      expect([found, texts.some((text) => text.startsWith(found!))]).toEqual([
        `spec.${name} is required`,
        true,
      ]);
    }
  });

  test('every field can be added to it', () => {
    const visit = (schema: object, value: unknown): void => {
      const shape = shapeOf(schema);
      if (shape === 'list')
        visit((schema as { items: object }).items, emptyOf((schema as { items: object }).items));
      if (shape !== 'object') return;
      const { properties } = schema as { properties: Record<string, object> };
      for (const name of [
        ...fieldsIn(schema, value as object).shown,
        ...fieldsIn(schema, value as object).others,
      ]) {
        expect(emptyOf(properties[name]!)).toBeDefined();
        visit(properties[name]!, emptyOf(properties[name]!));
      }
    };
    visit(row.spec, {});
  });
});

const permission = FORMS.find(({ kind }) => kind === 'TablePermission')!;
const spec = { table: 'book', role: 'reader', select: { columns: ['id', 'x'], filter: {} } };

test('the edits are those of the operator, and problems lead back to fields', () => {
  const edits = editsOf(permission, spec);
  expect(edits.map(({ key }) => key)).toEqual(['select_permission/default/public/book/reader']);
  expect(fieldOf(permission, spec, edits[0]!, ['permission', 'columns', 1])).toBe('spec.select.columns[1]');
  expect(editAt('$.args.put[3].definition.permission.columns[1]')).toEqual({
    edit: 3,
    steps: ['permission', 'columns', 1],
  });
  expect(editAt('$.args')).toBeUndefined();
});

test('a value from a Secret has no effect that is known here', () => {
  const action = FORMS.find(({ kind }) => kind === 'Action')!;
  const given = {
    sdl: 'type Query { a: String }',
    handler: { secretKeyRef: { name: 'a', key: 'b' } },
  };
  expect(() => editsOf(action, given)).toThrow('which only the operator reads');
});

test('an empty member is not entered, and an empty list is', () => {
  expect(entered(permission.spec, { table: '', role: 'r', select: { columns: [], filter: {} } })).toEqual({
    role: 'r',
    select: { columns: [], filter: {} },
  });
});
