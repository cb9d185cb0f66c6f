/** `test_webhook_transform`: what would be sent, and what is said of templates that do not work. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let engine: AdminTestEngine;
beforeAll(async () => {
  engine = await startTestEngine({ env: { HOST: 'http://host.example' }, hasDatabaseUrl: false });
});
afterAll(() => engine.close());

const tried = (args: object) =>
  engine.metadata(op('test_webhook_transform', { body: { name: 'Ada' }, ...args }));

test('returns URL, method, headers sorted by name, and body', async () => {
  const request_transform = {
    version: 2,
    method: 'post',
    url: '{{$base_url}}/people',
    query_params: { q: '{{$body.name}}' },
    request_headers: { add_headers: { 'X-B': '1', 'X-A': '{{getSessionVariable("x-engine-user-id")}}' } },
    body: { action: 'transform', template: '{"who": {{$body.name}}}' },
  };
  const session_variables = { 'x-engine-user-id': '7' };
  expect(await tried({ webhook_url: '{{HOST}}', session_variables, request_transform })).toEqual({
    status: 200,
    body: {
      webhook_url: 'http://host.example/people?q=Ada',
      method: 'POST',
      headers: [
        ['x-a', '7'],
        ['x-b', '1'],
      ],
      body: { who: 'Ada' },
    },
  });
});

test('values of the request override the engine’s environment', async () => {
  const args = {
    webhook_url: { from_env: 'HOST' },
    env: { HOST: 'http://other.example' },
    request_transform: {},
  };
  expect((await tried(args)).body).toMatchObject({ webhook_url: 'http://other.example/', method: 'GET' });
  expect(await tried({ webhook_url: '{{NOPE}}', request_transform: {} })).toMatchObject({
    status: 400,
    body: { code: 'validation-failed', path: '$.args.webhook_url' },
  });
});

test('reports the position of an error in a template', async () => {
  const webhook_url = 'http://host.example';
  const transform = (template: string) => ({ version: 2, body: { action: 'transform', template } });
  expect(await tried({ webhook_url, request_transform: transform('{{ $body.world }}') })).toEqual({
    status: 400,
    body: {
      path: '$.args',
      code: 'validation-failed',
      error: 'request transform validation failed',
      internal: [
        {
          error_code: 'Attribute Error',
          message: "'Object' has no attribute 'world'.",
          source_position: { start_line: 0, start_column: 4, end_line: 0, end_column: 15 },
        },
      ],
    },
  });
  const response_transform = transform('$body.hello }}');
  expect(await tried({ webhook_url, request_transform: {}, response_transform })).toMatchObject({
    body: { error: 'response transform validation failed', internal: [{ error_code: 'Parse Error' }] },
  });
});
