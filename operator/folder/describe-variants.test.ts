/** Tests that the resources described from metadata stand for exactly that metadata, and that kinds express all that they can: on documents
 *  generated from the declared model, with each member absent, null, empty, with its default and in each of its forms. What only a bundle
 *  expresses is listed here. */
import { isRecord, objectsOf, parseMetadata } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { FULL, replaced, VARIANTS } from '../../testing/metadata-variants.ts';
import { describeMetadata } from './describe.ts';

type Path = readonly (string | number)[];

/** The members of a full document that no kind can express, or that exclude others. */
const REMOVED: readonly Path[] = [
  // Of other engines.
  ['sources', 0, 'stored_procedures'],
  ['backend_configs'],
  ...['input_objects', 'objects'].map((category) => ['custom_types', category, 0, 'fields', 0, 'arguments']),
  // One of several is enough.
  ...['object', 'array'].flatMap((type) =>
    // A query inserts nothing.
    ['remote_native_query', 'insertion_order'].map((member) => {
      return ['sources', 0, 'native_queries', 0, `${type}_relationships`, 0, 'using', member];
    }),
  ),
  ...['env', 'value', 'file'].flatMap((from): Path[] => [
    ['remote_schemas', 0, 'definition', `url_from_${from}`],
    ['sources', 0, 'tables', 0, 'event_triggers', 0, `webhook_from_${from}`],
  ]),
];

/** Returns the document without a member. */
function removed(value: unknown, [key, ...rest]: Path): unknown {
  if (Array.isArray(value)) return value.map((item, i) => (i === key ? removed(item, rest) : item));
  if (!isRecord(value)) return value;
  const { [key as string]: old, ...others } = value;
  return rest.length === 0 ? others : { ...others, [key as string]: removed(old, rest) };
}

const AT = ['scheduled_events', 0, 'schedule_at'];
const BASE = REMOVED.reduce(removed, replaced(FULL, AT, '2030-01-01T00:00:00Z'));

/** Variants that only a bundle expresses, by a part of their path and value, with the reason. */
const INEXPRESSIBLE: readonly (readonly [path: RegExp, value: RegExp, reason: string])[] = [
  [/./, /"(value_)?from_value":/, 'a named value that no operator stores has no Secret'],
  [/(webhook|url|remote_table)$/, /^(null|undefined)$/, 'an object without its address or target'],
  [/transform\.version$/, /^2$/, 'a body in the form of version 1'],
  [/logical_models\.0\.fields\.0\.type$/, /^\{/, 'a nullability beside a type with its own'],
];

function isPresent(path: Path): boolean {
  const parent = path.slice(0, -1).reduce<unknown>((value, key) => (value as never)?.[key], BASE);
  return parent !== undefined && parent !== null;
}

/** Returns the keys of the objects that are in bundles. */
function bundled(given: unknown): readonly string[] {
  const { resources } = describeMetadata(parseMetadata(given), { name: 'main' });
  return resources
    .filter(({ kind }) => kind === 'MetadataBundle')
    .flatMap(({ spec }) => (spec['objects'] as { key: string }[]).map(({ key }) => key));
}

test('a document with every member has no bundle', () => {
  expect(objectsOf(parseMetadata(BASE)).size).toBeGreaterThan(35);
  expect(bundled(BASE)).toEqual([]);
});

test('every form of every member is expressed by the kind of its object, or listed here as one that is not', () => {
  const used = new Set<string>();
  const lost = VARIANTS.filter(({ path }) => isPresent(path)).flatMap(({ path, kind, value }) => {
    const keys = bundled(replaced(BASE, path, value));
    if (keys.length === 0) return [];
    const text = value === undefined || typeof value === 'symbol' ? 'undefined' : JSON.stringify(value);
    const known = INEXPRESSIBLE.find(([at, of]) => at.test(path.join('.')) && of.test(text));
    if (known) used.add(known[2]);
    return known ? [] : [`${path.join('.')} ${kind} ${text}: ${keys.join(', ')}`];
  });
  expect(lost).toEqual([]);
  expect([...used].toSorted()).toEqual(INEXPRESSIBLE.map(([, , reason]) => reason).toSorted());
}, 180_000);
