/** relay-compiler on the schema of the relay path, and relay-runtime running what it compiled. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildClientSchema, getIntrospectionQuery, printSchema } from 'graphql';
import compiler from 'relay-compiler';
import runtime from 'relay-runtime';
import { headers, report, url } from './lib.mjs';

const { commitMutation, Environment, fetchQuery, Network, RecordSource, Store } = runtime;
const folder = mkdtempSync(join(tmpdir(), 'relay-'));

async function send(query, variables) {
  const response = await fetch(`${url}/v1beta1/relay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  });
  return response.json();
}

const SOURCE = `import { graphql } from 'relay-runtime';
graphql\`fragment books_list on query_root @argumentDefinitions(count: { type: "Int", defaultValue: 2 }, cursor: { type: "String" })
  @refetchable(queryName: "booksPageQuery") {
  book_connection(first: $count, after: $cursor, order_by: { id: asc }) @connection(key: "list_book_connection") {
    pageInfo { hasNextPage endCursor } edges { cursor node { id title author { id name } } } } }\`;
graphql\`query booksQuery { ...books_list }\`;
graphql\`query booksNodeQuery($id: ID!) { node(id: $id) { id __typename ... on book { title } } }\`;
graphql\`query booksFailsQuery { node(id: "x") { id } }\`;
graphql\`mutation booksAddMutation($title: String!) { insert_book_one(object: { title: $title, author_id: 1 }) { id title } }\`;
`;

/** Compiles the source, and returns the names of the artifacts and the concrete requests by name. */
function compile(schema) {
  writeFileSync(join(folder, 'package.json'), '{}');
  writeFileSync(join(folder, 'schema.graphql'), schema);
  writeFileSync(join(folder, 'books.js'), SOURCE);
  writeFileSync(
    join(folder, 'relay.config.json'),
    JSON.stringify({ src: '.', schema: './schema.graphql', language: 'javascript', eagerEsModules: false }),
  );
  execFileSync(compiler, ['relay.config.json'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const generated = join(folder, '__generated__');
  const names = readdirSync(generated).map((file) => file.replace('.graphql.js', ''));
  const load = (name) => {
    const text = readFileSync(join(generated, `${name}.graphql.js`), 'utf8');
    const module = { exports: {} };
    new Function('module', 'require', text)(module, (path) => load(path.slice(2).replace('.graphql', '')));
    return module.exports;
  };
  return { names, load };
}

await report(async () => {
  const { data } = await send(getIntrospectionQuery());
  const { names, load } = compile(printSchema(buildClientSchema(data)));
  const environment = new Environment({
    network: Network.create(({ text }, variables) => send(text, variables)),
    store: new Store(new RecordSource()),
  });
  const run = (name, variables) => fetchQuery(environment, load(name), variables).toPromise();
  await run('booksQuery', {});
  const source = environment.getStore().getSource();
  const records = source.getRecordIDs().map((id) => source.get(id));
  const books = records.filter((record) => record?.__typename === 'book');
  const added = await new Promise((resolve, reject) => {
    const variables = { title: 'by Relay' };
    commitMutation(environment, {
      mutation: load('booksAddMutation'),
      variables,
      onCompleted: (result, errors) => resolve({ result, errors }),
      onError: reject,
    });
  });
  const page = await run('booksPageQuery', { count: 1, cursor: null });
  const { node } = await run('booksNodeQuery', { id: books[0].id });
  const failed = await run('booksFailsQuery', {}).catch(({ message }) => message);
  rmSync(folder, { recursive: true });
  return {
    artifacts: names.toSorted(),
    titles: books.map(({ title }) => title).toSorted(),
    node: [node.__typename, typeof node.title],
    hasPage: Object.keys(page).includes('__fragments'),
    mutation: added.result.insert_book_one.title,
    failed,
  };
});
