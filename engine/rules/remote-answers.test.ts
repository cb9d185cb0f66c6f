/** Answers of a remote schema: every type of a leaf × every kind of JSON value × every place of the field. Rule:
 *  docs/reference/behaviour/remote-schemas.md, "Answers": no object reaches the client where a type of the schema promises a scalar of
 *  GraphQL or an enum, and no more lists than it promises; a root field may be anything; what is right passes as it is. */
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
type Thing implements Named { ${NAMES.map((name) => `${name}: ${TYPES[name][0]}`).join(' ')} other: Thing }
type Query { thing: Thing things: [Thing] named: Named ${NAMES.map((name) => `${name}: ${TYPES[name][0]}`).join(' ')} }
`;

const VALUES = [
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

/** True when a value has an object, or more lists than these. */
function isWrong(value: unknown, lists: number): boolean {
  if (Array.isArray(value)) return lists === 0 || value.some((item) => isWrong(item, lists - 1));
  return typeof value === 'object' && value !== null;
}

describe.each(Object.keys(PLACES))('a leaf %s', (place) => {
  test.each(NAMES)('%s', async (name) => {
    const [, lists] = TYPES[name];
    const { query, data } = PLACES[place]!(name);
    for (const value of VALUES) {
      answer = data(value);
      const response = await world.engine.fetch('/v1/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-engine-admin-secret': world.engine.adminSecret },
        body: JSON.stringify({ query: query.replace('... on Thing', '... on FarThing') }),
      });
      const text = await response.text();
      if (place !== ROOT && lists !== undefined && isWrong(JSON.parse(value), lists)) {
        expect({ value, text }).toEqual({ value, text: expect.not.stringContaining('secret') });
        expect(JSON.parse(text).errors[0].message).toMatch(/is not of the type it should be/);
      } else {
        const sent = answer.replace('"Thing"', '"FarThing"');
        expect({ value, body: JSON.parse(text) }).toEqual({ value, body: { data: JSON.parse(sent) } });
        // As the service wrote it, numbers included.
        expect(text).toContain(value);
      }
    }
  });
});
