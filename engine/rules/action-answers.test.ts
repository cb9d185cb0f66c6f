/** What the webhook of an action answers × the type that is expected. The rule says which answers are refused, with which message,
 *  and what is left of the others. Rule: docs/reference/behaviour/actions.md, "Response". */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
let reply: { status?: number; body: string } = { body: '' };
const webhook = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json' });
    response.end(reply.body);
  });
});

const SCALAR_TYPES = ['Int', 'Float', 'String', 'Boolean', 'ID', 'Odd', 'jsonb'] as const;

/** Output types by the name of their action, and a selection for each. */
const OUTPUTS: Readonly<Record<string, { type: string; selection: string }>> = {
  ...Object.fromEntries(
    SCALAR_TYPES.flatMap((name) => [
      [`one_${name}`, { type: name, selection: '' }],
      [`must_${name}`, { type: `${name}!`, selection: '' }],
      [`all_${name}`, { type: `[${name}!]`, selection: '' }],
    ]),
  ),
  one_Thing: { type: 'Thing', selection: '{ id note inner { id } inners { id } scalars odd }' },
  must_Thing: { type: 'Thing!', selection: '{ id }' },
  all_Thing: { type: '[Thing!]!', selection: '{ id }' },
  one_unselected: { type: 'Thing', selection: '{ note }' },
};

beforeAll(async () => {
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  const handler = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}`;
  world = await startWorld({
    sql: 'create table author (id int primary key)',
    tables: ['author'],
    operations: [
      [
        'set_custom_types',
        {
          scalars: [{ name: 'Odd' }],
          objects: [
            { name: 'Inner', fields: [{ name: 'id', type: 'Int!' }] },
            {
              name: 'Thing',
              fields: [
                { name: 'id', type: 'Int!' },
                { name: 'note', type: 'String' },
                { name: 'inner', type: 'Inner' },
                { name: 'inners', type: '[Inner!]' },
                { name: 'scalars', type: '[Int!]' },
                { name: 'odd', type: 'Odd' },
              ],
            },
          ],
        },
      ],
      ...Object.entries(OUTPUTS).map(([name, { type }]) => {
        return [
          'create_action',
          { name, definition: { type: 'query', handler, output_type: type } },
        ] as const;
      }),
    ],
  });
});
afterAll(async () => {
  await world?.close();
  webhook.close();
});

async function answered(action: string, body: unknown, status = 200) {
  reply = { status, body: typeof body === 'string' && status < 0 ? body : JSON.stringify(body) };
  return graphqlOutcome(world.engine, `{ ${action} ${OUTPUTS[action]!.selection} }`);
}

const refused = (message: string) => ({ code: 'unexpected', path: '$', message });

/** JSON values by their names in messages. */
const VALUES: Readonly<Record<string, unknown>> = {
  'scalar Number': 7,
  'scalar String': 'text',
  'scalar Boolean': true,
  array: [1],
  object: { id: 1 },
};

/** The kinds of values that a scalar accepts; other scalars accept every value that is no array. */
const ACCEPTED: Readonly<Record<string, readonly string[]>> = {
  Int: ['scalar Number'],
  Float: ['scalar Number'],
  String: ['scalar String'],
  Boolean: ['scalar Boolean'],
  ID: ['scalar String', 'scalar Number'],
};

describe.each(SCALAR_TYPES)('an action that returns %s', (type) => {
  test.each(Object.entries(VALUES))('answered with %s', async (kind, value) => {
    const isAccepted = ACCEPTED[type]?.includes(kind) ?? true;
    const outcome = await answered(`one_${type}`, value);
    expect(outcome).toMatchObject(
      isAccepted
        ? { data: { [`one_${type}`]: value } }
        : refused(`got ${kind} for the action webhook response, expecting ${type}`),
    );
    const list = await answered(`all_${type}`, [value]);
    expect(list).toMatchObject(
      isAccepted
        ? { data: { [`all_${type}`]: [value] } }
        : refused(`got ${kind} for the action webhook response, expecting ${type}`),
    );
    if (kind !== 'array') {
      expect(await answered(`all_${type}`, value)).toMatchObject(
        refused('expecting array for the action webhook response'),
      );
    }
  });

  test('answered with null', async () => {
    expect(await answered(`one_${type}`, null)).toEqual({ data: { [`one_${type}`]: null } });
    expect(await answered(`must_${type}`, null)).toMatchObject(
      refused('got null for the action webhook response'),
    );
    expect(await answered(`all_${type}`, [null])).toMatchObject(
      refused('got null for the action webhook response'),
    );
  });
});

describe('an action that returns objects', () => {
  test.each(Object.entries(VALUES).filter(([kind]) => kind !== 'object'))(
    'answered with %s',
    async (kind, value) => {
      const message = `got ${kind} for the action webhook response, expecting Thing`;
      expect(await answered('one_Thing', value)).toMatchObject(refused(message));
      if (kind === 'array') return;
      expect(await answered('all_Thing', [value])).toMatchObject(refused(message));
      expect(await answered('all_Thing', value)).toMatchObject(
        refused('expecting array for the action webhook response'),
      );
    },
  );

  test('null, and an object for a list', async () => {
    expect(await answered('one_Thing', null)).toEqual({ data: { one_Thing: null } });
    expect(await answered('must_Thing', null)).toMatchObject(
      refused('got null for the action webhook response'),
    );
    expect(await answered('all_Thing', { id: 1 })).toMatchObject(
      refused('expecting array for the action webhook response'),
    );
    expect(await answered('all_Thing', [])).toEqual({ data: { all_Thing: [] } });
  });

  test('a field that may not be null is required, selected or not', async () => {
    for (const action of ['one_Thing', 'one_unselected']) {
      expect(await answered(action, { note: 'x' })).toMatchObject(
        refused('field "id" expected in webhook response, but not found'),
      );
      expect(await answered(action, { id: null })).toMatchObject(
        refused('expecting not null value for field "id"'),
      );
    }
  });

  /** Each nullable field absent, null and present: a scalar that is absent is null, an object or a list of objects is left out. */
  const PRESENT = { note: 'x', inner: { id: 2 }, inners: [{ id: 3 }], scalars: [1], odd: { any: 1 } };
  const OBJECTS = new Set(['inner', 'inners']);
  test.each(
    Object.keys(PRESENT).flatMap((name) =>
      ['absent', 'null', 'present'].map((state) => [name, state] as const),
    ),
  )('%s is %s', async (name, state) => {
    const given = { id: 1, ...PRESENT };
    const body = Object.fromEntries(
      Object.entries(given).flatMap(([key, value]): [string, unknown][] =>
        key !== name || state === 'present' ? [[key, value]] : state === 'null' ? [[key, null]] : [],
      ),
    );
    const isLeftOut = state === 'absent' && OBJECTS.has(name);
    const expected = isLeftOut
      ? body
      : { ...given, [name]: state === 'present' ? given[name as 'note'] : null };
    expect(await answered('one_Thing', { ...body, unknown: 'ignored' })).toEqual({
      data: { one_Thing: expected },
    });
  });
});

describe('a status that is no success', () => {
  const message = 'said so';
  test.each([
    ['a message', 400, { message }, { code: 'unexpected', path: '$', message }],
    ['a code', 404, { message, code: 'mine' }, { code: 'mine', path: '$', message }],
    [
      'extensions',
      422,
      { message, extensions: { code: 'mine', hint: 1 } },
      { code: 'mine', hint: 1, message },
    ],
    ['both', 400, { message, code: 'other', extensions: { code: 'mine' } }, { code: 'mine', message }],
    ['no message', 400, { code: 'mine' }, { code: 'unexpected', path: '$', message: 'internal error' }],
    [
      'an error of the service',
      500,
      { message },
      { code: 'unexpected', path: '$', message: 'internal error' },
    ],
    ['a redirect', 302, { message }, { code: 'unexpected', path: '$', message: 'internal error' }],
  ])('%s', async (_, status, body, expected) => {
    expect(await answered('one_Thing', body, status)).toMatchObject(expected);
  });

  test.each([200, 400])('no JSON with status %d', async (status) => {
    reply = { status, body: 'not JSON' };
    expect(await graphqlOutcome(world.engine, '{ one_Int }')).toMatchObject(
      refused('not a valid json response from webhook'),
    );
  });
});
