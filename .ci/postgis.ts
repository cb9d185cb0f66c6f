/** An installed Postgres that has PostGIS, for the checks that need it: npm's binaries are without.
 *  Debian's layout: /usr/lib/postgresql/15/bin and /usr/share/postgresql/15/extension. */
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
