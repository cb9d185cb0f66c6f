/** Builds page/ into generated/: the console as plain files, so that the engine serves it without a bundler and
 *  without network access. Assets are stored compressed, as they are sent. Run by `npm run generate`; the result is
 *  committed. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

const generated = fileURLToPath(new URL('generated', import.meta.url));
const assets = join(generated, 'assets');

await build({
  root: fileURLToPath(new URL('page', import.meta.url)),
  // Relative, so that the console also works behind a path prefix of a proxy.
  base: './',
  configFile: false,
  logLevel: 'error',
  worker: { format: 'es' },
  build: {
    outDir: generated,
    emptyOutDir: true,
    target: 'es2022',
    license: { fileName: 'LICENSES.md' },
  },
});

for (const name of readdirSync(assets)) {
  const file = join(assets, name);
  writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
  rmSync(file);
}
