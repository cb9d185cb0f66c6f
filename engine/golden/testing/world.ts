/** What a golden request is asked of: a real database with the fixture's tables, and the model its metadata resolves to.
 *  One world serves every case over the same fixture. Not here: what is asked (answer.ts). */
import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import pg from 'pg';
import { createDatabase } from '../../../testing/database.ts';
import { withEnumRows } from '../../catalog/enum-rows.ts';
import { introspect } from '../../catalog/introspect.ts';
import { parseMetadata } from '../../metadata/parse.ts';
import { resolve } from '../../resolve/resolve.ts';
import type { Model } from '../../resolve/types.ts';

export type World = {
  readonly model: Model;
  readonly client: pg.Client;
  readonly close: () => Promise<void>;
};

/** Throws when the fixture's metadata does not fit its tables: a golden case is about requests. */
export async function openWorld(schemaFile: string, metadataFile: string): Promise<World> {
  const database = await createDatabase();
  await database.sql(readFileSync(schemaFile, 'utf8'));
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("set time zone 'UTC'");
  const metadata = parseMetadata(load(readFileSync(metadataFile, 'utf8')));
  const catalog = await withEnumRows(client, await introspect(client), metadata.sources[0]!);
  const catalogs = new Map([['default', catalog]]);
  const { model, inconsistencies } = resolve(metadata, catalogs, {
    stringifyNumericTypes: false,
    namingConvention: 'default',
  });
  if (inconsistencies.length > 0) throw new Error(inconsistencies.map(({ reason }) => reason).join('\n'));
  return {
    model,
    client,
    close: async () => {
      await client.end();
      await database.drop();
    },
  };
}
