/** Creates the schema `hdb_catalog` in the databases of the metadata and of the sources when the engine starts with
 *  `--compatibility reference`. A database where that is not possible is reported, and prevents nothing.
 *  Not here: the views (events/reference-catalog.ts). */
import { optionAddress } from '../database/connect.ts';
import type { DatabaseAddress } from '../database/connection-defaults.ts';
import { type ConnectionSecrets, databaseAddress } from '../database/database-url.ts';
import { thrownMessage } from '../errors/engine-error.ts';
import { createReferenceCatalog } from '../events/reference-catalog.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { withMigrationClient } from '../migrate/session.ts';

type Target = {
  readonly name: string;
  readonly part: 'source' | 'metadata';
  readonly address: () => DatabaseAddress;
};

export async function createReferenceCatalogs(
  { sources }: Pick<Metadata, 'sources'>,
  options: {
    readonly metadataDatabaseUrl: string;
    readonly secrets: ConnectionSecrets;
    readonly report: (reason: string) => void;
  },
): Promise<void> {
  const { metadataDatabaseUrl, secrets, report } = options;
  const targets: readonly Target[] = [
    { name: 'the metadata database', part: 'metadata', address: () => optionAddress(metadataDatabaseUrl) },
    ...sources.map(({ name, configuration }) => ({
      name: `source ${name}`,
      part: 'source' as const,
      address: () => databaseAddress(configuration.connection_info.database_url, secrets),
    })),
  ];
  for (const { name, part, address } of targets) {
    try {
      const isOurs = await withMigrationClient(address(), undefined, (client) =>
        createReferenceCatalog(client, part),
      );
      if (!isOurs) report(`${name} has the schema hdb_catalog of Hasura, which is left as it is`);
    } catch (error) {
      report(`${name} has no schema hdb_catalog: ${thrownMessage(error)}`);
    }
  }
}
