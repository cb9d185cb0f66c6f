/** Sends real metadata with thousands of objects through an engine and through a metadata directory: the exported text must be the same
 *  after a second replacement, its content after a directory is written and read, and the files the same when they are written again.
 *  In: --shared, the folder with `data/<name>/replace_metadata.json`. Out: --out JSON {passed, failed}; exit 1 on a difference.
 *  The databases of these documents are not needed: inconsistent objects are kept. Not here: small cases (the tests beside the code). */
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { exportMetadata, parseDocument } from '../engine/metadata/index.ts';
import { readDirectory, writeDirectory } from '../engine/store/directory.ts';
import { startEngine } from '../testing/engine-process.ts';

const { values: options } = parseArgs({
  options: { shared: { type: 'string', default: '../shared' }, out: { type: 'string' } },
});
const data = join(resolve(options.shared), 'data');
const SECRET = 'round-trip';
let passed = 0;
let failed = 0;

const folder = mkdtempSync(join(tmpdir(), 'pergola-round-trip-'));
// Postgres runs as another user when we are root, and must be able to enter.
chmodSync(folder, 0o711);
const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), isDurable: false });
const engine = await startEngine({
  ...process.env,
  ENGINE_GRAPHQL_DATABASE_URL: postgres.url,
  ENGINE_GRAPHQL_ADMIN_SECRET: SECRET,
});
try {
  for (const name of readdirSync(data)) {
    const file = join(data, name, 'replace_metadata.json');
    if (existsSync(file)) await check(name, JSON.parse(readFileSync(file, 'utf8')));
  }
} finally {
  await engine.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
if (options.out) writeFileSync(options.out, JSON.stringify({ passed, failed }));
process.exitCode = failed > 0 ? 1 : 0;

async function check(name: string, body: { args: { metadata?: unknown } }): Promise<void> {
  const first = await throughEngine(body.args.metadata ?? body.args);
  expectSame(`${name}: replaced again`, first, await throughEngine(JSON.parse(first)));
  const document = parseDocument(JSON.parse(first));
  const files = join(folder, name);
  await writeDirectory(files, document);
  const before = contentsOf(files);
  const read = readDirectory(files);
  // Files have their keys in the order of the reference, and the document as it was given.
  const exported = JSON.stringify(exportMetadata(read));
  expectSame(`${name}: read from files`, withSortedKeys(first), withSortedKeys(exported));
  await writeDirectory(files, read);
  expectSame(`${name}: files written again`, before, contentsOf(files));
}

function withSortedKeys(json: string): string {
  return JSON.stringify(JSON.parse(json), (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

async function throughEngine(metadata: unknown): Promise<string> {
  await admin({
    type: 'replace_metadata',
    version: 2,
    args: { metadata, allow_inconsistent_metadata: true },
  });
  return admin({ type: 'export_metadata', args: {} });
}

async function admin(body: unknown): Promise<string> {
  const response = await fetch(`${engine.url}/v1/metadata`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-engine-admin-secret': SECRET },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text.slice(0, 500)}`);
  return text;
}

function contentsOf(of: string): string {
  const found = readdirSync(of, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = found.map((entry) => join(entry.parentPath, entry.name)).sort();
  return paths.map((path) => `${relative(of, path)}\n${readFileSync(path, 'utf8')}`).join('\n');
}

function expectSame(what: string, a: string, b: string): void {
  const isSame = a === b;
  if (isSame) passed += 1;
  else failed += 1;
  console.log(`${isSame ? 'same' : 'FAIL'}  ${what} (${a.length} bytes)`);
}
