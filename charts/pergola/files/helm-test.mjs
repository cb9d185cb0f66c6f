// `helm test`: the engine answers GraphQL to whoever has the admin secret and to nobody else; the operator is ready.
const { ENGINE, OPERATOR, ADMIN_SECRET } = process.env;

const ask = (headers) =>
  fetch(`${ENGINE}/v1/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: '{ __typename }' }),
  }).then((response) => response.json());

const known = await ask({ 'x-engine-admin-secret': ADMIN_SECRET });
if (known.data?.__typename !== 'query_root') throw new Error(`engine: ${JSON.stringify(known)}`);

const stranger = await ask({ 'x-engine-admin-secret': 'not it' });
if (!stranger.errors) throw new Error('the engine answers with any admin secret');

if (OPERATOR) {
  const ready = await fetch(`${OPERATOR}/readyz`);
  if (!ready.ok) throw new Error(`operator: ${await ready.text()}`);
}
console.log('ok');
