/** A spec with empty parts, `depth: {}` or `columns: []`, means the same as what the engine exports after it was written. Otherwise the operator
 *  would find a difference after each of its writes and correct it again, without end. */
import {
  asJsonSchema,
  EngineError,
  exportMetadata,
  isRecord,
  type MetadataObject,
  parseMetadata,
} from '@pergola/engine/metadata';
import { describe, expect, test } from 'vitest';
import { examples } from '../../testing/examples.ts';
import { KINDS, type KindRow, kindOf } from '../kinds.ts';
import { hashOf, hashOfLive, isKept, normalised, objectsIn, withObjects } from '../objects/normal-form.ts';
import type { TranslateContext } from './kind.ts';
import { problemsOf } from './validate.ts';

type Shape = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly additionalProperties?: Shape | boolean;
  readonly anyOf?: readonly Shape[];
  readonly patternProperties?: object;
};

const context: TranslateContext = {
  valueFrom({ value, env, file, secretKeyRef }, path) {
    if (path.startsWith('spec.from')) return 'version: 3\nsources: []';
    if (secretKeyRef) return { from_value: 'team/keys/token' };
    if (env !== undefined) return { from_env: env };
    return file === undefined ? (value ?? 'https://map') : { from_file: file };
  },
};

const EXAMPLES = examples().flatMap(({ kind, spec }) => {
  const row = kindOf(kind);
  return row ? [{ row, spec }] : [];
});

/** A document with the objects of all examples. */
const BASE = withAll(
  parseMetadata({
    version: 3,
    sources: [
      {
        name: 'default',
        kind: 'postgres',
        tables: [],
        configuration: { connection_info: { database_url: 'postgres://a' } },
      },
    ],
  }),
  EXAMPLES.flatMap(({ row, spec }) => objectsOf(row, spec)).toSorted((a, b) => depthOf(a) - depthOf(b)),
);

function withAll(metadata: ReturnType<typeof parseMetadata>, objects: readonly MetadataObject[]) {
  return objects.reduce((made, object) => {
    const isNested = object.parent !== null && !objectsIn(made).has(object.parent);
    return isNested ? made : withObjects(made, new Map([[object.key, object]]));
  }, metadata);
}

function depthOf({ key, parent }: MetadataObject): number {
  return key.startsWith('source/') ? 0 : parent === null ? 1 : parent.split('/').length + 1;
}

function objectsOf(row: KindRow, spec: unknown): readonly MetadataObject[] {
  return row.translate(spec, context).map(normalised).filter(isKept);
}

/** Returns the specs that differ from `value` in one part that is empty. */
function emptied(shape: Shape, value: unknown, path: string): readonly (readonly [string, unknown])[] {
  if (isRecord(value) && shape.properties) {
    return Object.entries(shape.properties).flatMap(([name, inner]) => {
      const present = (value as Readonly<Record<string, unknown>>)[name];
      const at = `${path}.${name}`;
      const own = emptyOf(inner).map((empty) => [at, empty] as const);
      // Parts that the example lacks are looked into as well.
      const below = emptied(inner, present ?? emptyOf(inner)[0], at);
      return [...own, ...below].map(([where, made]) => [where, { ...value, [name]: made }] as const);
    });
  }
  if (Array.isArray(value) && shape.items && value.length > 0) {
    const items = shape.items;
    return emptied(items, value[0], `${path}[]`).map(
      ([where, made]) => [where, [made, ...value.slice(1)]] as const,
    );
  }
  return [];
}

function emptyOf(shape: Shape): readonly unknown[] {
  if (shape.anyOf) return shape.anyOf.flatMap(emptyOf);
  if (shape.type === 'array') return [[]];
  return shape.type === 'object' ? [{}] : [];
}

/** Returns the spec with its required fields alone. */
function leastOf(row: KindRow, spec: Readonly<Record<string, unknown>>): object {
  const { required = [] } = asJsonSchema(row.spec);
  return Object.fromEntries(Object.entries(spec).filter(([name]) => required.includes(name)));
}

const CASES = EXAMPLES.flatMap(({ row, spec }) =>
  [spec, leastOf(row, spec)].flatMap((given) =>
    emptied(asJsonSchema(row.spec) as Shape, given, row.kind).flatMap(([path, made]) =>
      problemsOf(row, made).length === 0 ? [{ row, path, spec: made }] : [],
    ),
  ),
);

test('there are many cases', () => {
  expect(CASES.length).toBeGreaterThan(100);
});

describe.each(KINDS.map((row: KindRow) => [row.kind]))('%s', (kind) => {
  test('with empty parts is exported as it was declared', () => {
    const wrong = CASES.filter(({ row }) => row.kind === kind).flatMap(({ row, path, spec }) => {
      try {
        const declared = objectsOf(row, spec);
        const live = objectsIn(parseMetadata(exportMetadata(withAll(BASE, declared))));
        return declared
          .filter((object) => {
            const found = live.get(object.key);
            return !found || hashOfLive(found) !== hashOf(object);
          })
          .map(({ key }) => `${path}: ${key} ${live.has(key) ? 'differs' : 'is missing'}`);
      } catch (error) {
        // What the engine would refuse is InvalidSpec.
        if (error instanceof EngineError) return [];
        throw error;
      }
    });
    expect([...new Set(wrong)]).toEqual([]);
  });
});
