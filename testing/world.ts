/** A database and an engine over it for all tests of a file: created before its first test, closed after its last.
 *  In: what the database has before the engine starts, and options of the engine. Out: both; their members exist from the next hook on.
 *  Hooks that the file adds before this one end after it. Not here: the database (database.ts), the engine (engine.ts). */
import { afterAll, beforeAll } from 'vitest';
import { createDatabase, type TestDatabase } from './database.ts';
import { startTestEngine, type TestEngine, type TestEngineOptions } from './engine.ts';

export type TestWorld = { readonly database: TestDatabase; readonly engine: TestEngine };

/** Creates the database, runs `prepare` on it, which is SQL, returns SQL or uses the database, and starts the engine with the options. */
export function testWorld(
  prepare: string | ((database: TestDatabase) => unknown) = '',
  optionsOf: (database: TestDatabase) => Omit<TestEngineOptions, 'databaseUrl'> = () => ({}),
): TestWorld {
  const world: { database?: TestDatabase; engine?: TestEngine } = {};
  beforeAll(async () => {
    const database = await createDatabase();
    world.database = database;
    const sql = typeof prepare === 'string' ? prepare : await prepare(database);
    if (typeof sql === 'string') await database.sql(sql);
    world.engine = await startTestEngine({ databaseUrl: database.url, ...optionsOf(database) });
  }, 180_000);
  afterAll(async () => {
    await world.engine?.close();
    await world.database?.drop();
  });
  return { database: later(() => world.database), engine: later(() => world.engine) };
}

/** Returns an object with the members of another one that does not exist yet. */
function later<T extends object>(find: () => T | undefined): T {
  return new Proxy({} as T, { get: (_, name) => Reflect.get(find()!, name) });
}
