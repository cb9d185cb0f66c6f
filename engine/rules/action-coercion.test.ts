/** The input that the webhook of an action receives: whatever form GraphQL lets a client write, the webhook gets the form of the type.
 *  Generated over types, wrappers and the place of the value: a literal, a variable, a default of a variable, each at the top and in an
 *  input object. Rule: docs/reference/behaviour/actions.md, "Arguments". */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RuleWorld, startWorld } from './testing/rules.ts';

/** Values of each type as a client may write them, and as the webhook receives them. */
const VALUES: Readonly<Record<string, readonly (readonly [written: string, received: unknown])[]>> = {
  Int: [['3', 3]],
  Float: [
    ['3', 3],
    ['0.5', 0.5],
  ],
  String: [['"a"', 'a']],
  Boolean: [['true', true]],
  ID: [
    ['5', '5'],
    ['"5"', '5'],
    ['2147483647', '2147483647'],
  ],
  uuid: [['"00000000-0000-0000-0000-000000000001"', '00000000-0000-0000-0000-000000000001']],
  bigint: [['5', 5]],
  Free: [
    ['3', 3],
    ['[3]', [3]],
  ],
  Choice: [['a', 'a']],
  Inner: [
    ['{ids: 7, n: 1}', { ids: ['7'], n: 1 }],
    ['{ids: [7, "8"], self: {ids: 9}}', { ids: ['7', '8'], self: [{ ids: ['9'] }] }],
  ],
};

type Wrapper = {
  readonly type: (name: string) => string;
  /** Returns the forms of a list as a client may write them, from those of an item. */
  readonly forms: (item: readonly [string, unknown]) => readonly (readonly [string, unknown])[];
};

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  plain: { type: (name) => name, forms: (item) => [item, ['null', null]] },
  required: { type: (name) => `${name}!`, forms: (item) => [item] },
  list: {
    type: (name) => `[${name}]`,
    forms: ([text, value]) => [
      [text, [value]],
      [`[${text}, null]`, [value, null]],
      ['[]', []],
      ['null', null],
    ],
  },
  'required list': {
    type: (name) => `[${name}!]!`,
    forms: ([text, value]) => [
      [text, [value]],
      [`[${text}, ${text}]`, [value, value]],
    ],
  },
  'list of lists': {
    type: (name) => `[[${name}!]!]`,
    forms: ([text, value]) => [
      [text, [[value]]],
      [`[${text}]`, [[value]]],
      [`[[${text}], []]`, [[value], []]],
    ],
  },
};

const TYPES = Object.keys(VALUES).flatMap((name) =>
  Object.keys(WRAPPERS).map((wrapper) => ({ name, wrapper, type: WRAPPERS[wrapper]!.type(name) })),
);
const argument = (i: number) => `f${i}`;

let world: RuleWorld;
let received: unknown;
const webhook = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  received = (JSON.parse(text) as { input: unknown }).input;
  response.end('1');
});

beforeAll(async () => {
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  const handler = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}`;
  const fields = TYPES.map(({ type }, i) => ({ name: argument(i), type: type.replace(/!$/, '') }));
  world = await startWorld({
    sql: 'create table note (id int primary key, owner uuid, number bigint)',
    tables: ['note'],
    operations: [
      [
        'set_custom_types',
        {
          scalars: [{ name: 'Free' }],
          enums: [{ name: 'Choice', values: [{ value: 'a' }] }],
          input_objects: [
            {
              name: 'Inner',
              fields: [
                { name: 'ids', type: '[ID!]!' },
                { name: 'n', type: 'Int' },
                { name: 'self', type: '[Inner!]' },
              ],
            },
            { name: 'Outer', fields },
          ],
        },
      ],
      ...(['top', 'nested'] as const).map((name) => {
        const args = name === 'top' ? fields : [{ name: 'o', type: '[Outer!]' }];
        const definition = { type: 'query', handler, arguments: args, output_type: 'Int' };
        return ['create_action', { name, definition }] as const;
      }),
    ],
  });
});
afterAll(async () => {
  await world?.close();
  webhook.close();
});

/** Returns the value of a literal as JSON. */
const jsonOf = (literal: string): unknown =>
  JSON.parse(literal.replace(/(\w+):/g, '"$1":').replace(/(^|[[ ,:])a(?=$|[\],} ])/g, '$1"a"'));

test.each(TYPES.map((each, i) => ({ ...each, i })))('$type', async ({ name, wrapper, type, i }) => {
  const field = argument(i);
  const declared = type.replace(/!$/, '');
  for (const [literal, expected] of VALUES[name]!.flatMap(WRAPPERS[wrapper]!.forms)) {
    // A list for a scalar of any value is one value.
    if (name === 'Free' && literal.startsWith('[') && wrapper !== 'plain' && wrapper !== 'required') continue;
    const places: readonly (readonly [
      head: string,
      value: string,
      variables?: Readonly<Record<string, unknown>>,
    ])[] = [
      ['query', literal],
      [`query($v: ${declared})`, '$v', { v: jsonOf(literal) }],
      [`query($v: ${declared} = ${literal})`, '$v'],
    ];
    for (const [head, value, variables] of places) {
      const about = `${head} ${value} ${JSON.stringify(variables)}`;
      const ask = async (text: string) => {
        received = undefined;
        const { errors } = await world.engine.graphql(`${head} { ${text} }`, { variables: variables ?? {} });
        expect(errors, about).toBeUndefined();
        return received;
      };
      expect(await ask(`top(${field}: ${value})`), about).toEqual({ [field]: expected });
      expect(await ask(`nested(o: {${field}: ${value}})`), about).toEqual({ o: [{ [field]: expected }] });
    }
  }
});

test.each(
  (['plain', 'list', 'list of lists'] as const).flatMap((wrapper) =>
    ['1.5', '1e-3', 'true', '{a: 1}'].map((literal) => ({ wrapper, literal })),
  ),
)('$literal is no ID ($wrapper)', async ({ wrapper, literal }) => {
  const i = TYPES.findIndex((each) => each.name === 'ID' && each.wrapper === wrapper);
  const { type } = TYPES[i]!;
  for (const [head, value, variables] of [
    ['query', literal],
    [`query($v: ${type})`, '$v', { v: jsonOf(literal) }],
    [`query($v: ${type} = ${literal})`, '$v'],
  ] as const) {
    for (const field of [`top(${argument(i)}: ${value})`, `nested(o: {${argument(i)}: ${value}})`]) {
      received = undefined;
      const { errors } = await world.engine.graphql(`${head} { ${field} }`, { variables: variables ?? {} });
      expect([errors?.[0]?.extensions.code, received]).toEqual(['validation-failed', undefined]);
    }
  }
});
