/** The examples in the documentation, at least one of every kind (deploy/examples/every-kind), and what they refer to: tables, variables
 *  of the engine, a remote schema. Not here: the library, which is one API (examples.ts). */
import { globSync, readFileSync } from 'node:fs';
import { startServer } from './server.ts';

export const EVERY_KIND = 'deploy/examples/every-kind';
export const SEED = readFileSync(`${EVERY_KIND}/seed.sql`, 'utf8');

/** All examples, for `kubectl apply`. */
export const MANIFEST = globSync(`${EVERY_KIND}/*.yaml`)
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n---\n');

/** A query for a row, with rows of the remote schema. */
export const READER_QUERY = '{ author(where: {id: {_eq: 1}}) { name invoices { id } } }';
export const READER_SEES = { data: { author: [{ name: 'Ursula', invoices: [{ id: 'i1' }] }] } };

/** Options of an engine that enforces what the examples declare. */
export const OPTIONS = { 'enable-allowlist': true };

/** Returns a collection of the queries that tests send as roles, for the allow list. */
export function allowing(queries: readonly string[], engine = 'main'): string {
  return JSON.stringify({
    apiVersion: 'pergola.dev/v1alpha1',
    kind: 'QueryCollection',
    metadata: { name: 'probes', annotations: { 'argocd.argoproj.io/sync-wave': '2' } },
    spec: {
      engineRef: { name: engine },
      name: 'probes',
      queries: queries.map((query, i) => ({ name: `probe_${i}`, query })),
      allowlist: { scope: { global: true } },
    },
  });
}

/** Returns the variables that the examples name. The tests do not use the last three. */
export function environmentOf(postgres: string) {
  const variables = {
    ARCHIVE_URL: `postgres://postgres:e2e@${postgres}:5432/postgres`,
    BILLING_URL: 'http://billing:4000/graphql',
    BILLING_TOKEN: 'token',
    AUTH_URL: 'http://auth.example.org',
    AUTH_KEY: 'key',
    JOBS_URL: 'http://jobs.example.org',
  };
  return Object.entries(variables).map(([name, value]) => ({ name, value }));
}

/** Starts the billing service, a small GraphQL server. */
export async function startBilling(namespace: string): Promise<void> {
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
  await startServer(namespace, 'billing', 4000, script);
}
