/** The form accepts what the kinds accept: every example, and nothing with a required field missing; its YAML is the resource; the edits are
 *  those of the operator; and a problem of an object is shown at its field. */
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { exampleOf } from '../crds/example.ts';
import { issuesOf } from '../operator/kinds/validate.ts';
import { parseWithAllDigits } from './page/digits.js';
import { editAt, editsOf, FORMS, fieldOf, keysNamed, resourceText, specOf } from './page/resource.js';
import { valueIn } from './page/spec-entry.js';
import { missingIn, withoutSecrets } from './page/spec-secrets.js';
import { emptyOf, entered, fieldsIn, problemsIn, shapeOf } from './page/spec-value.js';
import { inWords } from './page/words.js';

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

  test('is found again by the names of its objects, and described by them', () => {
    const objects = objectsOf(row, spec);
    if (objects.length === 0) return;
    const named = keysNamed(row, spec);
    expect(objects.some(({ key }) => named.includes(key))).toBe(true);
    expect(keysNamed(row, {}).every((key) => key === 'api_limits')).toBe(true);
    const described = specOf(row, objects);
    // The types of an Action are described by CustomTypes.
    expect(named).toEqual(expect.arrayContaining([...keysNamed(row, described!)]));
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

/** Returns no object of a spec with a value that only the operator reads. */
function objectsOf(row: (typeof FORMS)[number], given: object) {
  try {
    editsOf(row, given);
  } catch {
    return [];
  }
  const valueFrom = ({ value = '', env }: { readonly value?: string; readonly env?: string }) =>
    env === undefined ? value : { from_env: env };
  return row.translate(given, { valueFrom } as never).map(({ parent, ...object }) => ({
    ...object,
    ...(parent !== null && { parent }),
  }));
}

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

test('a permission is described by all its operations, and named while it has none', () => {
  const whole = { ...spec, comment: 'readers', insert: { check: {}, columns: ['id'] } };
  const described = specOf(permission, objectsOf(permission, whole))!;
  expect(editsOf(permission, described)).toEqual(editsOf(permission, whole));
  expect(keysNamed(permission, { table: 'book', role: 'reader' })).toHaveLength(4);
  expect(keysNamed(permission, { table: 'book' })).toEqual([]);
});

test('secrets, and what was hidden because it may be one, are left out with their paths', () => {
  const presets = (set: object) => ({ ...spec, insert: { check: {}, set } });
  expect(withoutSecrets(permission.spec, presets({ owner: 'a-secret' }))).toEqual({
    kept: { ...spec, insert: { check: {} } },
    left: ['spec.insert.set'],
  });
  const own = { owner: 'X-Engine-User-Id' };
  expect(withoutSecrets(permission.spec, presets({ ...own, kind: '(hidden)', rank: 7 }))).toEqual({
    kept: presets(own),
    left: ['spec.insert.set.kind', 'spec.insert.set.rank'],
  });
  const trigger = FORMS.find(({ kind }) => kind === 'EventTrigger')!;
  const given = (value: string) => ({ name: 'a', headers: [{ name: 'h', value }], webhook: { value } });
  for (const value of ['a-secret', '(hidden)', 'https://host…', 'https://host/token']) {
    const { kept, left } = withoutSecrets(trigger.spec, given(value));
    expect([value, kept, left]).toEqual([
      value,
      { name: 'a', headers: [{ name: 'h' }], webhook: {} },
      ['spec.headers[0].value', 'spec.webhook.value'],
    ]);
  }
  const paths = ['spec.headers[0].value', 'spec.webhook.value'];
  expect(missingIn(paths, { headers: [{ name: 'h' }], webhook: { value: 'x' } })).toEqual(paths.slice(0, 1));
  expect(withoutSecrets(trigger.spec, { webhook: { env: 'HOOK' } })).toEqual({
    kept: { webhook: { env: 'HOOK' } },
    left: [],
  });
});

test('numbers keep all of their digits from the form to the engine and back', () => {
  const text = '{big: {_lt: 9007199254740995}, price: {_eq: 1.10}}';
  const filter = valueIn({ type: 'object' }, text);
  const whole = { ...spec, select: { columns: ['id'], filter } };
  const printed = resourceText({ kind: 'TablePermission', name: 'reader-book', spec: whole });
  expect(printed).toContain('_lt: 9007199254740995');
  expect(printed).toContain('_eq: 1.10');
  const sent = JSON.stringify(editsOf(permission, whole));
  expect(sent).toContain('9007199254740995');
  const objects = (parseWithAllDigits(sent) as { key: string; definition: object }[]).map((object) => ({
    ...object,
    parent: 'table/default/public/book',
  }));
  const again = specOf(permission, objects)!;
  expect(JSON.stringify(again)).toContain('"_lt":9007199254740995');
  expect(JSON.stringify(again)).toContain('"_eq":1.10');
  expect(entered(permission.spec, again)).toEqual(again);
  expect(JSON.stringify(withoutSecrets(permission.spec, again).kept)).toContain('9007199254740995');
  expect(inWords(filter as object)).toBe('big < 9007199254740995 and price = 1.10');
});

test('an empty member is not entered, and an empty list is', () => {
  expect(entered(permission.spec, { table: '', role: 'r', select: { columns: [], filter: {} } })).toEqual({
    role: 'r',
    select: { columns: [], filter: {} },
  });
});
