/** The examples users are given, as the tests' custom resources: every file of deploy/examples/library.
 *  Not here: a database for them (release.ts). */
import { globSync, readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';

export const LIBRARY = 'deploy/examples/library';
export const SEED = readFileSync(`${LIBRARY}/seed.sql`, 'utf8');

const FILES = globSync(`${LIBRARY}/**/*.yaml`).sort();

type Resource = { readonly kind: string; readonly metadata: { readonly name: string } };

const RESOURCES = FILES.flatMap((file) => loadAll(readFileSync(file, 'utf8')) as Resource[]);

/** `table/author`, as kubectl names them. */
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

/** The same for an engine all of whose replicas are asked; the release before this one has no such field. */
export const WITH_REPLICAS = MANIFEST.replace(
  'port: 8080}}',
  'port: 8080}, replicas: {name: pergola-engine-replicas, port: 8080}}',
);

/** Amina, who has borrowed two books. */
export const AMINA = { 'x-engine-user-id': '1' };

/** What only the resources make possible: a relationship, a row filter and a session variable. */
export const QUERY = '{ loan(order_by: {id: asc}) { book { title author { name } } due_on } }';
