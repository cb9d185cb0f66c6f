import { expect, test } from 'vitest';
import { createDatabase } from './database.ts';

test('a test database is empty when created and no longer exists after drop', async () => {
  const database = await createDatabase();
  expect(await database.sql('create table t (a int); insert into t values (1); select a from t')).toEqual([
    { a: 1 },
  ]);
  await database.drop();
  await expect(database.sql('select 1')).rejects.toThrow();
});
