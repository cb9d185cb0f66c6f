/** GET /console/: the console, when it is enabled. Serves the files built by console/build.ts, each read when it is requested, with headers
 *  that allow the page to load from this engine only. The page is public: it holds no secret and asks for one.
 *  Not here: the page (console/page/). */
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isSecretSet } from '../auth/accepted-secrets.ts';
import { jwtSecretsOf } from '../auth/authenticate.ts';
import type { Options } from '../config/options.ts';
import { EngineError } from '../errors/engine-error.ts';
import type { HttpContext } from './context.ts';

const BUILT = new URL('../../dist/console/', import.meta.url);

/** The pages below /console/. What follows `model/` is the key of an object. */
const PAGES = ['', 'access', 'model', 'model/*', 'data', 'ownership', 'activity', 'change'];

/** A name of an asset: no separator of paths, no leading dot. */
const ASSET = /^[\w-]+(\.[\w-]+)+$/;

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  ttf: 'font/ttf',
};

/** The editor creates style elements and starts workers; everything else must come from this engine. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "worker-src 'self' blob:",
  "font-src 'self' data:",
  "img-src 'self' data:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

export function consoleRoutes(app: FastifyInstance, context: HttpContext): void {
  const { headerPrefix, unauthorizedRole = '', consoleMode, consoleNewFileUrl = '' } = context.options;
  const settings = {
    'header-prefix': headerPrefix,
    'unauthorized-role': unauthorizedRole,
    'console-mode': consoleMode,
    'new-file-url': consoleNewFileUrl,
    'knows-nobody': String(knowsNobody(context.options)),
  };
  // Relative, for proxies that add a prefix. Browsers keep the part after `#`, which signs in.
  for (const path of ['/', '/console']) app.get(path, async (_, reply) => reply.redirect('console/'));
  const sendPage = async ({ url }: FastifyRequest, reply: FastifyReply) => {
    const page = await readBuilt('index.html');
    if (page === undefined) {
      return reply.code(404).type('text/plain').send('The console is not built: npm run console\n');
    }
    const root = rootFrom(url);
    const text = withSettings(page.toString(), { ...settings, root }).replace(
      /(\s(?:src|href)=")\.\//g,
      (_, attribute: string) => attribute + root,
    );
    return secured(reply).header('cache-control', 'no-cache').type('text/html; charset=utf-8').send(text);
  };
  for (const name of PAGES) app.get(`/console/${name}`, sendPage);
  // Says that there is no such page, with links to those that there are.
  app.get('/console/*', (request, reply) => sendPage(request, reply.code(404)));
  app.get<{ Params: { name: string } }>('/console/assets/:name', async (request, reply) => {
    const { name } = request.params;
    const compressed = ASSET.test(name) ? await readBuilt(`assets/${name}.gz`) : undefined;
    if (compressed === undefined) throw new EngineError('resourceNotFound', {});
    // File names contain a hash of the content, so a file never changes.
    secured(reply)
      .header('cache-control', 'public, max-age=31536000, immutable')
      .header('vary', 'accept-encoding');
    reply.type(TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream');
    return /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
      ? reply.header('content-encoding', 'gzip').send(compressed)
      : reply.send(await promisify(gunzip)(compressed));
  });
}

/** Reads a built file; undefined if there is none. */
function readBuilt(file: string): Promise<Buffer | undefined> {
  return readFile(new URL(file, BUILT)).catch(() => undefined);
}

/** Returns true when no request without headers of credentials is an administrator's: a hook and a token may be in cookies, which the page cannot see. */
function knowsNobody(options: Options): boolean {
  const hasTokenCookies = jwtSecretsOf(options).some(({ location }) => location.kind === 'cookie');
  return isSecretSet(options) && options.authHook === undefined && !hasTokenCookies;
}

/** Returns the page with the settings of this engine in place of the contents that its meta elements have. */
function withSettings(page: string, settings: Readonly<Record<string, string>>): string {
  return page.replace(/(<meta name="([\w-]+)" content=)"[^"]*"/g, (element, start: string, name: string) => {
    const value = settings[name];
    return value === undefined ? element : `${start}"${attributeText(value)}"`;
  });
}

/** Returns the relative address of /console/ from a page below it: `./` from /console/access, `../../` from /console/model/a/b. */
function rootFrom(url: string): string {
  const path = url.split('?', 1)[0]!.slice('/console/'.length);
  return '../'.repeat(path.split('/').length - 1) || './';
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
