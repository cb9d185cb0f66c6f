/** The resource that stores an operation is valid, and has the text as it was written. */
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { collectionResource } from './page/collection.js';

test.each([
  ['mobile', 'Books', 'query Books {\n  book {\n\n    id # "odd"\n  }\n}'],
  ['My Operations!', 'Ünï "q"', '{ a(text: "x: y\\n") }'],
  ['7', 'tab', '{\n\tbook { id }\n}'],
  ['---', 'a'.repeat(100), '# only\n{ __typename }'],
])('%s %s', (collection, name, query) => {
  const resource = load(collectionResource({ collection, name, query: `\n${query}\n` })) as {
    metadata: { name: string };
    spec: object;
  };
  expect(resource.spec).toEqual({ name: collection, queries: [{ name, query }] });
  expect(resource.metadata.name).toMatch(/^[a-z]([-a-z0-9]*[a-z0-9])?$/);
});
