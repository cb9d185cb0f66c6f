// `helm test`: the engine answers GraphQL only with the admin secret; the operator is ready.
const { ENGINE, OPERATOR, ADMIN_SECRET } = process.env;

const request = (headers) =>
  fetch(`${ENGINE}/v1/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: '{ __typename }' }),
  }).then((response) => response.json());

const known = await request({ 'x-engine-admin-secret': ADMIN_SECRET });
if (known.data?.__typename !== 'query_root') throw new Error(`engine: ${JSON.stringify(known)}`);

const stranger = await request({ 'x-engine-admin-secret': 'not it' });
if (!stranger.errors) throw new Error('the engine answers with any admin secret');

if (OPERATOR) {
  const ready = await fetch(`${OPERATOR}/readyz`);
  if (!ready.ok) throw new Error(`operator: ${await ready.text()}`);
}
console.log('ok');
