/** Answers of a remote schema: every type of a leaf × every kind of JSON value × every place of the field, and random answers. Rule:
 *  docs/reference/behaviour/remote-schemas.md, "Requests": null where a type does not allow it, an object or a list where it promises a scalar of
 *  GraphQL or an enum, and anything else where it promises an object or a list, is null with an error, and so is what contains it, up to the
 *  first that may be null. A root field of type String may also be an object; what is right passes as it is. */
import '../../testing/seed.ts';
import fc from 'fast-check';
import {
  buildSchema,
  GraphQLList,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { type RuleWorld, startWorld } from './testing/rules.ts';

/** Types of leaves, with the number of lists around them; undefined for a scalar of the service's own. */
const TYPES = {
  text: ['String', 0],
  required: ['Int!', 0],
  flag: ['Boolean', 0],
  id: ['ID', 0],
  color: ['Color', 0],
  names: ['[String!]', 1],
  grid: ['[[Float]!]!', 2],
  time: ['Time', undefined],
  times: ['[Time]', undefined],
} as const;
type Name = keyof typeof TYPES;
const NAMES = Object.keys(TYPES) as Name[];

const SDL = `
scalar Time
enum Color { RED GREEN }
interface Named { ${NAMES.map((name) => `${name}: ${TYPES[name][0]}`).join(' ')} }
type Thing implements Named {
  ${NAMES.map((name) => `${name}: ${TYPES[name][0]}`).join(' ')}
  other: Thing must: Thing! some: [Thing] all: [Thing!]! grids: [[Thing!]]
}
type Query { thing: Thing things: [Thing] named: Named ${NAMES.map((name) => `${name}: ${TYPES[name][0]}`).join(' ')} }
`;

const VALUES = [
  'null',
  '"text"',
  '1',
  '-2.50',
  'true',
  '{"secret": 1}',
  '[]',
  '[1, "a"]',
  '[null]',
  '[{"secret": 1}]',
  '[[1]]',
  '[["a"], [{"secret": 1}]]',
  '[[[1]]]',
];

const ROOT = 'at the root';

/** The places of a field: the query, and the data around the value. */
const PLACES: Readonly<
  Record<string, (field: string) => { readonly query: string; readonly data: (value: string) => string }>
> = {
  [ROOT]: (field) => ({ query: `{ x: ${field} }`, data: (value) => `{"x": ${value}}` }),
  'in an object': (field) => ({
    query: `{ thing { ${field} __typename } }`,
    data: (value) => `{"thing": {"${field}": ${value}, "__typename": "Thing"}}`,
  }),
  'in a list of objects, with an alias': (field) => ({
    query: `{ things { other { y: ${field} } } }`,
    data: (value) => `{"things": [null, {"other": null}, {"other": {"y": ${value}}}]}`,
  }),
  'in a fragment on an interface': (field) => ({
    query: `{ named { __typename ... on Thing { z: ${field} } } }`,
    data: (value) => `{"named": {"__typename": "Thing", "z": ${value}}}`,
  }),
};

let world: RuleWorld;
let remote: RemoteService;
let answer = '';
beforeAll(async () => {
  remote = await startRemote(SDL);
  const renamed = { type_names: { prefix: 'Far', mapping: {} } };
  world = await startWorld({
    sql: 'select 1',
    tables: [],
    operations: [
      ['add_remote_schema', { name: 'far', definition: { url: remote.url, customization: renamed } }],
    ],
  });
  remote.misbehave((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(`{"data": ${answer}}`);
  });
});
afterAll(async () => {
  await world?.close();
  await remote?.close();
});

const THING = buildSchema(SDL).getType('Thing') as GraphQLObjectType;
/** The fields behind the aliases of the tests; other members have the name of their field. */
let aliases: Readonly<Record<string, string>> = {};

/** Raised in place of a value, up to the first that may be null. */
class Wrong extends Error {}

/** Completes values as a GraphQL service does, and finds the first wrong one. */
class Completion {
  firstWrong: readonly (string | number)[] | undefined;

  value(type: GraphQLOutputType, value: unknown, path: readonly (string | number)[]): unknown {
    if (isNonNullType(type)) {
      const completed = this.#nullable(type.ofType, value, path);
      return completed === null ? this.#wrong(path) : completed;
    }
    try {
      return this.#nullable(type, value, path);
    } catch (error) {
      if (error instanceof Wrong) return null;
      throw error;
    }
  }

  #nullable(type: GraphQLOutputType, value: unknown, path: readonly (string | number)[]): unknown {
    if (value === null || getNamedType(type).name === 'Time') return value;
    if (isListType(type)) {
      if (!Array.isArray(value)) return this.#wrong(path);
      return this.#all(value.map((item, i) => () => this.value(type.ofType, item, [...path, i])));
    }
    const isObject = typeof value === 'object' && !Array.isArray(value);
    if (!isObjectType(type)) return typeof value === 'object' ? this.#wrong(path) : value;
    if (!isObject) return this.#wrong(path);
    const members = Object.entries(value as object);
    const completed = this.#all(
      members.map(([key, member]) => () => {
        const field = type.getFields()[aliases[key] ?? key];
        return field ? this.value(field.type, member, [...path, key]) : member;
      }),
    );
    return Object.fromEntries(completed.map((member, i) => [members[i]![0], member]));
  }

  /** Completes all values, the ones after a wrong one as well. */
  #all(values: readonly (() => unknown)[]): readonly unknown[] {
    let wrong: Wrong | undefined;
    const completed = values.map((each) => {
      try {
        return each();
      } catch (error) {
        if (!(error instanceof Wrong)) throw error;
        wrong ??= error;
        return null;
      }
    });
    if (wrong) throw wrong;
    return completed;
  }

  #wrong(path: readonly (string | number)[]): never {
    this.firstWrong ??= path;
    throw new Wrong();
  }
}

async function ask(query: string): Promise<string> {
  const response = await world.engine.fetch('/v1/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-engine-admin-secret': world.engine.adminSecret },
    body: JSON.stringify({ query: query.replace('... on Thing', '... on FarThing') }),
  });
  return response.text();
}

/** Checks the response to a query whose only root field has the value, of a type that may be null. */
function expectCompleted(text: string, root: string, type: GraphQLOutputType, value: unknown): void {
  const completion = new Completion();
  const completed = completion.value(type, value, [root]);
  const sent = JSON.stringify({ [root]: completed }).replaceAll('"Thing"', '"FarThing"');
  const { data, errors } = JSON.parse(text);
  const { firstWrong } = completion;
  const paths = firstWrong === undefined ? undefined : [firstWrong];
  expect({ data, paths: errors?.map(({ path }: { path: unknown }) => path) }).toEqual({
    data: JSON.parse(sent),
    paths,
  });
  if (firstWrong) {
    const names = firstWrong.filter((step) => typeof step === 'string').join('.');
    expect(errors[0].message).toMatch(new RegExp(`"${names}" is (not of the type it should be|null, which)`));
  }
}

/** Checks the response to a root field `x` that is a leaf or a list of leaves. */
function expectRoot(text: string, type: GraphQLOutputType, value: unknown): void {
  const completion = new Completion();
  let x: unknown = null;
  try {
    x = completion.value(type, value, ['x']);
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
  }
  const { data, errors } = JSON.parse(text);
  expect(data).toEqual(x === null && isNonNullType(type) ? null : { x });
  const { firstWrong } = completion;
  // A value that must not be null is as if it were missing.
  const path = value === null && isNonNullType(type) ? ['x'] : firstWrong;
  expect(errors?.map((error: { path: unknown }) => error.path)).toEqual(path && [path]);
}

describe.each(Object.keys(PLACES))('a leaf %s', (place) => {
  test.each(NAMES)('%s', async (name) => {
    aliases = { x: name, y: name, z: name };
    const { query, data } = PLACES[place]!(name);
    for (const value of VALUES) {
      answer = data(value);
      const text = await ask(query);
      const [[root, sent]] = Object.entries(JSON.parse(answer)) as [[string, unknown]];
      if (place === ROOT && name === 'text' && value.startsWith('{'))
        expect(JSON.parse(text)).toEqual({ data: { x: sent } });
      else if (place === ROOT) expectRoot(text, THING.getFields()[name]!.type, sent);
      else expectCompleted(text, root, root === 'things' ? listOf(THING) : THING, sent);
      // As the service wrote it, numbers included.
      if (!text.includes('"errors"')) expect(text).toContain(value);
    }
  });
});

const listOf = (type: GraphQLOutputType) => new GraphQLList(type);

const INSIDE = `text required flag names grid time __typename`;
const RANDOM_QUERY = `{ thing { ${INSIDE} other { ${INSIDE} } must { ${INSIDE} must { required } } some { ${INSIDE} must { text } }
  all { ${INSIDE} all { required } } grids { ${INSIDE} some { required } } } }`;

/** Values of a field of `Thing`, some of which are wrong; objects have the fields that the query selects at this level. */
function valuesOf(type: GraphQLOutputType, level: number): fc.Arbitrary<unknown> {
  const inner = isNonNullType(type) ? type.ofType : type;
  const right: fc.Arbitrary<unknown> = isListType(inner)
    ? fc.array(valuesOf(inner.ofType, level), { maxLength: 3 })
    : isObjectType(inner)
      ? things(level)
      : fc.constantFrom<unknown>('a', 1, true);
  const wrong = fc.constantFrom<unknown>(null, {}, [], [[]], 'secret', { secret: 1 });
  return fc.oneof({ weight: 25, arbitrary: right }, { weight: 1, arbitrary: wrong });
}

/** The selected objects at each level of RANDOM_QUERY, by field, with the fields in them. */
const SELECTED: readonly (readonly string[])[] = [
  ['text', 'required', 'flag', 'names', 'grid', 'time', 'other', 'must', 'some', 'all', 'grids'],
  ['text', 'required', 'flag', 'names', 'grid', 'time'],
];

function things(level: number): fc.Arbitrary<unknown> {
  const fields = SELECTED[level] ?? [];
  const members = fields.map((name) => [name, valuesOf(THING.getFields()[name]!.type, level + 1)] as const);
  return fc.record({ ...Object.fromEntries(members), __typename: fc.constant('Thing') });
}

test('random answers are completed as GraphQL says', { timeout: 120_000 }, async () => {
  aliases = {};
  await fc.assert(
    fc.asyncProperty(valuesOf(THING, 0), async (thing) => {
      answer = JSON.stringify({ thing });
      expectCompleted(await ask(RANDOM_QUERY), 'thing', THING, thing);
    }),
    { numRuns: 400 },
  );
});

test('a field with a thousand wrong values has nulls, and one with more is null', async () => {
  aliases = {};
  const some = (wrong: number) => ({ some: Array.from({ length: wrong }, () => ({ required: null })) });
  answer = JSON.stringify({ thing: some(1000) });
  expect(JSON.parse(await ask('{ thing { some { required } } }')).data.thing.some).toHaveLength(1000);
  answer = JSON.stringify({ thing: some(1001) });
  const path = ['thing', 'some', 0, 'required'];
  expect(JSON.parse(await ask('{ thing { some { required } } }'))).toMatchObject({
    data: { thing: null },
    errors: [{ path }],
  });
});

test('errors are passed on up to 1 MiB; longer ones are an error', async () => {
  const errorsOf = async (bytes: number) => {
    answer = `null, "errors": [{"message": "${'x'.repeat(bytes)}"}]`;
    return JSON.parse(await ask('{ thing { text } }')).errors[0].message as string;
  };
  expect(await errorsOf(1_000_000)).toHaveLength(1_000_000);
  expect(await errorsOf(1_100_000)).toMatch(/its errors are longer than 1048576 bytes/);
});

test('type names are replaced in place, and others are kept', async () => {
  const of = (i: number) =>
    `{"text": "${'é'.repeat(i % 7)}", "__typename": "${i % 3 ? 'Thing' : `Odd${i % 50}`}"}`;
  const list = Array.from({ length: 20_000 }, (_, i) => of(i)).join(' ,');
  answer = `{"things": [${list}]}`;
  const { data } = JSON.parse(await ask('{ things { text __typename } }'));
  const sent = JSON.parse(`[${list}]`) as { readonly __typename: string }[];
  const named = (name: string) => (name === 'Thing' ? 'FarThing' : name);
  const expected = sent.map((each) => ({ ...each, __typename: named(each.__typename) }));
  expect(JSON.stringify(data.things) === JSON.stringify(expected)).toBe(true);
});

test('the path of an error leads to the value, and what may be null around it is', async () => {
  aliases = {};
  for (const [query, given, expected, path] of [
    ['{ thing { must { required } } }', { must: { required: null } }, null, ['thing', 'must', 'required']],
    [
      '{ thing { some { required } } }',
      { some: [{ required: 1 }, { required: null }, 7] },
      { some: [{ required: 1 }, null, null] },
      ['thing', 'some', 1, 'required'],
    ],
    ['{ thing { text } }', ['a'], null, ['thing']],
  ] as const) {
    answer = JSON.stringify({ thing: given });
    expect(JSON.parse(await ask(query))).toMatchObject({ data: { thing: expected }, errors: [{ path }] });
  }
});
