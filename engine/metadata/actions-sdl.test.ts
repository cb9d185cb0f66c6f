/** Actions and custom types as SDL and settings. */
import '../../testing/seed.ts';
import { assert, option, property, string } from 'fast-check';
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { isRecord } from '../json/value.ts';
import { joinActions, splitActions } from './actions-sdl.ts';
import { exportMetadata } from './export.ts';
import { parseMetadata } from './parse.ts';

const DOCUMENT = {
  actions: [
    {
      name: 'greet',
      definition: {
        type: 'query',
        handler: '{{BASE}}/greet',
        arguments: [{ name: 'to', type: 'Person!', description: 'whom' }],
        output_type: 'Greeting',
        timeout: 5,
      },
      permissions: [{ role: 'user' }],
      comment: 'says hello',
    },
    {
      name: 'register',
      definition: { kind: 'asynchronous', handler: 'http://a', output_type: '[Greeting!]!' },
    },
  ],
  custom_types: {
    scalars: [{ name: 'Day', description: 'a "day"' }],
    enums: [
      { name: 'Mood', values: [{ value: 'glad' }, { value: 'sad', description: 'x', is_deprecated: true }] },
    ],
    input_objects: [
      { name: 'Person', fields: [{ name: 'name', type: 'String!', description: 'full\n  name' }] },
    ],
    objects: [
      {
        name: 'Greeting',
        description: 'what is said',
        fields: [
          { name: 'text', type: 'String!' },
          { name: 'author_id', type: 'Int!' },
        ],
        relationships: [
          {
            name: 'author',
            type: 'object',
            remote_table: { schema: 'public', name: 'author' },
            field_mapping: { author_id: 'id' },
          },
        ],
      },
    ],
  },
};

const exported = (parts: unknown) =>
  exportMetadata(parseMetadata({ version: 3, sources: [], ...(parts as object) }));
const split = (parts: unknown) => splitActions(exported(parts));
const joined = ({ sdl, settings }: ReturnType<typeof split>) => exported(joinActions(sdl, settings));

test('SDL says types and arguments, settings the rest', () => {
  const { sdl, settings } = split(DOCUMENT);
  expect(sdl).toBe(`type Query {
  greet(
    """whom"""
    to: Person!
  ): Greeting
}

type Mutation {
  register: [Greeting!]!
}

enum Mood {
  glad
  """x"""
  sad @deprecated
}

input Person {
  """
  full
    name
  """
  name: String!
}

"""what is said"""
type Greeting {
  text: String!
  author_id: Int!
}

"""
a "day"
"""
scalar Day
`);
  expect(settings['actions']).toEqual([
    {
      name: 'greet',
      definition: { kind: '', handler: '{{BASE}}/greet', timeout: 5 },
      comment: 'says hello',
      permissions: [{ role: 'user' }],
    },
    { name: 'register', definition: { kind: 'asynchronous', handler: 'http://a' } },
  ]);
  expect(settings['custom_types']).toEqual({
    enums: DOCUMENT.custom_types.enums,
    input_objects: [{ name: 'Person' }],
    objects: [
      {
        name: 'Greeting',
        description: 'what is said',
        relationships: DOCUMENT.custom_types.objects[0]!.relationships,
      },
    ],
    scalars: [{ name: 'Day', description: 'a "day"' }],
  });
});

test('joined, they are what they were', () => {
  expect(JSON.stringify(joined(split(DOCUMENT)))).toBe(JSON.stringify(exported(DOCUMENT)));
});

test('any description comes back as it was', () => {
  assert(
    property(option(string({ unit: 'binary' }), { nil: undefined }), string({ unit: 'grapheme' }), (a, b) => {
      const [description, inner] = [a, b].map((text) => text?.replaceAll(/\0|\p{Cs}/gu, ''));
      const fields = [{ name: 'f', type: 'Int', description: inner }];
      const types = { custom_types: { objects: [{ name: 'T', description, fields }] } };
      const { sdl, settings } = split(types);
      expect(parse(sdl).definitions).toHaveLength(1);
      expect(joined({ sdl, settings })).toEqual(exported(types));
    }),
    {
      numRuns: 300,
      examples: [
        ['a\u2028b', '\u2028'],
        ['a\n\nb', ' \n'],
      ],
    },
  );
});

test('written in other ways, with a type for each action or an extension, it is read the same', () => {
  const { settings } = split(DOCUMENT);
  const sdl = `type Query { greet("whom" to: Person!): Greeting }
    extend type Mutation { register: [Greeting!]! }
    "a \\"day\\"" scalar Day  # a comment
    enum Mood { glad "x" sad @deprecated(reason: "no") }
    input Person { "full\\n  name" name: String! }
    "what is said" type Greeting { text: String! author_id: Int! }`;
  expect(joined({ sdl, settings })).toEqual(exported(DOCUMENT));
});

test.each([
  [
    'an action that only settings name',
    'type Query { other: Int }',
    'action greet is not present in actions.graphql',
  ],
  [
    'an action that only the SDL names',
    'type Query { greet: Int other: Int } type Mutation { register: Int }',
    'action other is not present in actions.yaml',
  ],
  ['text that is no SDL', 'type {', 'Syntax Error: Expected Name, found "{". (line 1)'],
  ['a union', 'union U = A', 'UnionTypeDefinition has no place among actions and custom types'],
])('%s is refused', (_name, sdl, message) => {
  const settings = split({ actions: DOCUMENT.actions }).settings;
  expect(isRecord(settings)).toBe(true);
  expect(() => joinActions(sdl, settings)).toThrow(message);
});
