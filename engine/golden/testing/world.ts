/** What a golden request is asked of: a real database with the fixture's tables, and the model its metadata resolves to.
 *  Not here: what is asked (respond.ts). */
import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { createDatabase } from '../../../testing/database.ts';
import { withEnumRows } from '../../catalog/enum-rows.ts';
import { introspect } from '../../catalog/introspect.ts';
import type { Databases } from '../../database/databases.ts';
import { openDatabase } from '../../database/pool.ts';
import { parseMetadata } from '../../metadata/parse.ts';
import type { Model } from '../../resolve/model/model.ts';
import { resolve } from '../../resolve/resolve.ts';

export type World = {
  readonly model: Model;
  readonly databases: Databases;
  readonly close: () => Promise<void>;
};

/** Throws when the fixture's metadata does not fit its tables: a golden case is about requests. */
export async function openWorld(
  schemaFile: string,
  metadataFile: string,
  features: readonly string[],
): Promise<World> {
  const database = await createDatabase();
  await database.sql(readFileSync(schemaFile, 'utf8'));
  await database.sql(`do $$ begin
    execute format('alter database %I set time zone %L', current_database(), 'UTC'); end $$`);
  const opened = openDatabase(database.url);
  const metadata = parseMetadata(load(readFileSync(metadataFile, 'utf8')));
  const catalog = await withEnumRows(opened, await introspect(opened), metadata.sources[0]!);
  const catalogs = new Map([['default', catalog]]);
  const { model, inconsistencies } = resolve(metadata, catalogs, {
    stringifyNumericTypes: false,
    namingConvention: 'default',
    features,
  });
  if (inconsistencies.length > 0) throw new Error(inconsistencies.map(({ reason }) => reason).join('\n'));
  return {
    model,
    databases: { get: () => opened },
    close: async () => {
      await opened.close();
      await database.drop();
    },
  };
}
