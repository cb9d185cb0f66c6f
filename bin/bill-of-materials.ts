/** The bill of materials of the package of npm, and so of the image, as an SPDX document. The package contains it, because scanners do not see which
 *  packages a bundle consists of.
 *  In: the lockfile, and the licences that the build of the console lists. Not here: the package (package.ts). */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './bundled.mjs';

type Bill = {
  readonly packages: readonly {
    readonly SPDXID: string;
    readonly name: string;
    readonly versionInfo: string;
  }[];
  readonly relationships: readonly { readonly spdxElementId: string; readonly relatedSpdxElement: string }[];
};

/** Returns the packages that run, those that the console was built from included, as an SPDX document. `npm sbom --omit dev` leaves out some that
 *  run, such as pg, which are a peer of a package of development as well. */
export function billOfMaterials(consoleLicenses: string): string {
  const args = ['sbom', '--sbom-format', 'spdx', '--package-lock-only'];
  const text = execFileSync('npm', args, { cwd: ROOT, maxBuffer: 64 * 2 ** 20, encoding: 'utf8' });
  const { packages, relationships, ...rest } = JSON.parse(text) as Bill;
  const running = new Set([...installedPackages(), ...packagesIn(consoleLicenses)]);
  const kept = packages.filter(({ name, versionInfo }) => running.has(`${name}@${versionInfo}`));
  const ids = new Set(['SPDXRef-DOCUMENT', ...kept.map(({ SPDXID }) => SPDXID)]);
  const between = relationships.filter(
    ({ spdxElementId, relatedSpdxElement }) => ids.has(spdxElementId) && ids.has(relatedSpdxElement),
  );
  return `${JSON.stringify({ ...rest, packages: kept, relationships: between }, null, 2)}\n`;
}

/** Returns the packages that `npm ci --omit=dev` installs, as name@version. */
function installedPackages(): readonly string[] {
  type Locked = { readonly name?: string; readonly version?: string; readonly dev?: boolean };
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  return Object.entries(lock.packages as Readonly<Record<string, Locked>>).flatMap(([path, locked]) =>
    locked.dev || locked.version === undefined
      ? []
      : [`${locked.name ?? path.split('node_modules/').at(-1)}@${locked.version}`],
  );
}

/** Returns the packages that a list of licences names, as name@version. */
function packagesIn(licenses: string): readonly string[] {
  return [...licenses.matchAll(/^## (\S+) - (\S+) \(/gm)].map(([, name, of]) => `${name}@${of}`);
}
