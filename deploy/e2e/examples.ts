/** The examples for users as custom resources of the tests: every file of deploy/examples/library.
 *  Not here: a database for them (release.ts). */
import { globSync, readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';

export const LIBRARY = 'deploy/examples/library';
export const SEED = readFileSync(`${LIBRARY}/seed.sql`, 'utf8');

const FILES = globSync(`${LIBRARY}/**/*.yaml`).sort();

type Resource = { readonly kind: string; readonly metadata: { readonly name: string } };

const RESOURCES = FILES.flatMap((file) => loadAll(readFileSync(file, 'utf8')) as Resource[]);

/** The names of the resources as kubectl spells them, such as `table/author`. */
export const RESOURCE_NAMES = [
  'engine/main',
  ...RESOURCES.map((x) => `${x.kind.toLowerCase()}/${x.metadata.name}`),
];

export const ENGINE = `
apiVersion: pergola.dev/v1alpha1
kind: Engine
metadata: {name: main}
spec:
  endpoint: {service: {name: pergola-engine, port: 8080}}
  adminSecretRef: {name: pergola-admin, key: admin-secret}
`;

/** The engine and every example, for `kubectl apply`. */
export const MANIFEST = [ENGINE, ...FILES.map((file) => readFileSync(file, 'utf8'))].join('\n---\n');

/** The Engine resource for replicas that the operator calls one by one. The previous release does not have this field. */
export const WITH_REPLICAS = MANIFEST.replace(
  'port: 8080}}',
  'port: 8080}, replicas: {name: pergola-engine-replicas, port: 8080}}',
);

/** The session variables of Amina, who has borrowed two books. */
export const AMINA = { 'x-engine-user-id': '1' };

/** A query that requires the resources: it uses a relationship, a row filter and a session variable. */
export const QUERY = '{ loan(order_by: {id: asc}) { book { title author { name } } due_on } }';
