/** Rules that every definition keeps, over all fields of spec and status: descriptions, names, units, values of enumerations. Bounds, keys of
 *  lists and defaults are rules of the projection (structural.ts); an API server estimates the cost of CEL (rule-cost.kube.test.ts). */
import { KINDS, type KindRow } from '@pergola/operator/kinds';
import { expect, test } from 'vitest';
import { definition } from './generate.ts';

type Schema = {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly default?: unknown;
};

type Field = { readonly path: string; readonly name: string; readonly schema: Schema };

/** Returns all fields below a schema with their paths: `Table.spec.permissions[].role`. */
function fieldsOf(schema: Schema, path: string): readonly Field[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [
    { path: `${path}.${name}`, name, schema: inner },
    ...fieldsOf(inner, `${path}.${name}`),
  ]);
  const items = schema.items ? fieldsOf(schema.items, `${path}[]`) : [];
  const values = schema.additionalProperties ? fieldsOf(schema.additionalProperties, `${path}.*`) : [];
  return [...own, ...items, ...values];
}

function partsOf(row: KindRow): Readonly<Record<'spec' | 'status', Schema>> {
  const { versions } = definition(row).spec as {
    versions: { schema: { openAPIV3Schema: { properties: { spec: Schema; status: Schema } } } }[];
  };
  return versions[0]!.schema.openAPIV3Schema.properties;
}

const FIELDS: readonly Field[] = KINDS.flatMap((row: KindRow) => {
  const { spec, status } = partsOf(row);
  return fieldsOf({ properties: { spec, status } }, row.kind);
});

const pathsOf = (fields: readonly Field[]) => [...new Set(fields.map(({ path }) => path))];

test('every field has a description', () => {
  expect(pathsOf(FIELDS.filter(({ schema }) => !schema.description?.trim()))).toEqual([]);
});

test('descriptions are sentences: a capital letter or code at the beginning, a full stop, or code, at the end', () => {
  // The description of a spec ends with an example.
  const isSentence = (text: string) =>
    /^[A-Z`"*[{]/.test(text) && /[.)}`]$/.test(text.replace(/:\n\n {2}.*/s, '.'));
  const wrong = FIELDS.filter(({ schema }) => schema.description && !isSentence(schema.description));
  expect(pathsOf(wrong)).toEqual([]);
});

test('names of fields are camelCase', () => {
  expect(pathsOf(FIELDS.filter(({ name }) => !/^[a-z][a-zA-Z0-9]*$/.test(name)))).toEqual([]);
});

test('a duration or a size has its unit at the end of its name', () => {
  const isNumber = ({ schema }: Field) => schema.type === 'integer' || schema.type === 'number';
  const isMeasure =
    /time(out)?(?!s)|interval|duration|delay|toleranc|lifetime|grace|older|age$|ttl|size$|seconds|minutes|hours|bytes/i;
  const hasUnit = /(Seconds|Minutes|Hours|Bytes|Percent)$|^(seconds|minutes|hours|bytes)$/;
  // A number of items, not of bytes.
  const isCount = /^(batchSize|maxExportBatchSize)$/;
  const wrong = FIELDS.filter(isNumber).filter(
    ({ name }) => isMeasure.test(name) && !hasUnit.test(name) && !isCount.test(name),
  );
  expect(pathsOf(wrong)).toEqual([]);
});

test('values of enumerations are PascalCase, except the methods of HTTP', () => {
  const values = FIELDS.flatMap(({ path, schema }) =>
    [...(schema.enum ?? []), ...(schema.items?.enum ?? [])]
      .filter((value): value is string => typeof value === 'string')
      .map((value) => ({ path, value })),
  );
  const isMethod = (value: string) => /^(GET|POST|PUT|PATCH|DELETE)$/.test(value);
  const wrong = values.filter(({ value }) => !/^[A-Z][A-Za-z0-9]*$/.test(value) && !isMethod(value));
  expect(wrong.map(({ path, value }) => `${path}: ${value}`)).toEqual([]);
});

test('there is one form for a value from elsewhere, and none has another name', () => {
  expect(pathsOf(FIELDS.filter(({ name }) => /(FromEnv|From)$/.test(name)))).toEqual([]);
});

test('no spec has a default', () => {
  expect(
    pathsOf(FIELDS.filter(({ path, schema }) => path.includes('.spec') && schema.default !== undefined)),
  ).toEqual([]);
});
