/** GET /: GraphiQL, when the console is enabled. Serves the files built by console/build.ts from memory, with headers
 *  that allow the page to load from this engine only. The page is public: it holds no secret and asks for one.
 *  Not here: the page (console/page/). */
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { HttpContext } from './context.ts';

const GENERATED = new URL('console/generated/', import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  ttf: 'font/ttf',
};

/** The editor creates style elements and starts workers; everything else must come from this engine. */
const POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "worker-src 'self' blob:",
  "font-src 'self' data:",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

export function consoleRoutes(app: FastifyInstance, context: HttpContext): void {
  const { headerPrefix, unauthorizedRole = '' } = context.options;
  const page = readFileSync(new URL('index.html', GENERATED), 'utf8')
    .replace('content="x-engine-"', `content="${headerPrefix}"`)
    .replace('name="unauthorized-role" content="none"', () => {
      return `name="unauthorized-role" content="${attributeText(unauthorizedRole)}"`;
    });
  app.get('/', async (_, reply) =>
    secured(reply).header('cache-control', 'no-cache').type('text/html; charset=utf-8').send(page),
  );
  app.get('/console', async (_, reply) => reply.redirect('/'));
  const folder = new URL('assets/', GENERATED);
  for (const file of readdirSync(folder)) {
    const name = file.replace(/\.gz$/, '');
    const compressed = readFileSync(new URL(file, folder));
    app.get(`/assets/${name}`, async (request, reply) => {
      // File names contain a hash of the content, so a file never changes.
      secured(reply)
        .header('cache-control', 'public, max-age=31536000, immutable')
        .header('vary', 'accept-encoding');
      reply.type(TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream');
      const takesGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
      return takesGzip
        ? reply.header('content-encoding', 'gzip').send(compressed)
        : reply.send(gunzipSync(compressed));
    });
  }
}

/** Escapes a text for an attribute in double quotes. */
function attributeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

function secured(reply: FastifyReply): FastifyReply {
  return reply.headers({
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
}
