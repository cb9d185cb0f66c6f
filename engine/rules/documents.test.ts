/** A GraphQL document before any value is looked at: fields, arguments, directives, fragments and variables. Each mistake is put
 *  at every position, and the rule computes where it is reported: a mistake of a type at its field, one of a spread along
 *  fields and named fragments. Rule: docs/reference/behaviour/queries.md, "Documents". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await startWorld({
    sql: `create table author (id int primary key, name text);
      create table article (id int primary key, title text, author_id int references author);
      insert into author values (1, 'Ada'); insert into article values (1, 'One', 1);`,
    tables: ['author', 'article'],
    operations: [
      [
        'pg_create_array_relationship',
        {
          table: 'author',
          name: 'articles',
          using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } },
        },
      ],
      [
        'pg_create_object_relationship',
        { table: 'article', name: 'author', using: { foreign_key_constraint_on: 'author_id' } },
      ],
    ],
  });
});
afterAll(() => world?.close());

const ask = (query: string, options?: Parameters<typeof graphqlOutcome>[2]) =>
  graphqlOutcome(world.engine, query, options);

/** A step to a selection on `author`: a field, a named fragment, or an inline one. */
type Step = 'author' | 'articles.author' | 'aggregate' | 'named' | 'inline' | 'untyped';

const WAYS: readonly (readonly Step[])[] = [
  [],
  ['named'],
  ['inline'],
  ['untyped', 'named'],
  ['articles.author'],
  ['named', 'articles.author', 'named'],
  ['aggregate', 'inline', 'articles.author'],
];

type Placed = { readonly text: string; readonly typePath: string; readonly spreadPath: string };

/** Places a selection on `author` behind the steps. */
function placed(way: readonly Step[], inner: string): Placed {
  const fragments: string[] = [];
  const selection = way.reduceRight((body, step, i) => {
    if (step === 'inline') return `... on author { ${body} }`;
    if (step === 'untyped') return `... { ${body} }`;
    if (step === 'articles.author') return `articles { author { ${body} } }`;
    if (step === 'aggregate') return `articles_aggregate { nodes { author { ${body} } } }`;
    fragments.push(`fragment F${i} on author { ${body} }`);
    return `...F${i}`;
  }, inner);
  const fields = ['author', ...way.flatMap((step) => FIELDS[step])];
  const trail = ['author', ...way.flatMap((step, i) => (step === 'named' ? [`F${i}`] : FIELDS[step]))];
  return {
    text: `query Q { author { ${selection} } } ${fragments.join(' ')}`,
    typePath: pathOf(fields),
    spreadPath: pathOf(trail),
  };
}

const FIELDS: Readonly<Record<Step, readonly string[]>> = {
  author: ['author'],
  'articles.author': ['articles', 'author'],
  aggregate: ['articles_aggregate', 'nodes', 'author'],
  named: [],
  inline: [],
  untyped: [],
};

const pathOf = (steps: readonly string[]) =>
  `$${steps.map((step) => `.selectionSet.${step}`).join('')}.selectionSet`;

type Mistake = readonly [selection: string, at: string, message: string];

/** Mistakes of types, with their path below the selection. */
const MISTAKES: readonly Mistake[] = [
  ['nope', '.nope', "field 'nope' not found in type: 'author'"],
  ['x: nope(a: 1) { b }', '.nope', "field 'nope' not found in type: 'author'"],
  ['articles', '.articles.selectionSet', "missing selection set for 'article'"],
  ['id { x }', '.id', 'unexpected subselection set for non-object field'],
  ['id(a: 1)', '.id', "'id' has no argument named 'a'"],
  ['articles(first: 1) { id }', '.articles', "'articles' has no argument named 'first'"],
  [
    'articles(where: { nope: {} }) { id }',
    '.articles.args.where.nope',
    "field 'nope' not found in type: 'article_bool_exp'",
  ],
  ['id @nope', '', "directive 'nope' is not defined in the schema"],
  ['... @nope { id }', '', "directive 'nope' is not defined in the schema"],
  ['id @cached', '', "directive 'cached' is not allowed on a field"],
  ['... @cached { id }', '', "directive 'cached' is not allowed on an inline fragment"],
  ['id @_multiple_top_level_fields', '', "directive '_multiple_top_level_fields' is not allowed on a field"],
  ['id @skip(if: false) @skip(if: false)', '', "the following directives are used more than once: ['skip']"],
  ['x: id x: name', '', "selection of both 'id' and 'name' specify the same response name, 'x'"],
  [
    'articles { id } articles(limit: 1) { id }',
    '',
    "inconsistent arguments between multiple selections of field 'articles'",
  ],
  ...['skip', 'include'].flatMap((name): readonly Mistake[] => [
    [`id @${name}`, `.${name}.args.if`, "missing required field 'if'"],
    [`id @${name}(on: true)`, `.${name}`, `'${name}' has no argument named 'on'`],
    [
      `id @${name}(if: "yes")`,
      `.${name}.args.if`,
      "expected a boolean for type 'Boolean', but found a string",
    ],
  ]),
];

type Condition = { readonly declared: string; readonly text: string; readonly variables: object };

/** Ways to write a condition with a value: a literal, a variable, and the default of a variable. */
const CONDITIONS: readonly ((value: boolean) => Condition)[] = [
  (value) => ({ declared: '', text: String(value), variables: {} }),
  (value) => ({ declared: '($it: Boolean!)', text: '$it', variables: { it: value } }),
  (value) => ({ declared: `($it: Boolean! = ${value})`, text: '$it', variables: {} }),
  (value) => ({ declared: `($it: Boolean! = ${!value})`, text: '$it', variables: { it: value } }),
];

describe.each(WAYS.map((way) => [way.join(' > ') || 'the field itself', way] as const))(
  'below %s',
  (_, way) => {
    test('a mistake of a type is reported at its fields, whatever fragments lead there', async () => {
      for (const [selection, at, message] of MISTAKES) {
        const { text, typePath } = placed(way, selection);
        expect(await ask(text), text).toEqual({ code: 'validation-failed', path: typePath + at, message });
      }
    });

    test('a mistake in what a condition skips is not reported, and the rest is', async () => {
      for (const directive of ['skip', 'include']) {
        for (const conditionOf of CONDITIONS) {
          for (const [mistake, type, inner] of [
            ['nope @', 'author', '.nope'],
            ['articles @ { nope }', 'article', '.articles.selectionSet.nope'],
            ['... on author @ { nope }', 'author', '.nope'],
          ] as const) {
            const request = (value: boolean) => {
              const { declared, text: condition, variables } = conditionOf(value);
              const { text, typePath } = placed(
                way,
                `id ${mistake.replace('@', `@${directive}(if: ${condition})`)}`,
              );
              return {
                query: text.replace('query Q', `query Q${declared}`),
                typePath,
                variables: { ...variables },
              };
            };
            const leftOut = request(directive === 'skip');
            expect(await ask(leftOut.query, leftOut), leftOut.query).toHaveProperty('data');
            const kept = request(directive !== 'skip');
            expect(await ask(kept.query, kept), kept.query).toEqual({
              code: 'validation-failed',
              path: kept.typePath + inner,
              message: `field 'nope' not found in type: '${type}'`,
            });
          }
        }
      }
    });

    test('an unknown fragment is reported along fields and named fragments', async () => {
      const { text, spreadPath } = placed(way, '...Nope');
      expect(await ask(text)).toEqual({
        code: 'validation-failed',
        path: spreadPath,
        message: 'reference to undefined fragment "Nope"',
      });
    });

    test('a cycle is reported where it closes, with its members in order', async () => {
      for (const size of [1, 2, 3]) {
        const names = Array.from({ length: size }, (__, i) => `C${i}`);
        const cycle = names.map(
          (name, i) => `fragment ${name} on author { articles { author { ...${names[(i + 1) % size]} } } }`,
        );
        const { text, spreadPath } = placed(way, '...C0');
        const inside = names.map((name) => `.${name}.selectionSet.articles.selectionSet.author.selectionSet`);
        const listed = [...names.slice(0, -2), names.slice(-2).join(size > 2 ? ', and ' : ' and ')].join(
          ', ',
        );
        expect(await ask(`${text} ${cycle.join(' ')}`), text).toEqual({
          code: 'validation-failed',
          path: spreadPath + inside.join(''),
          message: `the fragment definition(s) ${listed} form a cycle`,
        });
      }
    });

    test('a fragment that cannot apply and what a literal skips are left out, with every mistake in them', async () => {
      const { data } = (await ask(placed(way, 'name').text)) as { data: unknown };
      const mistakes = MISTAKES.map(([selection]) => selection).filter((each) => !each.startsWith('x:'));
      const wrong = [...mistakes, 'nope { ... on nope { nope } }'];
      for (const type of ['article', 'query_root', 'article_bool_exp', 'Int', 'nothing_known']) {
        const { text } = placed(way, `name ... on ${type} { ${wrong.join(' ')} } ...Other`);
        expect(await ask(`${text} fragment Other on ${type} { ${wrong.join(' ')} }`), type).toEqual({ data });
      }
      for (const skip of ['@skip(if: true)', '@include(if: false)']) {
        const { text } = placed(way, `name nope ${skip} articles ${skip} ... ${skip} { ${wrong.join(' ')} }`);
        expect(await ask(text), skip).toEqual({ data });
      }
      // Spreads are followed everywhere, also where nothing can apply.
      expect(await ask(placed(way, 'name ... on article { ...Nope }').text)).toMatchObject({
        message: 'reference to undefined fragment "Nope"',
      });
    });
  },
);

/** Mistakes of introspection, at their fields like those of the data. */
test.each([
  ['__type { name }', '__type.args.name', "missing required field 'name'"],
  [
    '__type(name: 1) { name }',
    '__type.args.name',
    "expected a string for type 'String', but found an integer",
  ],
  [
    '__type(name: "author") { of: fields(includeDeprecated: 1) { name } }',
    '__type.selectionSet.fields.args.includeDeprecated',
    "expected a boolean for type 'Boolean', but found an integer",
  ],
  [
    '__schema { types { fields(includeDeprecated: null) { name } } }',
    '__schema.selectionSet.types.selectionSet.fields.args.includeDeprecated',
    "expected a boolean for type 'Boolean', but found null",
  ],
  [
    '__schema { ...F }',
    '__schema.selectionSet.queryType.selectionSet.include.args.if',
    "expected a boolean for type 'Boolean', but found an integer",
  ],
  ['__schema { nope }', '__schema.selectionSet.nope', "field 'nope' not found in type: '__Schema'"],
])('introspection refuses %s', async (selection, path, message) => {
  const fragment = selection.includes('...F')
    ? 'fragment F on __Schema { queryType { name @include(if: 1) } }'
    : '';
  expect(await ask(`{ ${selection} } ${fragment}`)).toEqual({
    code: 'validation-failed',
    path: `$.selectionSet.${path}`,
    message,
  });
});

/** Mistakes of the document as a whole. */
type Mistaken = [
  name: string,
  text: string,
  options: Parameters<typeof graphqlOutcome>[2],
  refusal: { code?: string; path?: string; message: string },
];

/** Values of `ttl` that are no integer, or null. */
const TTLS = [
  ['"5"', 'a string'],
  ['1.5', 'a float'],
  ['null', 'null'],
  ['[5]', 'a list'],
] as const;

test.each<Mistaken>([
  ['no text', '', {}, { path: '$.query', message: 'not a valid graphql query' }],
  ...[
    'type author { id: Int }',
    'extend type author { x: Int }',
    'schema { query: author }',
    'directive @nope on FIELD',
    'scalar nope',
  ].map(
    (definition): Mistaken => [
      `a definition of the schema, ${definition}`,
      `{ author { id } } ${definition}`,
      {},
      { path: '$.query', message: 'not a valid graphql query' },
    ],
  ),
  [
    'an argument twice',
    '{ author(limit: 1, limit: 1) { id } }',
    {},
    { path: '$.query', message: 'not a valid graphql query' },
  ],
  [
    'a field of an object twice',
    '{ author(where: { id: {}, id: {} }) { id } }',
    {},
    { path: '$.query', message: 'not a valid graphql query' },
  ],
  [
    'a fragment twice, even unused',
    '{ author { id } } fragment F on author { id } fragment F on author { id }',
    {},
    { code: 'parse-failed', message: 'multiple definitions for fragment "F"' },
  ],
  [
    'a variable twice',
    'query ($a: Int, $a: Int) { author { id } }',
    {},
    { code: 'parse-failed', message: 'multiple definitions for variable "a"' },
  ],
  ['an unbound variable', '{ author(limit: $n) { id } }', {}, { message: 'unbound variable "n"' }],
  [
    'an unbound variable of a skipped field',
    '{ author { id nope(a: [{ b: $n }]) @skip(if: true) } }',
    {},
    { message: 'unbound variable "n"' },
  ],
  [
    'a variable without a value',
    'query ($n: Int!) { author { id } }',
    {},
    { message: 'expecting a value for non-nullable variable: "n"' },
  ],
  [
    'a value for an undeclared variable',
    '{ author { id } }',
    { variables: { n: 1 } },
    { message: 'unexpected variables in variableValues: n' },
  ],
  [
    'a value for an unused variable',
    'query ($n: Int) { author { id } }',
    { variables: { n: null } },
    { message: 'unexpected variables in variableValues: n' },
  ],
  [
    'several operations without a name',
    'query A { author { id } } query B { author { id } }',
    {},
    {
      message: 'exactly one operation has to be present in the document when operationName is not specified',
    },
  ],
  [
    'an unknown operation',
    'query A { author { id } }',
    { operationName: 'B' },
    { message: 'no such operation found in the document: "B"' },
  ],
  [
    'an unknown directive',
    'query @nope { author { id } }',
    {},
    { message: "directive 'nope' is not defined in the schema" },
  ],
  [
    'a misplaced directive',
    'query @skip(if: true) { author { id } }',
    {},
    { message: "directive 'skip' is not allowed on a query" },
  ],
  [
    'a misplaced cache hint',
    'mutation @cached { delete_author(where: {}) { affected_rows } }',
    {},
    { message: "directive 'cached' is not allowed on a mutation" },
  ],
  [
    'an unknown argument of a cache hint',
    'query @cached(for: 1) { author { id } }',
    {},
    { path: '$.cached', message: "'cached' has no argument named 'for'" },
  ],
  ...TTLS.map(
    ([value, found]): Mistaken => [
      `a cache hint with ${found}`,
      `query @cached(ttl: ${value}) { author { id } }`,
      {},
      { path: '$.cached.args.ttl', message: `expected a 32-bit integer for type 'Int', but found ${found}` },
    ],
  ),
  [
    'a cache hint with a variable of another type',
    'query ($s: String) @cached(ttl: $s) { author { id } }',
    { variables: { s: '5' } },
    {
      path: '$.cached.args.ttl',
      message: "variable 's' is declared as 'String', but used where 'Int!' is expected",
    },
  ],
  [
    'a cache hint that is neither fresh nor not',
    'query @cached(refresh: 1) { author { id } }',
    {},
    {
      path: '$.cached.args.refresh',
      message: "expected a boolean for type 'Boolean', but found an integer",
    },
  ],
  [
    'an unknown directive of a variable',
    'query ($n: Int @nope) { author(limit: $n) { id } }',
    {},
    { message: "directive 'nope' is not defined in the schema" },
  ],
  [
    'a directive of a variable',
    'query ($n: Int @skip(if: true)) { author(limit: $n) { id } }',
    {},
    { message: "directive 'skip' is not allowed on a variable definition" },
  ],
  [
    'null as the default of a non-null variable',
    'query ($n: Int! = null) { author(limit: $n) { id } }',
    {},
    { message: 'null value found for non-nullable type: "Int!"' },
  ],
])('%s is refused', async (_, text, options, { code = 'validation-failed', path = '$', message }) => {
  expect(await ask(text, options)).toMatchObject({ code, path, message });
});

/** Defaults that are no literals of the type at the position where the variable is used, and a value that is. */
test.each([
  [
    'order_by',
    '"asc"',
    'desc',
    '{ author(order_by: [{ id: $v }]) { id } }',
    'order_by[0].id',
    "expected an enum value for type 'order_by', but found a string",
  ],
  [
    '[author_select_column!]',
    '["id"]',
    ['id'],
    '{ author(distinct_on: $v) { id } }',
    'distinct_on[0]',
    "expected an enum value for type 'author_select_column', but found a string",
  ],
  [
    'author_order_by',
    '{ name: "asc" }',
    { name: 'asc' },
    '{ author(order_by: [$v]) { id } }',
    'order_by[0].name',
    "expected an enum value for type 'order_by', but found a string",
  ],
  [
    'Int',
    '1.0',
    1,
    '{ author(limit: $v) { id } }',
    'limit',
    "expected a non-negative 32-bit integer for type 'Int', but found a float",
  ],
  [
    'Int',
    'one',
    1,
    '{ author(limit: $v) { id } }',
    'limit',
    "expected a non-negative 32-bit integer for type 'Int', but found an enum value",
  ],
])(
  'a default %s = %s is refused where it is used',
  async (type, standard, value, selection, path, message) => {
    const text = `query ($v: ${type} = ${standard}) ${selection}`;
    const refusal = { code: 'validation-failed', path: `$.selectionSet.author.args.${path}`, message };
    expect(await ask(text)).toEqual(refusal);
    expect(await ask(text, { variables: { v: value } })).toHaveProperty('data');
    expect(await ask(text)).toEqual(refusal);
  },
);

test('unused variables without values, unused fragments and a second operation of one name are fine', async () => {
  const text = `query A($n: Int, $m: NoType) @cached(ttl: 5) { author { id } }
    query A { nope } query B($s: Int!) @cached(ttl: $s, refresh: true) { author { id } } fragment F on nope { nope ...Nope }`;
  expect(await ask(text, { operationName: 'A' })).toEqual({ data: { author: [{ id: 1 }] } });
  const inB = { operationName: 'B', variables: { s: 5 } };
  expect(await ask(text, inB)).toEqual({ data: { author: [{ id: 1 }] } });
});
