/** Runs the code of docs/guides/subscriptions.md, with tokens that expire after two seconds and a row that changes after the first has. */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { report, socketUrl } from './lib.mjs';

const guide = readFileSync(new URL('../../docs/guides/subscriptions.md', import.meta.url), 'utf8');
const [, code] = /^```js\n([\s\S]*?)^```$/m.exec(guide);

let tokens = 0;
async function accessToken() {
  tokens++;
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { 'x-hasura-allowed-roles': ['admin'], 'x-hasura-default-role': 'admin' };
  const payload = {
    exp: Math.floor(Date.now() / 1000) + (tokens === 1 ? 2 : 60),
    'https://hasura.io/jwt/claims': claims,
  };
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(payload)}`;
  return `${signed}.${createHmac('sha256', process.env.JWT_KEY).update(signed).digest('base64url')}`;
}

const body = code
  .replace(/^import .*$/m, '')
  .replace('export function', 'function')
  .replace("'wss://api.example.com/v1/graphql'", 'url');
const watch = new Function('createClient', 'accessToken', 'url', `${body}; return watch;`)(
  createClient,
  accessToken,
  socketUrl,
);

await report(async () => {
  const titles = [];
  const errors = [];
  const query = 'subscription ($id: Int!) { book_by_pk(id: $id) { title } }';
  const seen = (title) => titles.at(-1) !== title && titles.push(title);
  const end = watch(
    query,
    { id: 1 },
    ({ book_by_pk }) => seen(book_by_pk.title),
    (problem) => errors.push(String(problem.reason ?? problem)),
  );
  while (tokens < 2 && errors.length === 0) await sleep(50);
  const change = 'mutation { update_book_by_pk(pk_columns: {id: 1}, _set: {title: "changed"}) { id } }';
  await fetch(`${process.env.ENGINE_URL}/v1/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await accessToken().finally(() => tokens--)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ query: change }),
  });
  while (titles.length < 2 && errors.length === 0) await sleep(50);
  end();
  return { tokens, titles, errors };
});
