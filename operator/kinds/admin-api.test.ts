/** A resource refuses at once what the operation of the admin API that creates its object refuses. */
import {
  EngineError,
  type MetadataObject,
  OPERATIONS,
  type OperationName,
  parseArgs,
} from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { examples } from '../../testing/examples.ts';
import { kindOf } from '../kinds.ts';
import { type KindRow, SpecProblem } from './kind.ts';
import { problemsOf } from './validate.ts';

const ODD = [
  '',
  ' ',
  'bad name!',
  '1st',
  '-a',
  'é',
  'a.b',
  'a/b',
  '/a',
  '*',
  '__a',
  'a\nb',
  'a'.repeat(43),
  'a'.repeat(256),
];

/** The operation that creates an object of a kind, and its arguments. */
const CREATION: Readonly<Record<string, readonly [OperationName, (object: MetadataObject) => object]>> = {
  action: ['create_action', ({ definition }) => definition as object],
  allowlist: ['add_collection_to_allowlist', ({ definition }) => definition as object],
  cron_trigger: ['create_cron_trigger', ({ definition }) => definition as object],
  event_trigger: [
    'create_event_trigger',
    (object) => {
      const { definition, ...rest } = object.definition as { definition: object };
      return { ...rest, ...definition, table: 'a' };
    },
  ],
  inherited_role: ['add_inherited_role', ({ definition }) => definition as object],
  logical_model: ['track_logical_model', ({ definition }) => definition as object],
  native_query: ['track_native_query', ({ definition }) => definition as object],
  query_collection: ['create_query_collection', ({ definition }) => definition as object],
  remote_schema: ['add_remote_schema', ({ definition }) => definition as object],
  rest_endpoint: ['create_rest_endpoint', ({ definition }) => definition as object],
};

type Path = readonly (string | number)[];

/** Returns the paths of all texts and lists in a value. */
function leavesIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, item]) =>
    leavesIn(item, [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return Array.isArray(value) ? [path, ...inner] : inner;
}

function replaced(value: unknown, [step, ...rest]: Path, change: (old: unknown) => unknown): unknown {
  if (step === undefined) return change(value);
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) };
  (copy as Record<string | number, unknown>)[step] = replaced(
    (value as Record<string | number, unknown>)[step],
    rest,
    change,
  );
  return copy;
}

/** Returns the spec with each text replaced by odd ones, and each list emptied. */
function oddForms(spec: object): readonly (readonly [string, unknown])[] {
  return leavesIn(spec).flatMap((path) =>
    ODD.map((text): readonly [string, unknown] => [
      `${path.join('.')} = ${JSON.stringify(text.slice(0, 20))}`,
      replaced(spec, path, (old) => (Array.isArray(old) ? [] : text)),
    ]),
  );
}

const context = { valueFrom: () => 'http://a' };

/** Returns the objects of a spec; none when the resource refuses it. */
function objectsOf(row: KindRow, spec: unknown): readonly MetadataObject[] {
  if (problemsOf(row, spec).length > 0) return [];
  try {
    return row.translate(spec, context);
  } catch (error) {
    if (error instanceof SpecProblem || error instanceof EngineError) return [];
    throw error;
  }
}

/** Returns why the admin API refuses to create the object; null when it does not, or when no operation creates it. */
function refusalOf(object: MetadataObject): string | null {
  const [operation, argumentsOf] = CREATION[object.kind] ?? [];
  if (!operation || !argumentsOf) return null;
  try {
    parseArgs(operation, JSON.parse(JSON.stringify(argumentsOf(object))));
    return null;
  } catch (error) {
    return `${operation}: ${(error as Error).message}`;
  }
}

/** A bundle has objects as the metadata has them; the engine judges them. */
const EXAMPLES = examples().flatMap(({ kind, spec }) => {
  const row = kindOf(kind);
  return row && kind !== 'MetadataBundle' ? [[kind, row, spec] as const] : [];
});

test.each(EXAMPLES)('%s accepts nothing that the admin API refuses', (_, row, spec) => {
  const accepted = oddForms(spec).flatMap(([change, odd]) =>
    objectsOf(row, odd).flatMap((object) => {
      const refusal = refusalOf(object);
      return refusal === null ? [] : [`${change}: ${refusal}`];
    }),
  );
  expect(accepted).toEqual([]);
});

test('the examples have an object for each operation, and the admin API accepts it', () => {
  const objects = EXAMPLES.flatMap(([, row, spec]) => objectsOf(row, spec));
  expect(objects.map(refusalOf).filter((refusal) => refusal !== null)).toEqual([]);
  const kinds = new Set<string>(objects.map(({ kind }) => kind));
  expect(Object.keys(CREATION).filter((kind) => !kinds.has(kind))).toEqual([]);
});

test('every operation with rules of its own that creates an object is compared', () => {
  const rows: readonly (readonly [string, object])[] = Object.entries(OPERATIONS);
  const own = rows.filter(([, row]) => 'check' in row).map(([name]) => name);
  const compared = Object.values(CREATION).map(([name]) => name as string);
  const creatingNothing = ['select', 'update_scope_of_collection_in_allowlist'];
  expect(own.filter((name) => !compared.includes(name)).sort()).toEqual(creatingNothing);
});

const trigger = { table: 'a', name: 'a', webhook: { value: 'http://a' } };
test.each([
  ['a name with a space', { ...trigger, name: 'bad name!', insert: {} }, 'spec.name'],
  ['a name that begins with a digit', { ...trigger, name: '1st', insert: {} }, 'spec.name'],
  ['an update of no columns', { ...trigger, update: { columns: [] } }, 'spec.update.columns'],
  ['an insert of no columns', { ...trigger, insert: { columns: [] } }, 'spec.insert.columns'],
  ['an empty payload of all columns', { ...trigger, insert: { payload: [] } }, 'an empty payload needs'],
  ['the same, named', { ...trigger, insert: { columns: ['*'], payload: [] } }, 'an empty payload needs'],
])('an EventTrigger with %s is refused', (_, spec, problem) => {
  expect(problemsOf(kindOf('EventTrigger')!, spec)).toEqual([expect.stringContaining(problem)]);
});

test('an EventTrigger may send no column of changes in some', () => {
  const spec = { ...trigger, name: 'a_b-C1', update: { columns: ['a'], payload: [] } };
  expect(objectsOf(kindOf('EventTrigger')!, spec).map(refusalOf)).toEqual([null]);
});
