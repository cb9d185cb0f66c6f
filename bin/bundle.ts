/** `npm run bundle`: writes the commands that run for a long time into dist/, each with all packages that it imports, and the console. A
 *  start from a bundle opens five files instead of 860.
 *  Out: dist/<command>.mjs, and the list of the files it was built from. Not here: whether a start uses it (bundled.mjs), and the
 *  commands (commands.mjs). */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build, type Plugin } from 'vite';
import { buildConsole } from '../console/build.ts';
import { BUNDLED, FOLDER, LIST, ROOT } from './bundled.mjs';
import { COMMANDS } from './commands.mjs';

/** The modules of Node whose import runs getters: those of node:http load another HTTP client, which is 13 MB and 30 ms of CPU. */
const WITH_GETTERS = /^node:https?$/;

/** Reads such a module as `require` does, which runs no getters. */
const withoutGetters: Plugin = {
  name: 'without-getters',
  enforce: 'pre',
  resolveId: (id) => (WITH_GETTERS.test(id) ? `\0${id}` : null),
  load: (id) =>
    WITH_GETTERS.test(id.slice(1)) ? `module.exports = process.getBuiltinModule('${id.slice(1)}');` : null,
};

/** Makes `import.meta` that of the source file, because SQL files and the console are found from there. The lines stay the same. */
const metaOfSources: Plugin = {
  name: 'meta-of-sources',
  transform(code, id) {
    if (!isOwn(id) || !code.includes('import.meta.')) return null;
    const url = (path: string) => `new URL('${relative(FOLDER, path)}', import.meta.url)`;
    const own: Readonly<Record<string, string>> = {
      main: 'false',
      url: `${url(id)}.href`,
      dirname: `process.getBuiltinModule('node:url').fileURLToPath(${url(dirname(id))})`,
    };
    const replaced = code.replaceAll(
      /\bimport\.meta\.(main|url|dirname)\b/g,
      (_, name: string) => own[name]!,
    );
    return { code: replaced, map: null };
  },
};

/** Lists the files of the repository that are part of the bundles, and the file that determines the packages. */
const listOfSources: Plugin = {
  name: 'list-of-sources',
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
    const own = modules.filter(isOwn).map((id) => relative(ROOT, id));
    const source = JSON.stringify(['package-lock.json', ...own]);
    this.emitFile({ type: 'asset', fileName: LIST, source });
  },
};

function isOwn(id: string): boolean {
  return id.startsWith(ROOT) && !id.includes('node_modules');
}

/** Builds beside the folder and moves the files, so that an engine that starts meanwhile reads whole ones. Parts of earlier bundles are kept:
 *  an engine that runs from one may load them later. */
export async function bundle(folder: string): Promise<void> {
  const built = mkdtempSync(`${folder}-`);
  try {
    await buildInto(built, BUNDLED);
    mkdirSync(folder, { recursive: true });
    const isStart = (file: string) => BUNDLED.includes(file.replace('.mjs', ''));
    // The files that a start reads first come last.
    const files = readdirSync(built).toSorted((a, b) => Number(isStart(a)) - Number(isStart(b)));
    for (const file of files) renameSync(join(built, file), join(folder, file));
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
}

/** Builds commands into a folder that is, or will be, in the root of the repository or the package. */
export async function buildInto(
  folder: string,
  commands: readonly string[],
  { isPackage = false } = {},
): Promise<void> {
  const files = commands.map((command) => [command, join(ROOT, COMMANDS[command]![0])]);
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    plugins: [withoutGetters, metaOfSources, ...(isPackage ? [] : [listOfSources])],
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: true,
      target: 'node24',
      // Stack traces in logs keep the names of functions. Their lines are those of the sources (source-lines.mjs).
      minify: false,
      sourcemap: true,
      ...(isPackage && { license: { fileName: 'LICENSES.md' } }),
      rolldownOptions: {
        input: Object.fromEntries([
          ...files,
          ...(isPackage ? [['pergola', join(ROOT, 'bin/pergola.mjs')]] : []),
        ]),
        external: ['pg-native'],
        output: {
          entryFileNames: '[name].mjs',
          chunkFileNames: '[name]-[hash].mjs',
          sourcemapExcludeSources: true,
          sourcemapPathTransform: (source, map) => relative(FOLDER, resolve(dirname(map), source)),
        },
      },
    },
  });
}

if (import.meta.main) {
  await bundle(FOLDER);
  await buildConsole(join(FOLDER, 'console'));
}
