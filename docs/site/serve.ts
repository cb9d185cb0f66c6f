/** Builds the site and serves it on this machine, for a look at it: `make docs`. In: --port (8090). Hosts serve the files of `npm run site`. */
import { createReadStream, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';
import { BUILT, buildSite } from './build.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.md': 'text/markdown',
  '.txt': 'text/plain',
};

/** Returns a server of the files of a folder, for a program on this machine. */
export function serveFolder(folder: string): Server {
  return createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://site').pathname));
    const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
      response.writeHead(404).end('Not found');
      return;
    }
    response.writeHead(200, { 'content-type': `${TYPES[extname(file)] ?? 'text/plain'}; charset=utf-8` });
    createReadStream(file).pipe(response);
  });
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '8090' } } });
  buildSite(BUILT);
  serveFolder(BUILT).listen(Number(values.port), '127.0.0.1', () => {
    console.log(`The documents are at http://127.0.0.1:${values.port}/. Ctrl-C stops it.`);
  });
}
