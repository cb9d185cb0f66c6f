/** graphql-codegen on the schema it fetches from the engine, with the types of operations. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from '@graphql-codegen/cli';
import { graphqlUrl, headers, report } from './lib.mjs';

const DOCUMENTS = `
  query Books($where: book_bool_exp, $first: Int) { book(where: $where, limit: $first) { id title price author { name } } }
  mutation AddBook($book: book_insert_input!) { insert_book_one(object: $book) { id } }
  subscription Live { book_stream(cursor: { initial_value: { id: 0 } }, batch_size: 10) { id kind } }`;

async function generated(documents) {
  const folder = mkdtempSync(join(tmpdir(), 'codegen-'));
  writeFileSync(join(folder, 'operations.graphql'), documents);
  const config = {
    schema: [{ [graphqlUrl]: { headers } }],
    documents: join(folder, 'operations.graphql'),
    generates: { [join(folder, 'types.ts')]: { plugins: ['typescript', 'typescript-operations'] } },
    silent: true,
  };
  const files = await generate(config, false).finally(() => rmSync(folder, { recursive: true }));
  return files[0].content;
}

await report(async () => ({
  types: await generated(DOCUMENTS),
  error: await generated('{ book { nowhere } }').then(
    () => null,
    (error) => [error, ...(error.errors ?? [])].map(({ message }) => message).join('\n'),
  ),
}));
