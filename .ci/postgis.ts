/** Finds an installed Postgres that has PostGIS, which npm's binaries do not have. It expects Debian's layout:
 *  /usr/lib/postgresql/15/bin and /usr/share/postgresql/15/extension. */
import { existsSync, globSync } from 'node:fs';

export function binariesWithPostgis(): string {
  const control = globSync('/usr/share/postgresql/*/extension/postgis.control').sort().at(-1);
  const version = control?.split('/').at(4);
  const binaries = `/usr/lib/postgresql/${version}/bin`;
  if (!version || !existsSync(binaries)) {
    throw new Error('this needs a Postgres with PostGIS: install postgresql-15-postgis-3, for example');
  }
  return binaries;
}
