/** Tests the headers of the role and session variables that a user views as. */
import { expect, test } from 'vitest';
import { sentHeaders, userOf, viewAsHeaders } from './page/headers.js';

test('a role and session variables become headers, with or without the prefix of their names', () => {
  expect(viewAsHeaders('x-engine-', 'reader', '{"user-id": 7, "X-Engine-Org-Id": "a"}')).toEqual({
    'x-engine-role': 'reader',
    'x-engine-user-id': '7',
    'x-engine-org-id': 'a',
  });
  expect(viewAsHeaders('x-engine-', '', '')).toEqual({});
});

test('the role of the field wins over a session variable of that name', () => {
  expect(viewAsHeaders('x-engine-', 'reader', '{"role": "admin"}')).toEqual({ 'x-engine-role': 'reader' });
});

test.each([
  ['no JSON', '{', 'Session variables are JSON: {"user-id": "1"}'],
  ['a list', '[1]', 'Session variables are JSON: {"user-id": "1"}'],
  ['null', 'null', 'Session variables are JSON: {"user-id": "1"}'],
  ['a variable that is null', '{"user-id": null}', 'The session variable "user-id" is null. Leave it out.'],
  ['a name that is none', '{"user id": "1"}', '"x-engine-user id" cannot be the name of a session variable.'],
  ['a line break', '{"user-id": "1\\n2"}', 'A browser cannot send the value of x-engine-user-id.'],
  ['a sign outside Latin-1', '{"user-id": "żółw"}', 'A browser cannot send the value of x-engine-user-id.'],
])('%s is a problem', (_, text, problem) => {
  expect(() => viewAsHeaders('x-engine-', '', text)).toThrow(problem);
});

test('later headers win whatever their case, and no header has two values', () => {
  expect(sentHeaders({ 'x-engine-role': 'a' }, { 'X-Engine-Role': 'b', N: 1 })).toEqual({
    'x-engine-role': 'b',
    n: '1',
  });
});

test('the session of headers has no secret', () => {
  const headers = {
    'x-engine-admin-secret': 'a',
    'x-engine-access-key': 'b',
    'x-engine-console-secret': 'c',
    authorization: 'Bearer d',
    'x-engine-role': 'reader',
  };
  expect(userOf('x-engine-', headers)).toEqual({ 'x-engine-role': 'reader' });
});
