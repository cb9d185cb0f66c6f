/** Runs shell blocks of a document, each in a shell of its own, in one folder, with an engine and databases.
 *  In: a world (shell-worlds.ts). Out: what a block prints, and its exit code. Servers that a block starts listen on a free port, and end with it.
 *  Not here: which blocks there are (shell-blocks.ts). */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { freePort } from '../../bin/free-port.ts';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import {
  replaceMetadata,
  startTestEngine,
  type TestEngine,
  type TestEngineOptions,
} from '../../testing/engine.ts';
import { CLONE, fencedBlocks, type ShellBlock } from './shell-blocks.ts';

/** How one block runs. Commands may have placeholders: {engine}, {secret}, {database} and the names of the other databases, {clone}, {served} and {port} of the
 *  server that a block starts, {keys}, {publicKey}, {version}, and {namespace} in a cluster. */
export type Row = {
  /** The beginning of the block. One block of the document has it. */
  readonly begins: string;
  /** Commands that run before and after the block in the same shell. */
  readonly before?: string;
  readonly after?: string;
  /** The exit code; 0 by default. */
  readonly code?: number;
  /** A part of what the commands print; or all of it, as the document shows it after the block. */
  readonly prints: string | RegExp | typeof WHAT_FOLLOWS;
  /** Programs that not every machine has. Where one is missing, the block is skipped. */
  readonly needs?: readonly string[];
};

/** Stands for the text of the next fenced block of the document. */
export const WHAT_FOLLOWS = Symbol('what follows');

export type ShellWorld = {
  /** The SQL of the first database: a text, or that of the document. */
  readonly sql?: string | 'of the document';
  /** Other databases by name, each with its SQL. The variable `NAME_URL` of the engine is the address of `name`. */
  readonly databases?: Readonly<Record<string, string>>;
  /** The tables of the engine, as metadata. Without them no engine runs. */
  readonly tables?: readonly object[];
  readonly options?: Omit<TestEngineOptions, 'databaseUrl'>;
  /** A folder of the clone whose content is copied into the folder of the commands. */
  readonly copy?: string;
  /** Files by name. A text `block: X` is the fenced block of the document that begins with X. */
  readonly files?: Readonly<Record<string, string>>;
  /** Texts of the document, with their replacements in blocks and files. */
  readonly texts?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Commands that run once, before the first block. */
  readonly setUp?: string;
  readonly rows: readonly Row[];
};

type Values = Readonly<Record<string, string>>;
type OtherDatabase = TestDatabase & { readonly name: string };

export type Printed = { readonly code: number; readonly printed: string };

export type Place = {
  readonly setUp: () => Promise<void>;
  readonly run: (block: ShellBlock, row: Row) => Promise<Printed>;
  readonly close: () => Promise<void>;
};

/** Values, variables and programs that all documents share. */
export type Surroundings = {
  /** Values of placeholders besides those of the document's own engine and databases. */
  readonly values: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** Texts that are replaced in blocks and files of any document. */
  readonly texts: Readonly<Record<string, string>>;
  /** Folders of programs. */
  readonly path: readonly string[];
};

const SECRET = 'secret';

/** `serving` runs a command in the background, and returns when its engine serves. The next server replaces it. A shell that monitors jobs gives each a
 *  process group, whose signal also reaches what the command has started. */
const PRELUDE = `
set -euo pipefail -m
shopt -s expand_aliases
exec 2>&1
SERVER=
stop() {
  if [ -n "$SERVER" ]; then kill -INT -- "-$SERVER" || true; wait "$SERVER" || true; fi
  SERVER=
}
trap stop EXIT
serving() {
  stop
  : >server.log
  "$@" >server.log 2>&1 &
  SERVER=$!
  until grep -qE 'serves GraphQL at|Ctrl-C stops everything' server.log; do
    if ! kill -0 "$SERVER" 2>/dev/null; then cat server.log; return 1; fi
    sleep 0.2
  done
  cat server.log
}
curl() { command curl -sS --fail-with-body "$@"; }
pergola() {
  case "$1" in
    serve) serving node {clone}/bin/pergola.mjs "$@" --server-port {port} ;;
    up) serving node {clone}/bin/pergola.mjs "$@" --port {port} ;;
    *) node {clone}/bin/pergola.mjs "$@" ;;
  esac
}
`;

/** Starts the engine and the databases of a document, and writes its files. */
export async function startPlace(
  document: string,
  world: ShellWorld,
  surroundings: Surroundings,
): Promise<Place> {
  const database = await createDatabase();
  await database.sql(world.sql === 'of the document' ? sqlOf(document) : (world.sql ?? ''));
  const others = await Promise.all(Object.entries(world.databases ?? {}).map(startOther));
  const engine = world.tables && (await startEngine(world, database.url, others));
  const folder = mkdtempSync('/var/tmp/pergola-shell-');
  const port = String(await freePort());
  const values: Values = {
    clone: CLONE,
    ...(engine && { engine: engine.url }),
    secret: SECRET,
    database: database.url,
    ...Object.fromEntries(others.map(({ name, url }) => [name, url])),
    port,
    served: `http://127.0.0.1:${port}`,
    ...surroundings.values,
  };
  const texts = new Map(
    Object.entries({ ...world.texts, ...surroundings.texts }).map((pair) => {
      const [from, to] = pair.map((text) => filled(text, values));
      return [from!, to!];
    }),
  );
  writeFiles(document, world, folder, (text) => replaced(filled(text, values), texts));
  const env = environmentOf(world, surroundings, values, folder);
  const commands = (text: string, before = '', after = '') => {
    const [prelude, first, last] = [PRELUDE, before, after].map((part) => filled(part, values));
    return bash([prelude, first, replaced(text, texts), last].join('\n'), folder, env);
  };
  return {
    setUp: async () => {
      if (world.setUp === undefined) return;
      const { code, printed } = await commands('', world.setUp);
      if (code !== 0) throw new Error(printed);
    },
    run: ({ text }, { before, after }) => commands(text, before, after),
    close: async () => {
      await engine?.close();
      await Promise.all([database, ...others].map((each) => each.drop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startOther([name, sql]: readonly [string, string]): Promise<OtherDatabase> {
  const database = await createDatabase();
  await database.sql(sql);
  return { name, ...database };
}

async function startEngine(
  { tables = [], options }: ShellWorld,
  databaseUrl: string,
  others: readonly OtherDatabase[],
): Promise<TestEngine> {
  const env = Object.fromEntries(others.map(({ name, url }) => [`${name.toUpperCase()}_URL`, url]));
  const engine = await startTestEngine({ databaseUrl, env, ...options, adminSecret: SECRET });
  await replaceMetadata(engine, { tables });
  return engine;
}

/** Returns a text with the values of its placeholders. Braces that hold no known name stay as they are. */
function filled(text: string, values: Values): string {
  return text.replaceAll(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all);
}

function replaced(text: string, texts: ReadonlyMap<string, string>): string {
  return [...texts].reduce((now, [from, to]) => now.replaceAll(from, () => to), text);
}

function writeFiles(
  document: string,
  { copy, files = {} }: ShellWorld,
  folder: string,
  finished: (text: string) => string,
): void {
  if (copy !== undefined) cpSync(join(CLONE, copy), folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), `${finished(blockOr(document, text))}\n`);
  }
}

/** Returns the environment of commands: nothing of this process but the folders of programs. */
function environmentOf(
  world: ShellWorld,
  surroundings: Surroundings,
  values: Values,
  folder: string,
): Readonly<Record<string, string>> {
  const own = Object.entries(world.env ?? {}).map(([name, text]) => [name, filled(text, values)]);
  return {
    HOME: folder,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    ...(values['engine'] !== undefined && { ENGINE: values['engine'] }),
    SECRET,
    ENGINE_GRAPHQL_ADMIN_SECRET: SECRET,
    DATABASE_URL: values['database']!,
    ...surroundings.env,
    ...Object.fromEntries(own),
    PATH: [...surroundings.path, process.env['PATH']].join(delimiter),
  };
}

function bash(text: string, cwd: string, env: Readonly<Record<string, string>>): Promise<Printed> {
  return new Promise((resolve) => {
    execFile('bash', ['-c', text], { cwd, env, maxBuffer: 2 ** 26 }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), printed: `${out}${err}` }),
    );
  });
}

function sqlOf(document: string): string {
  const blocks = fencedBlocks(document).filter(({ language }) => language === 'sql');
  return blocks.map(({ text }) => text).join(';\n');
}

function blockOr(document: string, text: string): string {
  const [, start] = /^block: (.*)$/s.exec(text) ?? [];
  if (start === undefined) return text;
  return fencedBlocks(document).find((block) => block.text.startsWith(start))!.text;
}
