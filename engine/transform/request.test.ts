/** What request and response transforms make of a request and its answer. */
import { expect, test } from 'vitest';
import type { RequestTransform } from '../metadata/schema/common.ts';
import { TransformError } from './render.ts';
import { transformRequest } from './request.ts';
import { transformResponse } from './response.ts';

const PLAIN = {
  method: 'POST',
  url: 'http://handler.example/run?a=1',
  headers: new Map([
    ['content-type', 'application/json'],
    ['x-kept', 'yes'],
  ]),
  body: { input: { name: 'Ada', nothing: null } },
};
const made = (transform: RequestTransform) => transformRequest(transform, PLAIN, { 'x-engine-role': 'user' });

test('an empty transform changes nothing', () => {
  expect(made({})).toEqual({ ...PLAIN, body: { kind: 'json', value: PLAIN.body } });
});

test('the transform sets URL and method', () => {
  const { method, url } = made({ method: 'put', url: '{{$base_url}}/{{$body.input.name}}' });
  expect([method, url]).toEqual(['PUT', 'http://handler.example/run?a=1/Ada']);
});

test('an invalid URL is refused', () => {
  expect(() => made({ url: '{{$body.input.name}}' })).toThrow(TransformError);
});

test('parameters are added to those of the URL, escaped; null parameters are omitted', () => {
  const query_params = {
    a: '2',
    'b c': '{{$body.input.name}} & co',
    gone: '{{$body.input.nothing}}',
    bare: null,
  };
  expect(made({ query_params }).url).toBe('http://handler.example/run?a=2&b%20c=Ada%20%26%20co&bare');
});

test('parameters may be one text', () => {
  const query_params = '?x={{ escapeUri $session_variables["nope"] }}';
  expect(() => made({ query_params })).toThrow(TransformError);
  expect(made({ url: 'http://h.example', query_params: '?x={{$body.input.name}}' }).url).toBe(
    'http://h.example?x=Ada',
  );
});

test.each([`{{$session_variables['x-engine-role']}}`, '{{$session_variables["x-engine-role"]}}'])(
  'headers are removed, added and replaced, whatever their case: %s',
  (role) => {
    const request_headers = { remove_headers: ['X-Kept'], add_headers: { 'X-Role': role } };
    expect([...made({ request_headers }).headers]).toEqual([
      ['content-type', 'application/json'],
      ['x-role', 'user'],
    ]);
  },
);

test('a body is created from a template, in both versions', () => {
  const value = { n: 'Ada' };
  expect(made({ body: '{"n": {{$body.input.name}}}' }).body).toEqual({ kind: 'json', value });
  const body = { action: 'transform', template: '{"n": {{$body.input.name}}}' } as const;
  expect(made({ version: 2, body }).body).toEqual({ kind: 'json', value });
});

test('a form is escaped, and has its content type', () => {
  const body = {
    action: 'x_www_form_urlencoded',
    form_template: { z: '{{$body.input.name}}', a: 'x&y' },
  } as const;
  const { body: form, headers } = made({ version: 2, body });
  expect(form).toEqual({ kind: 'form', text: 'a=x%26y&z=Ada' });
  expect(headers.get('content-type')).toBe('application/x-www-form-urlencoded');
});

test('removing a body removes its content type', () => {
  const { body, headers } = made({ version: 2, body: { action: 'remove' } });
  expect(body).toEqual({ kind: 'none' });
  expect(headers.has('content-type')).toBe(false);
});

test('an answer is transformed from its body, its status and the request', () => {
  const body = '{"id": {{$body.id}}, "status": {{$response.status}}, "for": {{$request.body.input.name}}}';
  expect(transformResponse({ body }, { status: 201, body: { id: 7 } }, PLAIN, {})).toEqual({
    id: 7,
    status: 201,
    for: 'Ada',
  });
});
