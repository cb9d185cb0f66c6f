/** A database, and an engine over it, for all tests of a file: created before its first test, closed after its last.
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
  const database = testDatabase();
  let engine: TestEngine | undefined;
  beforeAll(async () => {
    const sql = typeof prepare === 'string' ? prepare : await prepare(database);
    if (typeof sql === 'string') await database.sql(sql);
    engine = await startTestEngine({ databaseUrl: database.url, ...optionsOf(database) });
  }, 180_000);
  afterAll(() => engine?.close());
  return { database, engine: later(() => engine) };
}

/** Creates an empty database before the next hook, and drops it after the last test. */
export function testDatabase(): TestDatabase {
  let database: TestDatabase | undefined;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database?.drop());
  return later(() => database);
}

/** Returns an object with the members of another one that does not exist yet. */
export function later<T extends object>(find: () => T | undefined): T {
  const get = (_: T, name: string | symbol) => {
    const found = find()!;
    const member = Reflect.get(found, name);
    return typeof member === 'function' ? member.bind(found) : member;
  };
  return new Proxy({} as T, { get });
}
