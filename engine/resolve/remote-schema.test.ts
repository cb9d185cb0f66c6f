/** Tests to which addresses requests to a remote schema are sent, and which addresses are refused. */
import { expect, test } from 'vitest';
import { endpointOf } from './remote-schema.ts';

test.each(['http://example.org/graphql', 'https://{{HOST}}/graphql', '{{URL}}/graphql'])(
  'the URL %j is accepted',
  (url) => {
    expect(endpointOf({ url })).toMatchObject({ url });
  },
);

test('the value of a variable is not judged', () => {
  expect(endpointOf({ url_from_env: 'REMOTE' })).toMatchObject({ url: '{{REMOTE}}' });
});

test.each(['nope', 'example.org/graphql', 'ftp://example.org', 'ftp://{{HOST}}', 'http://', '/graphql'])(
  'the URL %j is refused with a reason that waiting cannot mend',
  (url) => {
    expect(() => endpointOf({ url })).toThrow(
      expect.objectContaining({
        kind: 'remoteSchemaInvalid',
        message: `"${url}" is no URL that begins with http:// or https://`,
      }),
    );
  },
);

test.each([[{}], [{ url: 'http://a', url_from_env: 'A' }]])('%j has not exactly one URL', (definition) => {
  expect(() => endpointOf(definition)).toThrow('exactly one of "url" and "url_from_env" has to be there');
});
