/** Every kind on a real cluster: the examples documents show, with the services they speak of and the chart's trial Postgres, become
 *  Ready and are what a role sees. Not here: what each kind means (operator/every-kind.test.ts). */
import { globSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apply, get, kubectl, type Printed, waitFor } from './cluster.ts';
import { Door } from './door.ts';
import {
  CHART,
  CONTAINER_SECURITY,
  createNamespace,
  IMAGE,
  install,
  POD_SECURITY,
  POSTGRES_IMAGE,
  removeAll,
  uniqueName,
} from './release.ts';

const EXAMPLES = 'deploy/examples/every-kind';
const MANIFEST = globSync(`${EXAMPLES}/*.yaml`)
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n---\n');
const namespace = uniqueName('pergola-kinds');
const door = new Door(namespace, 'service/pergola-engine');

/** Variables the examples name; nobody asks the last three. */
const VARIABLES = {
  ARCHIVE_URL: 'postgres://postgres:e2e@pergola-postgres:5432/postgres',
  BILLING_URL: 'http://billing:4000/graphql',
  BILLING_TOKEN: 'token',
  AUTH_URL: 'http://auth.example.org',
  AUTH_KEY: 'key',
  JOBS_URL: 'http://jobs.example.org',
};

beforeAll(async () => {
  await createNamespace(namespace);
  await startBilling();
});

afterAll(async () => {
  door.close();
  await removeAll(namespace);
});

test('the chart with its trial Postgres and the variables the examples name becomes Ready', async () => {
  const postgres = `postgres.enabled=true,postgres.image=${POSTGRES_IMAGE},postgres.runAsUser=1000`;
  const env = Object.entries(VARIABLES).map(([name, value]) => ({ name, value }));
  const values = ['--set', postgres, '--set-json', `engine.extraEnv=${JSON.stringify(env)}`];
  const options = ['--set', 'engine.options.enable-remote-schema-permissions=true'];
  await install(namespace, CHART, ...values, ...options);
});

test('examples of every kind become Ready', async () => {
  await door.admin('run_sql', { sql: readFileSync(`${EXAMPLES}/seed.sql`, 'utf8') });
  await apply(MANIFEST, '-n', namespace);
  const { items } = await get('pergola', '-n', namespace);
  const names = items.map(({ kind, metadata }: Printed) => `${kind.toLowerCase()}/${metadata.name}`);
  const definitions = await get('customresourcedefinitions');
  const ours = definitions.items.filter((item: Printed) => item.spec.group === 'pergola.dev');
  expect(new Set(items.map((item: Printed) => item.kind)).size).toBe(ours.length);
  await waitFor(namespace, 'condition=Ready', ...names);
});

test('and are what a role sees, and no more', async () => {
  expect(await door.graphql('{ author(where: {id: {_eq: 1}}) { name invoices { id } } }', 'reader')).toEqual({
    data: { author: [{ name: 'Ursula', invoices: [{ id: 'i1' }] }] },
  });
  for (const hidden of ['{ author { country } }', '{ archive_author { id } }']) {
    expect((await door.graphql(hidden, 'reader')).errors?.[0]?.message).toContain('not found in type');
  }
});

test('kinds can be had by their category, each with its state', async () => {
  const table = await kubectl('get', 'pergola', '-n', namespace, '--no-headers');
  expect(
    table
      .trim()
      .split('\n')
      .filter((line) => line !== '' && !/\bTrue\b/.test(line)),
  ).toEqual([]);
});

/** The billing service: a GraphQL server of a few lines, in the image under test. */
async function startBilling(): Promise<void> {
  const script = `
    import { buildSchema, graphql } from 'graphql';
    import { createServer } from 'node:http';
    const schema = buildSchema('type Query { invoices(authorId: Int!): [Invoice] } type Invoice { id: ID, total: Int }');
    const rootValue = { invoices: () => [{ id: 'i1', total: 3 }] };
    createServer(async (request, response) => {
      const { query: source, variables: variableValues } = await new Response(request).json();
      const answer = await graphql({ schema, source, rootValue, variableValues });
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    }).listen(4000);`;
  await apply(`
apiVersion: v1
kind: Service
metadata: {name: billing, namespace: ${namespace}}
spec:
  selector: {app: billing}
  ports: [{port: 4000}]
---
apiVersion: v1
kind: Pod
metadata: {name: billing, namespace: ${namespace}, labels: {app: billing}}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 0
  securityContext: ${POD_SECURITY}
  containers:
    - name: billing
      image: ${IMAGE}
      imagePullPolicy: Always
      command: [node, --input-type=module, --eval, ${JSON.stringify(script)}]
      readinessProbe: {tcpSocket: {port: 4000}, periodSeconds: 1}
      securityContext: ${CONTAINER_SECURITY}
`);
  await waitFor(namespace, 'condition=Ready', 'pod/billing');
}
