/** The code about the code: layers, purity, sizes, headers, dead files, documents that name every room.
 *  A failure says which rule and where. The rules themselves: docs/ARCHITECTURE.md and CONTRIBUTING.md. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, normalize } from 'node:path';
import { expect, test } from 'vitest';

/** Room → rooms it may import; a room may always import itself. A folder of the engine, or a package's own folder. */
/** Of workspaces, for each other. */
const ENTRANCES: readonly string[] = [
  '@pergola/engine/connections',
  '@pergola/engine/metadata',
  '@pergola/operator/kinds',
];
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'engine/errors': [],
  'engine/json': ['engine/errors'],
  'engine/config': ['engine/json', 'engine/errors', 'engine/observe'],
  'engine/observe': ['engine/errors'],
  'engine/metadata': ['engine/json', 'engine/errors'],
  'engine/transform': ['engine/json', 'engine/metadata', 'engine/errors'],
  'engine/catalog': ['engine/json', 'engine/metadata', 'engine/errors'],
  'engine/resolve': ['engine/json', 'engine/metadata', 'engine/catalog', 'engine/errors'],
  'engine/schema': ['engine/resolve', 'engine/catalog', 'engine/metadata', 'engine/errors'],
  'engine/plan': [
    'engine/json',
    'engine/schema',
    'engine/resolve',
    'engine/catalog',
    'engine/metadata',
    'engine/errors',
  ],
  'engine/sql': ['engine/plan', 'engine/resolve', 'engine/catalog', 'engine/metadata'],
  'engine/wire': [],
  'engine/outgoing': ['engine/metadata'],
  'engine/limits': ['engine/resolve', 'engine/metadata', 'engine/errors'],
  'engine/database': [
    'engine/wire',
    'engine/sql',
    'engine/resolve',
    'engine/transform',
    'engine/metadata',
    'engine/errors',
    'engine/observe',
    'engine/config',
  ],
  'engine/webhook': [
    'engine/limits',
    'engine/outgoing',
    'engine/plan',
    'engine/json',
    'engine/resolve',
    'engine/transform',
    'engine/metadata',
    'engine/errors',
    'engine/observe',
  ],
  'engine/remote': [
    'engine/webhook',
    'engine/limits',
    'engine/outgoing',
    'engine/plan',
    'engine/json',
    'engine/resolve',
    'engine/metadata',
    'engine/errors',
    'engine/observe',
  ],
  'engine/execute': [
    'engine/remote',
    'engine/webhook',
    'engine/limits',
    'engine/database',
    'engine/json',
    'engine/wire',
    'engine/sql',
    'engine/plan',
    'engine/schema',
    'engine/resolve',
    'engine/transform',
    'engine/metadata',
    'engine/errors',
    'engine/observe',
    'engine/config',
    'engine/outgoing',
  ],
  'engine/events': [
    'engine/webhook',
    'engine/database',
    'engine/limits',
    'engine/json',
    'engine/execute',
    'engine/sql',
    'engine/resolve',
    'engine/transform',
    'engine/metadata',
    'engine/observe',
    'engine/errors',
  ],
  'engine/store': [
    'engine/webhook',
    'engine/database',
    'engine/limits',
    'engine/json',
    'engine/metadata',
    'engine/execute',
    'engine/observe',
    'engine/errors',
  ],
  'engine/admin': [
    'engine/remote',
    'engine/webhook',
    'engine/database',
    'engine/limits',
    'engine/json',
    'engine/metadata',
    'engine/store',
    'engine/events',
    'engine/sql',
    'engine/catalog',
    'engine/resolve',
    'engine/plan',
    'engine/execute',
    'engine/transform',
    'engine/errors',
    'engine/observe',
    'engine/config',
    'engine/outgoing',
  ],
  'engine/subscribe': [
    'engine/remote',
    'engine/webhook',
    'engine/database',
    'engine/limits',
    'engine/wire',
    'engine/execute',
    'engine/sql',
    'engine/plan',
    'engine/schema',
    'engine/resolve',
    'engine/errors',
    'engine/observe',
  ],
  'engine/auth': ['engine/config', 'engine/resolve', 'engine/errors', 'engine/observe', 'engine/outgoing'],
  'engine/http': [
    'engine/remote',
    'engine/webhook',
    'engine/database',
    'engine/limits',
    'engine/outgoing',
    'engine/json',
    'engine/wire',
    'engine/admin',
    'engine/subscribe',
    'engine/auth',
    'engine/schema',
    'engine/plan',
    'engine/execute',
    'engine/config',
    'engine/errors',
    'engine/observe',
    'engine/resolve',
    'engine/metadata',
  ],
  'engine/bench': ['*'],
  engine: ['*'],
  'operator/kinds': [],
  'operator/objects': ['operator/kinds'],
  'operator/ports': ['operator/objects', 'operator/kinds'],
  'operator/grants': ['operator/ports', 'operator/objects', 'operator/kinds'],
  'operator/engine': ['operator/ports', 'operator/objects'],
  'operator/decide': ['operator/grants', 'operator/ports', 'operator/objects', 'operator/kinds'],
  'operator/settle': ['operator/decide', 'operator/ports', 'operator/objects', 'operator/kinds'],
  'operator/status': [
    'operator/settle',
    'operator/decide',
    'operator/engine',
    'operator/ports',
    'operator/objects',
    'operator/kinds',
  ],
  'operator/pass': [
    'operator/status',
    'operator/settle',
    'operator/decide',
    'operator/engine',
    'operator/grants',
    'operator/ports',
    'operator/objects',
    'operator/kinds',
  ],
  'operator/folder': [
    'operator/pass',
    'operator/status',
    'operator/decide',
    'operator/engine',
    'operator/ports',
    'operator/objects',
    'operator/kinds',
  ],
  'operator/kubernetes': [
    'operator/pass',
    'operator/status',
    'operator/decide',
    'operator/engine',
    'operator/grants',
    'operator/ports',
    'operator/objects',
    'operator/kinds',
  ],
  'operator/commands': [
    'operator/folder',
    'operator/kubernetes',
    'operator/pass',
    'operator/status',
    'operator/kinds',
  ],
  'operator/main': ['operator/commands', 'operator/kubernetes'],
  crds: [],
  bin: ['*'],
  docs: ['*'],
  deploy: ['*'],
};

/** Rooms without I/O, clock or chance; the listed files are their shells. */
const PURE = [
  'engine/json',
  'engine/errors',
  'engine/metadata',
  'engine/transform',
  'engine/catalog',
  'engine/resolve',
  'engine/schema',
  'engine/plan',
  'engine/sql',
];
const IMPURE_FILES = ['engine/catalog/introspect.ts', 'engine/catalog/enum-rows.ts'];
const FORBIDDEN_WHEN_PURE =
  /\bprocess\.|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bsetTimeout\b|\bfetch\(|\bperformance\b/;
const FORBIDDEN_IMPORTS = /^(node:(?!buffer$).*|pg|fastify|ws|undici|@kubernetes\/client-node|pino)$/;

/** Ordered tables and generated files may be long; anything else that is holds two concepts. */
const MOST_LINES = 800;
const ORDERED_TABLES = [
  'engine/errors/errors.ts',
  'engine/metadata/operations.ts',
  'engine/config/options.ts',
];
const MOST_FUNCTION_LINES = 70;

/** Files nothing imports because something outside the code starts them. */
const ENTRIES = [
  /^bin\/(pergola\.mjs|up\.ts|export\.ts|import\.ts)$/,
  /^engine\/main\.ts$/,
  /^operator\/main\.ts$/,
  /^operator\/commands\//,
  /^(docs|crds)\/generate\.ts$/,
  /^engine\/http\/console\/build\.ts$/,
  /^vitest\.config\.ts$/,
  /^(deploy|charts)\//,
  /^testing\//,
  /^engine\/bench\//,
  /\.test\.ts$/,
];

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts', '*.mjs'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(file) && !file.includes('/generated/'));
const sources = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
const isTest = (file: string): boolean =>
  file.endsWith('.test.ts') || file.startsWith('testing/') || file.includes('/testing/');
const shipped = files.filter((file) => !isTest(file) && file.includes('/') && !file.startsWith('.'));

test('a room imports only the rooms its layer allows', () => {
  const wrong = shipped.flatMap((file) =>
    importsOf(file)
      .filter((target) => target.startsWith('.'))
      .map((target) => normalize(`${dirname(file)}/${target}`))
      .filter((target) => !allowed(roomOf(file), roomOf(target)))
      .map((target) => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test('operator and crds see of the engine only its entrances, and crds of the operator only its kinds', () => {
  const wrong = shipped.flatMap((file) =>
    importsOf(file)
      .filter((target) => target.startsWith('@pergola/'))
      .filter((target) => !ENTRANCES.includes(target))
      .map((target) => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test('no two rooms import each other', () => {
  const arrows = new Set(
    shipped.flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith('.'))
        .map((target) => `${roomOf(file)} → ${roomOf(normalize(`${dirname(file)}/${target}`))}`),
    ),
  );
  const mutual = [...arrows].filter((arrow) => {
    const [from, to] = arrow.split(' → ');
    return from !== to && arrows.has(`${to} → ${from}`);
  });
  expect(mutual).toEqual([]);
});

test('pure rooms have no I/O, no clock and no chance', () => {
  const wrong = shipped
    .filter((file) => PURE.includes(roomOf(file)) && !IMPURE_FILES.includes(file))
    .flatMap((file) => [
      ...importsOf(file)
        .filter((target) => FORBIDDEN_IMPORTS.test(target))
        .map((target) => `${file} imports ${target}`),
      ...codeLines(file)
        .filter((line) => FORBIDDEN_WHEN_PURE.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    ]);
  expect(wrong).toEqual([]);
});

test('only sql/fragment.ts makes fragments, and nothing else builds SQL text from strings', () => {
  const wrong = shipped.filter(
    (file) =>
      file.startsWith('engine/sql/') &&
      file !== 'engine/sql/fragment.ts' &&
      /new Fragment\(/.test(sources.get(file)!),
  );
  expect(wrong).toEqual([]);
});

test('files hold one concept: at most 800 lines, ordered tables aside', () => {
  const long = shipped.filter(
    (file) => !ORDERED_TABLES.includes(file) && sources.get(file)!.split('\n').length > MOST_LINES + 1,
  );
  expect(long).toEqual([]);
});

test('functions fit on a screen: at most 70 lines', () => {
  const long = shipped.flatMap((file) =>
    functionsOf(sources.get(file)!)
      .filter(({ lines }) => lines > MOST_FUNCTION_LINES)
      .map(({ name, lines }) => `${file} ${name}: ${lines} lines`),
  );
  expect(long).toEqual([]);
});

test('every file says at its top what it owns', () => {
  const bare = shipped.filter((file) => file.endsWith('.ts') && !sources.get(file)!.startsWith('/**'));
  expect(bare).toEqual([]);
});

test('no dead files: everything is imported or started by someone', () => {
  const imported = new Set(
    files.flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith('.'))
        .map((target) => normalize(`${dirname(file)}/${target}`)),
    ),
  );
  const packages = ['engine/metadata/index.ts', 'operator/kinds.ts'];
  const dead = shipped.filter(
    (file) => !imported.has(file) && !packages.includes(file) && !ENTRIES.some((entry) => entry.test(file)),
  );
  expect(dead).toEqual([]);
});

test('no name says nothing: util, helper, manager, service, misc', () => {
  const vague = shipped.filter((file) =>
    /(^|[/-])(utils?|helpers?|managers?|services?|misc|base)([./-]|$)/.test(file),
  );
  expect(vague).toEqual([]);
});

test('ARCHITECTURE names every room', () => {
  const text = readFileSync('docs/ARCHITECTURE.md', 'utf8');
  const rooms = Object.keys(LAYERS).filter((room) => room.includes('/') && existsSync(room));
  expect(rooms.filter((room) => !text.includes(`${room.split('/')[1]}/`))).toEqual([]);
});

test('every local link in the documents leads somewhere', () => {
  const documents = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter(Boolean);
  const broken = documents.filter(existsSync).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\]\(([^)#\s]+)(#[^)]*)?\)/g)]
      .map((match) => match[1]!)
      .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(normalize(`${dirname(file)}/${target}`)))
      .map((target) => `${file} → ${target}`),
  );
  expect(broken).toEqual([]);
});

test('every document that the code cites exists', () => {
  const missing = [...sources].flatMap(([file, text]) =>
    [...text.matchAll(/\bdocs\/[\w/-]+\.md\b/g)]
      .map(([path]) => path)
      .filter((path) => !existsSync(path))
      .map((path) => `${file} cites ${path}`),
  );
  expect(missing).toEqual([]);
});

function importsOf(file: string): string[] {
  return [...sources.get(file)!.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]!);
}

function roomOf(file: string): string {
  const [first, second, third] = file.split('/');
  // A file beside the operator's folders is a room of its own; kinds.ts is the entrance of kinds/.
  if (first === 'operator') return `operator/${second!.replace(/\.ts$/, '')}`;
  return first === 'engine' && third !== undefined ? `engine/${second}` : first!;
}

function allowed(from: string, to: string): boolean {
  return from === to || LAYERS[from]?.includes('*') === true || LAYERS[from]?.includes(to) === true;
}

function codeLines(file: string): string[] {
  return sources
    .get(file)!
    .split('\n')
    .filter((line) => !/^\s*(\*|\/\*|\/\/)/.test(line));
}

/** Functions declared at the left margin, which is where ours stand. */
function functionsOf(text: string): { name: string; lines: number }[] {
  const lines = text.split('\n');
  return lines.flatMap((line, start) => {
    const name = /^(?:export )?(?:async )?function\*? (\w+)/.exec(line)?.[1];
    if (name === undefined) return [];
    const end = lines.findIndex((other, i) => i > start && other === '}');
    return [{ name, lines: end - start + 1 }];
  });
}
