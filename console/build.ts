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
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'vite';

const PAGE = fileURLToPath(new URL('page', import.meta.url));
export const BUILT = fileURLToPath(new URL('../dist/console', import.meta.url));
/** The files and folders that a build reads, besides installed packages. */
const SOURCES = ['page', 'build.ts', '../package-lock.json'].map((name) =>
  fileURLToPath(new URL(name, import.meta.url)),
);

/** Imports of packages that get the functions of the same names of a file of page/: they build and print the whole schema in the thread of the page,
 *  or change the numbers of variables and headers. */
const REPLACED_IMPORTS = [
  { of: '/@graphiql/react/dist/stores/schema.js', source: 'graphql', by: 'introspection.js' },
  { of: '/monaco-graphql/esm/workerManager.js', source: './utils', by: 'introspection.js' },
  { of: '/@graphiql/react/dist/stores/schema.js', source: '../utility/jsonc.js', by: 'jsonc.js' },
  { of: '/@graphiql/react/dist/stores/execution.js', source: '../utility/jsonc.js', by: 'jsonc.js' },
];

/** Builds beside the folder and moves the files, so that an engine that serves the folder meanwhile reads whole ones: the page last, because
 *  it names the others. Files that the page no longer names are deleted. */
export async function buildConsole(folder: string): Promise<void> {
  const began = new Date();
  mkdirSync(join(folder, 'assets'), { recursive: true });
  const built = mkdtempSync(`${folder}-`);
  try {
    await buildInto(built);
    // A source that changes during a build is newer than what was built.
    utimesSync(join(built, 'index.html'), began, began);
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

/** Builds dist/console if there is none, or if a source is newer. */
export async function buildChangedConsole(): Promise<void> {
  const built = statSync(join(BUILT, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (SOURCES.some((source) => newest(source) >= built)) await buildConsole(BUILT);
}

/** Returns the time of the last change of a file, or of a folder or any file in it. */
function newest(path: string): number {
  const own = statSync(path);
  if (!own.isDirectory()) return own.mtimeMs;
  const inside = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return Math.max(own.mtimeMs, ...inside.map((name) => statSync(join(path, name)).mtimeMs));
}

async function buildInto(folder: string): Promise<void> {
  await inProduction(() =>
    build({
      root: PAGE,
      // Relative, so that the console also works behind a path prefix of a proxy.
      base: './',
      configFile: false,
      logLevel: 'error',
      worker: { format: 'es' },
      plugins: [replacedImports()],
      build: {
        outDir: folder,
        emptyOutDir: true,
        target: 'es2022',
        license: { fileName: 'LICENSES.md' },
      },
    }),
  );
  const assets = join(folder, 'assets');
  for (const name of readdirSync(assets)) {
    const file = join(assets, name);
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
    rmSync(file);
  }
}

/** Runs a build as for users. A test runner sets another environment, with which the files would be those for developers: larger and slower. */
async function inProduction(run: () => Promise<unknown>): Promise<void> {
  const before = process.env['NODE_ENV'];
  process.env['NODE_ENV'] = 'production';
  try {
    await run();
  } finally {
    if (before === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = before;
  }
}

/** Replaces the imports, and fails when a package no longer has one of them. */
function replacedImports(): Plugin {
  const left = new Set(REPLACED_IMPORTS);
  return {
    name: 'replaced-imports',
    enforce: 'pre',
    resolveId(source, importer) {
      const found = REPLACED_IMPORTS.find((each) => each.source === source && importer?.endsWith(each.of));
      if (found) left.delete(found);
      return found && join(PAGE, found.by);
    },
    buildEnd(error) {
      if (!error && left.size > 0) throw new Error(`not imported any more: ${JSON.stringify([...left])}`);
    },
  };
}

if (import.meta.main) await buildConsole(BUILT);
