/** Patterns that Postgres would take too long for: every operator × every way by which a pattern comes. Rule:
 *  docs/reference/behaviour/operators.md, "Costs of patterns": they are refused before the statement runs, alone or together, and an ordinary pattern passes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSocket } from '../../testing/websocket.ts';
import { adminOutcome, graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

/** For each operator a pattern that matches, one that costs too much, and one that costs half of what may be. */
const PATTERNS = {
  _similar: ['(r|s)%', '%'.repeat(1000), `r${'%'.repeat(90)}`],
  _nsimilar: ['a%', '%'.repeat(1000), `a${'%'.repeat(90)}`],
  _regex: ['^r.w$', '.*'.repeat(1000), `^r${'.*'.repeat(90)}`],
  _nregex: ['^a', '.*'.repeat(1000), `^a${'.*'.repeat(90)}`],
  _iregex: ['^R.W$', '(a|b)*'.repeat(400), `^R${'.*'.repeat(90)}`],
  _niregex: ['^A', '(a|b)*'.repeat(400), `^A${'.*'.repeat(90)}`],
} as const;
type Operator = keyof typeof PATTERNS;
const OPERATORS = Object.keys(PATTERNS) as Operator[];
const MESSAGE = 'the pattern is too complex: Postgres would take too long for it';
const REFUSED = { code: 'validation-failed', message: MESSAGE };

let world: RuleWorld;
beforeAll(async () => {
  const filters = OPERATORS.map((operator): readonly [string, object] => [
    'pg_create_select_permission',
    {
      ...{ table: 'note', role: operator.slice(1) },
      permission: { columns: '*', filter: { text: { [operator]: 'X-Engine-Pattern' } } },
    },
  ]);
  const queries = OPERATORS.map((operator) => ({
    name: operator,
    query: `query ($p: String) { note(where: {text: {${operator}: $p}}) { text } }`,
  }));
  world = await startWorld({
    sql: `create table note (id int primary key, text text, doc jsonb default '{}'); insert into note values (1, 'row')`,
    tables: ['note'],
    operations: [
      ...filters,
      ['create_query_collection', { name: 'c', definition: { queries } }],
      ...OPERATORS.map((operator): readonly [string, object] => [
        'create_rest_endpoint',
        {
          ...{ name: operator, url: operator, methods: ['POST'] },
          definition: { query: { collection_name: 'c', query_name: operator } },
        },
      ]),
    ],
  });
});
afterAll(() => world?.close());

/** Each way by which a pattern comes: its outcome, and the path of the refusal. */
const WAYS: Readonly<
  Record<
    string,
    {
      readonly path: (operator: Operator) => string;
      readonly send: (operator: Operator, pattern: string) => Promise<unknown>;
    }
  >
> = {
  'in the document': {
    path: (operator) => `$.selectionSet.note.args.where.text.${operator}`,
    send: (operator, pattern) =>
      graphqlOutcome(
        world.engine,
        `{ note(where: {text: {${operator}: ${JSON.stringify(pattern)}}}) { text } }`,
      ),
  },
  'in a condition of the document': {
    path: (operator) => `$.selectionSet.note.args.where._not._not.doc._cast.String.${operator}`,
    send: async (operator, pattern) => {
      const where = `{_not: {_not: {doc: {_cast: {String: {${operator}: ${JSON.stringify(pattern)}}}}}}}`;
      const outcome = await graphqlOutcome(world.engine, `{ note(where: ${where}) { text } }`);
      // The text is another one.
      return 'code' in outcome ? outcome : { data: { note: [{ text: 'row' }] } };
    },
  },
  'as a variable': {
    path: () => '$.variables.p',
    send: (operator, pattern) =>
      graphqlOutcome(world.engine, `query ($p: String) { note(where: {text: {${operator}: $p}}) { text } }`, {
        variables: { p: pattern },
      }),
  },
  'inside a variable': {
    path: (operator) => `$.variables.w._or[0].text.${operator}`,
    send: (operator, pattern) =>
      graphqlOutcome(world.engine, 'query ($w: note_bool_exp) { note(where: $w) { text } }', {
        variables: { w: { _or: [{ text: { [operator]: pattern } }] } },
      }),
  },
  'as a session variable of a permission': {
    path: () => '$',
    send: (operator, pattern) =>
      graphqlOutcome(world.engine, '{ note { text } }', {
        role: operator.slice(1),
        headers: { 'x-engine-pattern': pattern },
      }),
  },
  'of a REST endpoint': {
    path: () => '$.variables.p',
    send: async (operator, pattern) => {
      const response = await world.engine.fetch(`/api/rest/${operator}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ p: pattern }),
      });
      const body = (await response.json()) as Readonly<Record<string, unknown>>;
      const { error: message, ...refusal } = body;
      return message === undefined ? { data: body } : { ...refusal, message };
    },
  },
  'of a subscription': {
    path: () => '$.variables.p',
    send: async (operator, pattern) => {
      const headers = { 'x-engine-admin-secret': world.engine.adminSecret };
      const socket = await openSocket(world.engine.url, 'graphql-transport-ws', headers);
      socket.send({ type: 'connection_init', payload: { headers } });
      await socket.next();
      const query = `subscription ($p: String) { note(where: {text: {${operator}: $p}}) { text } }`;
      socket.send({ id: '1', type: 'subscribe', payload: { query, variables: { p: pattern } } });
      const { type, payload } = await socket.next();
      socket.close();
      if (type === 'next') return payload;
      const [{ message, extensions }] = payload as [{ message: string; extensions: object }];
      return { ...extensions, message };
    },
  },
  'of a selection by the admin API': {
    path: () => '$.args',
    send: async (operator, pattern) => {
      const args = {
        table: 'note',
        columns: ['text'],
        where: { text: { [operator.replace('_', '$')]: pattern } },
      };
      const outcome = await adminOutcome(world.engine, 'select', args, { endpoint: '/v1/query' });
      return 'code' in outcome ? outcome : { data: { note: outcome.data } };
    },
  },
};

describe.each(Object.keys(WAYS))('a pattern %s', (way) => {
  const { path, send } = WAYS[way]!;
  test.each(OPERATORS)('of %s', async (operator) => {
    const [ordinary, costly] = PATTERNS[operator];
    const beganAt = performance.now();
    expect(await send(operator, ordinary)).toEqual({ data: { note: [{ text: 'row' }] } });
    expect(await send(operator, costly)).toEqual({ ...REFUSED, path: path(operator) });
    expect(performance.now() - beganAt).toBeLessThan(2_000);
  });
});

test.each(OPERATORS)('patterns of %s count together in one statement', async (operator) => {
  const [, , half] = PATTERNS[operator];
  const where = (count: number) => ({
    _or: Array.from({ length: count }, (_, i) => ({ text: { [operator]: `${half}${i}?` } })),
  });
  const send = (count: number) =>
    graphqlOutcome(world.engine, 'query ($w: note_bool_exp) { note(where: $w) { text } }', {
      variables: { w: where(count) },
    });
  expect(await send(1)).toHaveProperty('data');
  expect(await send(3)).toMatchObject(REFUSED);
});

test('hundreds of ordinary patterns pass', async () => {
  const where = {
    _or: Array.from({ length: 500 }, (_, i) => ({ text: { _iregex: `^some (word|thing)s? .*${i}$` } })),
  };
  const outcome = await graphqlOutcome(
    world.engine,
    'query ($w: note_bool_exp) { note(where: $w) { text } }',
    {
      variables: { w: where },
    },
  );
  expect(outcome).toEqual({ data: { note: [] } });
});

test('a LIKE pattern of a million backslashes is read once', async () => {
  const beganAt = performance.now();
  const outcome = await graphqlOutcome(
    world.engine,
    'query ($p: String) { note(where: {text: {_like: $p}}) { text } }',
    {
      variables: { p: `${'\\'.repeat(1_000_000)}a` },
    },
  );
  expect(outcome).toEqual({ data: { note: [] } });
  expect(performance.now() - beganAt).toBeLessThan(2_000);
});
