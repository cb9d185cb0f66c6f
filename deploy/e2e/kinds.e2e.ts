/** Tests every kind on a real cluster: the examples in the documentation, with the services they refer to and the chart's trial Postgres,
 *  become Ready, and a role sees exactly what they permit. Not here: the meaning of each kind (operator/end-to-end/every-kind.test.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apply, get, kubectl, type Printed, waitFor } from './cluster.ts';
import { Door } from './door.ts';
import {
  allowing,
  environmentOf,
  MANIFEST,
  OPTIONS,
  READER_QUERY,
  READER_SEES,
  SEED,
  startBilling,
} from './every-kind.ts';
import { CHART, createNamespace, install, POSTGRES_IMAGE, removeAll, uniqueName } from './release.ts';

const namespace = uniqueName('pergola-kinds');
const door = new Door(namespace, 'service/pergola-engine');
/** Queries for fields that exist but that the role may not see. */
const HIDDEN = ['{ author { country } }', '{ archive_author { id } }'];

beforeAll(async () => {
  await createNamespace(namespace);
  await startBilling(namespace);
});

afterAll(async () => {
  door.close();
  await removeAll(namespace);
});

test('the chart becomes Ready with its trial Postgres and the variables that the examples name', async () => {
  const postgres = `postgres.enabled=true,postgres.image=${POSTGRES_IMAGE},postgres.runAsUser=1000`;
  const env = JSON.stringify(environmentOf('pergola-postgres'));
  const values = ['--set', postgres, '--set-json', `engine.extraEnv=${env}`];
  const options = ['--set-json', `engine.options=${JSON.stringify(OPTIONS)}`];
  await install(namespace, CHART, ...values, ...options);
});

test('examples of every kind become Ready', async () => {
  await door.admin('run_sql', { sql: SEED });
  await apply([MANIFEST, allowing(HIDDEN)].join('\n---\n'), '-n', namespace);
  const { items } = await get('pergola', '-n', namespace);
  const names = items.map(({ kind, metadata }: Printed) => `${kind.toLowerCase()}/${metadata.name}`);
  const definitions = await get('customresourcedefinitions');
  const ours = definitions.items.filter((item: Printed) => item.spec.group === 'pergola.dev');
  expect(new Set(items.map((item: Printed) => item.kind)).size).toBe(ours.length);
  await waitFor(namespace, 'condition=Ready', ...names);
});

test('a role sees what the examples permit, and no more', async () => {
  expect(await door.graphql(READER_QUERY, 'reader')).toEqual(READER_SEES);
  for (const hidden of HIDDEN) {
    expect((await door.graphql(hidden, 'reader')).errors?.[0]?.message).toContain('not found in type');
  }
});

test('kubectl lists all kinds by their category, each with its state', async () => {
  const table = await kubectl('get', 'pergola', '-n', namespace, '--no-headers');
  expect(
    table
      .trim()
      .split('\n')
      .filter((line) => line !== '' && !/\bTrue\b/.test(line)),
  ).toEqual([]);
});
