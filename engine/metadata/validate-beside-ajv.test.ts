/** Compares the validator with ajv: both accept and refuse the same changed documents. Messages are tested in parse.test.ts. */
import '../../testing/seed.ts';
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { isRecord } from '../json/value.ts';
import { toNormalForm } from './normal-form.ts';
import { parseMetadata } from './parse.ts';
import { Metadata } from './schema/metadata.ts';
import { validate } from './validate.ts';
import { asJsonSchema } from './walk-schema.ts';

const schema = asJsonSchema(Metadata);
const isFine = new Ajv({ strict: false }).compile(schema);
const documents = ['bookshop', 'studio'].map((name) =>
  parseMetadata(load(readFileSync(new URL(`../golden/fixtures/${name}.yaml`, import.meta.url), 'utf8'))),
);

function isOurs(value: unknown): boolean {
  try {
    validate(schema, value);
    return true;
  } catch {
    return false;
  }
}

/** Every place of a value, the whole first. */
function placesOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  const inner = Array.isArray(value) || isRecord(value) ? Object.entries(value) : [];
  return [path, ...inner.flatMap(([key, each]) => placesOf(each, [...path, key]))];
}

/** A copy with something else at the place; undefined takes it away. */
function changed(value: unknown, [key, ...rest]: readonly string[], other: unknown): unknown {
  if (key === undefined) return other;
  if (Array.isArray(value)) {
    const item = changed(value[Number(key)], rest, other);
    return item === undefined ? value.toSpliced(Number(key), 1) : value.with(Number(key), item);
  }
  const { [key]: member, ...others } = value as Readonly<Record<string, unknown>>;
  const made = changed(member, rest, other);
  return made === undefined ? others : { ...others, [key]: made };
}

/** Two changes at most; where the second one's place has gone with the first, one. */
const changedDocument = fc.constantFrom(...documents).chain((document) => {
  const place = fc.constantFrom(...placesOf(document));
  const other = fc.option(fc.jsonValue({ maxDepth: 2 }), { nil: undefined });
  return fc
    .array(fc.tuple(place, other), { maxLength: 2 })
    .map((changes) =>
      changes.reduce(
        (value: unknown, [path, given]) => (isPlace(value, path) ? changed(value, path, given) : value),
        document,
      ),
    );
});

function isPlace(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true;
  const hasMembers = Array.isArray(value) || isRecord(value);
  return hasMembers && key in value && isPlace((value as Readonly<Record<string, unknown>>)[key], rest);
}

test('a document is refused by both or by neither', () => {
  const verdicts = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(changedDocument, (given) => {
      const value = toNormalForm(schema, given);
      const expected = isFine(value);
      verdicts[expected ? 'accepted' : 'refused']++;
      expect({ value, isFine: isOurs(value) }).toEqual({ value, isFine: expected });
    }),
    { numRuns: 1000 },
  );
  expect(Math.min(verdicts.accepted, verdicts.refused)).toBeGreaterThan(50);
});
