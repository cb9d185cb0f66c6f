/** Finds an installed Postgres, and one that has PostGIS, which npm's binaries do not have. It expects Debian's layout:
 *  /usr/lib/postgresql/15/bin and /usr/share/postgresql/15/extension. */
import { existsSync, globSync } from 'node:fs';

export function binariesWithPostgis(): string {
  const binaries = installedBinaries('postgis');
  if (binaries) return binaries;
  throw new Error('this needs a Postgres with PostGIS: install postgresql-15-postgis-3, for example');
}

/** Returns the programs of the latest installed Postgres that has the extension. */
export function installedBinaries(extension: string): string | undefined {
  const control = globSync(`/usr/share/postgresql/*/extension/${extension}.control`).sort().at(-1);
  const version = control?.split('/').at(4);
  const binaries = `/usr/lib/postgresql/${version}/bin`;
  return version && existsSync(binaries) ? binaries : undefined;
}
