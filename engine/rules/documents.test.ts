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

/** Mistakes of the document as a whole. */
test.each<
  [string, string, Parameters<typeof graphqlOutcome>[2], { code?: string; path?: string; message: string }]
>([
  ['no text', '', {}, { path: '$.query', message: 'not a valid graphql query' }],
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
])('%s is refused', async (_, text, options, { code = 'validation-failed', path = '$', message }) => {
  expect(await ask(text, options)).toMatchObject({ code, path, message });
});

test('unused variables without values, unused fragments and a second operation of one name are fine', async () => {
  const text = `query A($n: Int, $m: NoType) @cached(ttl: 5) { author { id } }
    query A { nope } fragment F on nope { nope ...Nope }`;
  expect(await ask(text, { operationName: 'A' })).toEqual({ data: { author: [{ id: 1 }] } });
});
