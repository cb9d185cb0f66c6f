/** Builds page/ into dist/console: the console as plain files, so that the engine serves it without a bundler and without network access.
 *  Assets are stored compressed, as they are sent. Run by `npm run console`, and with the bundles of the commands (bin/bundle.ts).
 *  Not here: how the files are served (engine/http/console.ts). */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

const PAGE = fileURLToPath(new URL('page', import.meta.url));
const BUILT = fileURLToPath(new URL('../dist/console', import.meta.url));

/** Builds beside the folder and moves the files, so that an engine that serves the folder meanwhile reads whole ones: the page last, because
 *  it names the others. Files that the page no longer names are deleted. */
export async function buildConsole(folder: string): Promise<void> {
  mkdirSync(join(folder, 'assets'), { recursive: true });
  const built = mkdtempSync(`${folder}-`);
  try {
    await buildInto(built);
    const files = readdirSync(join(built, 'assets')).map((file) => `assets/${file}`);
    for (const file of [...files, 'LICENSES.md', 'index.html']) {
      renameSync(join(built, file), join(folder, file));
    }
    const earlier = readdirSync(join(folder, 'assets')).map((file) => `assets/${file}`);
    for (const file of earlier.filter((file) => !files.includes(file)))
      rmSync(join(folder, file), { force: true });
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
}

async function buildInto(folder: string): Promise<void> {
  await build({
    root: PAGE,
    // Relative, so that the console also works behind a path prefix of a proxy.
    base: './',
    configFile: false,
    logLevel: 'error',
    worker: { format: 'es' },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2022',
      license: { fileName: 'LICENSES.md' },
    },
  });
  const assets = join(folder, 'assets');
  for (const name of readdirSync(assets)) {
    const file = join(assets, name);
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
    rmSync(file);
  }
}

if (import.meta.main) await buildConsole(BUILT);
