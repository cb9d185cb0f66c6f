/** Read replicas that refuse connections. Behaviour: docs/reference/behaviour/metadata.md, "Sources". */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDatabase } from '../../testing/database.ts';
import { testDatabase } from '../../testing/world.ts';
import { openDatabase } from './pool.ts';
import { Replicas } from './replicas.ts';

const home = testDatabase();
const replica = testDatabase();
const reader = `reader_${process.pid}`;

beforeAll(async () => {
  await home.sql(`create role ${reader} login`);
});
afterAll(async () => {
  await home.sql(`drop role ${reader}`);
});

const nameOf = (database: TestDatabase) => new URL(database.url).pathname.slice(1);

/** Statements that make the replica refuse the reader, each with the error and with what takes it back. */
test.each<[string, (name: string) => string, (name: string) => string]>([
  [
    '42501',
    (name) => `revoke connect on database "${name}" from public`,
    (name) => `grant connect on database "${name}" to public`,
  ],
  [
    '55000',
    (name) => `alter database "${name}" allow_connections false`,
    (name) => `alter database "${name}" allow_connections true`,
  ],
  [
    '53300',
    (name) => `alter database "${name}" connection limit 0`,
    (name) => `alter database "${name}" connection limit -1`,
  ],
  ['28000', () => `alter role ${reader} nologin`, () => `alter role ${reader} login`],
])(
  'a replica that refuses connections with %s is skipped until it accepts one',
  async (code, refuse, accept) => {
    const url = new URL(replica.url);
    url.username = reader;
    const database = openDatabase(url.href, { retries: 0, poolTimeoutSeconds: 1 });
    const replicas = new Replicas([database]);
    await home.sql(refuse(nameOf(replica)));
    try {
      const failure = await replicas
        .pick()!
        .run({ name: '', text: 'select 1' }, [])
        .catch((error) => error);
      // A server without a free connection is waited for.
      if (code !== '53300') expect(failure).toMatchObject({ code });
      else expect(failure).toBeInstanceOf(Error);
      expect(replicas.pick() === null).toBe(code !== '53300');
    } finally {
      await home.sql(accept(nameOf(replica)));
    }
    await expect.poll(() => replicas.pick() !== null, { timeout: 10_000 }).toBe(true);
    expect(await replicas.pick()!.run({ name: '', text: 'select 1' }, [])).toEqual(['1']);
    await database.close();
  },
);

test('an error of a statement leaves its replica in use', async () => {
  const database = openDatabase(replica.url);
  const replicas = new Replicas([database]);
  await expect(replicas.pick()!.run({ name: '', text: 'select 1/0' }, [])).rejects.toThrow(
    'division by zero',
  );
  expect(replicas.pick()).not.toBeNull();
  await database.close();
});
