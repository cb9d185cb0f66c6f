// `helm test`: the engine serves GraphQL to clients with the admin secret and to no others, and the operator is ready.
const { ENGINE, OPERATOR, ADMIN_SECRET, SECRET_HEADER } = process.env;

const request = (headers) =>
  fetch(`${ENGINE}/v1/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: '{ __typename }' }),
  }).then((response) => response.json());

const known = await request({ [SECRET_HEADER]: ADMIN_SECRET });
if (known.data?.__typename !== 'query_root') throw new Error(`engine: ${JSON.stringify(known)}`);

const stranger = await request({ [SECRET_HEADER]: 'another secret' });
if (!stranger.errors) throw new Error('the engine accepts any admin secret');

if (OPERATOR) {
  const ready = await fetch(`${OPERATOR}/readyz`);
  if (!ready.ok) throw new Error(`operator: ${await ready.text()}`);
}
console.log('ok');
