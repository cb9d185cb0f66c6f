/** Response transforms of actions: templates × answers of the webhook. Each template has a function that says what it makes of an answer, or that
 *  it fails. Rule: docs/reference/behaviour/actions.md, "Transforms". */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminOutcome, graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

type Answer = { readonly status: number; readonly body: unknown };
type Made = { readonly value: unknown } | 'fails';

let answer: Answer = { status: 200, body: null };
let webhook: Server;
let world: RuleWorld;

const FIELD = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null && !Array.isArray(body)
    ? (body as Record<string, unknown>)[name]
    : undefined;
const needs = (value: unknown): Made => (value === undefined ? 'fails' : { value });

/** Templates, and what each makes of an answer. */
const TEMPLATES: Readonly<Record<string, readonly [template: string, makes: (given: Answer) => Made]>> = {
  identity: ['{{$body}}', ({ body }) => ({ value: body })],
  constant: ['{"fixed": [1, null, "x"]}', () => ({ value: { fixed: [1, null, 'x'] } })],
  member: ['{{$body.n}}', ({ body }) => needs(FIELD(body, 'n'))],
  'optional member': [
    '{"n": {{$body?.n ?? "none"}}}',
    ({ body }) => ({ value: { n: FIELD(body, 'n') ?? 'none' } }),
  ],
  status: ['{"status": {{$response.status}}}', ({ status }) => ({ value: { status } })],
  role: ['{{$session_variables["x-engine-role"]}}', () => ({ value: 'admin' })],
  'a variable that is not there': ['{{getSessionVariable("x-engine-none")}}', () => 'fails'],
  condition: [
    '{{if $response.status == 200}}"fine"{{else}}{"message": "changed", "extensions": {"code": "new"}}{{end}}',
    ({ status }) => ({
      value: status === 200 ? 'fine' : { message: 'changed', extensions: { code: 'new' } },
    }),
  ],
  range: [
    '{{range i, x := $body.list}}{"at": {{i}}, "is": {{x}}}{{end}}',
    ({ body }) => {
      const list = FIELD(body, 'list');
      return Array.isArray(list) ? { value: list.map((is, at) => ({ at, is })) } : 'fails';
    },
  ],
  'an unknown binding': ['{{$nope}}', () => 'fails'],
};

const ANSWERS: readonly Answer[] = [
  { status: 200, body: { n: 1, list: ['a', 'b'] } },
  { status: 201, body: { n: null, list: [] } },
  { status: 200, body: [] },
  { status: 200, body: null },
  { status: 200, body: 'text' },
  { status: 400, body: { message: 'refused', n: 7, extensions: { code: 'own' } } },
];

const BODIES: Readonly<Record<string, (template: string) => object | string>> = {
  'version 2': (template) => ({ version: 2, body: { action: 'transform', template } }),
  'version 1': (template) => ({ version: 1, body: template }),
};

const nameOf = (template: string, form: string) => `a_${template.replace(/\W/g, '_')}_${form.at(-1)}`;

beforeAll(async () => {
  webhook = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  const handler = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}`;
  const actions = Object.entries(TEMPLATES).flatMap(([name, [template]]) =>
    Object.entries(BODIES).map(
      ([form, body]) =>
        [
          'create_action',
          {
            name: nameOf(name, form),
            definition: { handler, type: 'query', output_type: 'Any', response_transform: body(template) },
          },
        ] as const,
    ),
  );
  world = await startWorld({
    sql: 'select 1',
    tables: [],
    operations: [['set_custom_types', { scalars: [{ name: 'Any' }] }], ...actions],
  });
});
afterAll(async () => {
  await world?.close();
  webhook?.close();
});

describe.each(Object.entries(TEMPLATES))('%s: %s', (name, [, makes]) => {
  test.each(Object.keys(BODIES))('%s', async (form) => {
    for (const given of ANSWERS) {
      answer = given;
      const field = nameOf(name, form);
      const outcome = await graphqlOutcome(world.engine, `{ ${field} }`);
      const made = makes(given);
      const about = JSON.stringify(given);
      if (made === 'fails') {
        expect(outcome, about).toMatchObject({
          code: 'unexpected',
          path: '$',
          message: 'the response transform failed',
        });
      } else if (given.status < 300) expect(outcome, about).toEqual({ data: { [field]: made.value } });
      else {
        const message = FIELD(made.value, 'message');
        const code = FIELD(FIELD(made.value, 'extensions'), 'code');
        // The transform makes the refusal too; without a message it is none.
        expect(outcome, about).toMatchObject(
          message === undefined ? { message: 'internal error' } : { message, code },
        );
      }
    }
  });
});

test('a body that is removed is null, and a form is its text', async () => {
  const handler = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}`;
  const create = (name: string, body: object) =>
    adminOutcome(world.engine, 'create_action', {
      name,
      definition: { handler, type: 'query', output_type: 'Any', response_transform: { version: 2, body } },
    });
  await create('removed', { action: 'remove' });
  await create('form', { action: 'x_www_form_urlencoded', form_template: { a: '{{$body.n}}', b: 'x y' } });
  answer = { status: 200, body: { n: 'é&' } };
  expect(await graphqlOutcome(world.engine, '{ removed }')).toEqual({ data: { removed: null } });
  expect(await graphqlOutcome(world.engine, '{ form }')).toEqual({ data: { form: 'a=%C3%A9%26&b=x%20y' } });
});
