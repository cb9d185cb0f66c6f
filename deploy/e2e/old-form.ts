/** Resources of every kind in the form of the previous release, and a role that may read one of two rows.
 *  Not here: the same in the form of this release (every-kind.ts). */
import { globSync, readFileSync } from 'node:fs';
import { allowing, READER_QUERY } from './every-kind.ts';

export const VISITOR = 'visitor';
export const VISITOR_QUERY = '{ author { id } }';
export const VISITOR_SEES = { data: { author: [{ id: 1 }] } };
/** Queries for fields that exist, and a role that may not see them. */
export const HIDDEN = [
  { query: '{ author { country } }', role: 'reader' },
  { query: '{ archive_author { id } }', role: 'reader' },
  { query: '{ author { name } }', role: VISITOR },
] as const;

/** The Engine as that release knows it, without grants. */
const ENGINE = `
apiVersion: pergola.dev/v1alpha1
kind: Engine
metadata: {name: main}
spec:
  endpoint: {service: {name: pergola-engine, port: 8080}, replicas: {name: pergola-engine-replicas, port: 8080}}
  adminSecretRef: {name: pergola-admin, key: admin-secret}
`;

const ONE_ROW = `
apiVersion: pergola.dev/v1alpha1
kind: TablePermission
metadata: {name: ${VISITOR}}
spec:
  engineRef: {name: main}
  source: default
  table: {schema: public, name: author}
  role: ${VISITOR}
  select: {columns: [id], filter: {}, limit: 1}
`;

/** Settings that had no effect are not Ready in this release. */
const WITHOUT_EFFECT = /^ {2}metrics: .*\n/m;

const FILES = globSync('operator/conversion/old-form/*.yaml')
  .filter((file) => !/every-option|engine\.yaml/.test(file))
  .map((file) => readFileSync(file, 'utf8').replace(WITHOUT_EFFECT, ''));
const ALLOWED = allowing([READER_QUERY, VISITOR_QUERY, ...HIDDEN.map(({ query }) => query)]);

/** All of them, for `kubectl apply`. */
export const OLD_FORM = [ENGINE, ...FILES, ONE_ROW, ALLOWED].join('\n---\n');
