/** Checks rules of the whole code base: layers, cycles, purity, sizes, headers, docstrings, names, dead files, links of documents.
 *  A failure names the rule and the place.
 *  The rules are explained in docs/ARCHITECTURE.md and CONTRIBUTING.md. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { CALL_MARK, VARIABLE_MARK, type VariableMark } from './engine/metadata/schema/common.ts';
import { KEY_MARK, NAME_MARK } from './engine/metadata/schema/marks.ts';
import { Metadata } from './engine/metadata/schema/metadata.ts';
import { asJsonSchema, type JsonSchema } from './engine/metadata/walk-schema.ts';
import { KINDS } from './operator/kinds.ts';

/** The modules that one workspace may import from another. */
const ENTRANCES: readonly string[] = [
  '@pergola/engine/addresses',
  '@pergola/engine/admit',
  '@pergola/engine/connections',
  '@pergola/engine/metadata',
  '@pergola/engine/migrations',
  '@pergola/engine/list-text',
  '@pergola/engine/nearest',
  '@pergola/operator/effects',
  '@pergola/operator/kinds',
];
/** Lists the rooms that each room may import, besides itself. A room is a folder of the engine, or a top folder. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'engine/errors': [],
  'engine/json': ['engine/errors'],
  'engine/config': ['engine/json', 'engine/errors', 'engine/observe'],
  'engine/observe': ['engine/errors'],
  'engine/metadata': ['engine/json', 'engine/errors'],
  'engine/transform': ['engine/json', 'engine/metadata', 'engine/errors'],
  'engine/catalog': ['engine/json', 'engine/metadata', 'engine/errors'],
  'engine/resolve': ['engine/json', 'engine/metadata', 'engine/transform', 'engine/catalog', 'engine/errors'],
  'engine/admit': ['engine/metadata', 'engine/errors'],
  'engine/values': ['engine/metadata', 'engine/resolve'],
  'engine/schema': ['engine/resolve', 'engine/catalog', 'engine/metadata', 'engine/errors'],
  'engine/plan': [
    'engine/json',
    'engine/schema',
    'engine/resolve',
    'engine/catalog',
    'engine/metadata',
    'engine/errors',
  ],
  'engine/sql': ['engine/wire', 'engine/plan', 'engine/resolve', 'engine/catalog', 'engine/metadata'],
  'engine/wire': ['engine/limits', 'engine/outgoing'],
  'engine/outgoing': ['engine/limits', 'engine/metadata'],
  'engine/limits': ['engine/resolve', 'engine/metadata', 'engine/errors'],
  'engine/database': [
    'engine/limits',
    'engine/values',
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
    'engine/values',
    'engine/webhook',
    'engine/database',
    'engine/limits',
    'engine/json',
    'engine/metadata',
    'engine/execute',
    'engine/observe',
    'engine/errors',
  ],
  'engine/usage': ['engine/store', 'engine/plan', 'engine/database', 'engine/limits', 'engine/errors'],
  'engine/migrate': ['engine/store', 'engine/database', 'engine/catalog', 'engine/metadata', 'engine/wire'],
  'engine/change': [
    'engine/admit',
    'engine/usage',
    'engine/store',
    'engine/schema',
    'engine/transform',
    'engine/catalog',
    'engine/resolve',
    'engine/plan',
    'engine/limits',
    'engine/metadata',
    'engine/json',
    'engine/errors',
  ],
  'engine/state': [
    'engine/admit',
    'engine/usage',
    'engine/migrate',
    'engine/values',
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
    'engine/errors',
    'engine/observe',
    'engine/config',
    'engine/outgoing',
  ],
  'engine/why': [
    'engine/state',
    'engine/catalog',
    'engine/errors',
    'engine/execute',
    'engine/metadata',
    'engine/plan',
    'engine/resolve',
    'engine/schema',
    'engine/sql',
  ],
  'engine/admin': [
    'engine/state',
    'engine/change',
    'engine/why',
    'engine/admit',
    'engine/usage',
    'engine/migrate',
    'engine/values',
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
    'engine/webhook',
    'engine/errors',
    'engine/schema',
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
  'engine/auth': [
    'engine/json',
    'engine/config',
    'engine/resolve',
    'engine/errors',
    'engine/observe',
    'engine/outgoing',
  ],
  'engine/http': [
    'engine/remote',
    'engine/webhook',
    'engine/database',
    'engine/limits',
    'engine/outgoing',
    'engine/json',
    'engine/wire',
    'engine/state',
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
  'operator/identity-cache': [],
  'operator/text-pool': [],
  'operator/kinds': ['operator/identity-cache', 'operator/conversion'],
  'operator/yaml': [],
  'operator/conversion': [],
  'operator/objects': ['operator/identity-cache', 'operator/kinds'],
  'operator/ports': ['operator/objects', 'operator/kinds'],
  'operator/grants': ['operator/ports', 'operator/objects', 'operator/kinds', 'operator/identity-cache'],
  'operator/engine': ['operator/ports', 'operator/kinds', 'operator/objects', 'operator/text-pool'],
  'operator/permission-tests': ['operator/ports', 'operator/kinds'],
  'operator/decide': [
    'operator/permission-tests',
    'operator/grants',
    'operator/ports',
    'operator/objects',
    'operator/kinds',
    'operator/identity-cache',
  ],
  'operator/settle': ['operator/decide', 'operator/ports', 'operator/objects', 'operator/kinds'],
  'operator/status': [
    'operator/migrations',
    'operator/permission-tests',
    'operator/settle',
    'operator/decide',
    'operator/engine',
    'operator/ports',
    'operator/objects',
    'operator/kinds',
  ],
  'operator/migrations': ['operator/ports', 'operator/kinds'],
  'operator/outgoing': ['operator/engine'],
  'operator/artifacts': ['operator/outgoing', 'operator/grants', 'operator/ports', 'operator/kinds'],
  'operator/pass': [
    'operator/migrations',
    'operator/permission-tests',
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
    'operator/artifacts',
    'operator/migrations',
    'operator/yaml',
    'operator/grants',
    'operator/pass',
    'operator/status',
    'operator/decide',
    'operator/engine',
    'operator/ports',
    'operator/objects',
    'operator/kinds',
  ],
  'operator/kubernetes': [
    'operator/outgoing',
    'operator/artifacts',
    'operator/pass',
    'operator/status',
    'operator/decide',
    'operator/engine',
    'operator/grants',
    'operator/ports',
    'operator/objects',
    'operator/kinds',
    'operator/text-pool',
    'operator/identity-cache',
  ],
  'operator/commands': [
    'operator/conversion',
    'operator/yaml',
    'operator/folder',
    'operator/kubernetes',
    'operator/pass',
    'operator/status',
    'operator/kinds',
  ],
  'operator/main': ['operator/commands', 'operator/kubernetes'],
  crds: [],
  console: [],
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
  'engine/admit',
  'engine/schema',
  'engine/plan',
  'engine/sql',
  'engine/why',
  'operator/conversion',
  'operator/yaml',
];
const IMPURE_FILES = ['engine/catalog/introspect.ts', 'engine/catalog/enum-rows.ts'];
const FORBIDDEN_WHEN_PURE =
  /\bprocess\.|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bsetTimeout\b|\bfetch\(|\bperformance\b/;
const FORBIDDEN_IMPORTS = /^(node:(?!buffer$).*|pg|fastify|ws|undici|@kubernetes\/client-node|pino)$/;

/** Ordered tables and generated files may be long; anything else that is holds two concepts. */
const MOST_LINES = 800;
const ORDERED_TABLES = ['engine/errors/errors.ts', 'engine/config/options.ts'];
const MOST_FUNCTION_LINES = 70;

/** The kinds that translate or describe objects by code of their own, with the reason. */
const TRANSLATED_BY_HAND: Readonly<Record<string, string>> = {
  'operator/kinds/action.ts': 'the types in its SDL are objects of their own',
  'operator/kinds/allow-list-entry.ts': 'the entry of a collection is described with the collection',
  'operator/kinds/custom-types.ts': 'one text declares all objects',
  'operator/kinds/metadata-bundle.ts': 'it has objects as the metadata has them',
  'operator/kinds/migration.ts': 'it has no objects, and its files must be readable',
  'operator/kinds/permission-test.ts': 'it has no objects, and its query must be valid',
};

/** Files nothing imports because something outside the code starts them. */
const ENTRIES = [
  /^bin\/(pergola\.mjs|bundle\.ts|up\.ts|init\.ts|test\.ts|export\.ts|why\.ts|import\.ts|compat\.ts|migrate\.ts|completion\.ts)$/,
  /^engine\/main\.ts$/,
  /^operator\/main\.ts$/,
  /^operator\/commands\//,
  /^(docs|crds)\/generate\.ts$/,
  /^docs\/site\/serve\.ts$/,
  /^console\/(build\.ts|page\/page\.jsx)$/,
  /^vitest\.config\.ts$/,
  /^(deploy|charts)\//,
  /^testing\//,
  /^engine\/bench\//,
  /\.test\.ts$/,
  // The types of a package that has none.
  /\.d\.ts$/,
];

/** The state of modules, with the reason why nothing smaller than the process can have it. */
const MODULE_STATE: Readonly<Record<string, string>> = {
  'bin/source-lines.mjs maps': 'Error.prepareStackTrace is one for the process',
  'engine/database/tls.ts known': 'the authorities of the system do not change, and reading them takes long',
  'engine/execute/plan-cache.ts count': 'a metric of the process',
  'engine/execute/plan-cache.ts hits': 'a metric of the process',
  'engine/execute/plan-cache.ts misses': 'a metric of the process',
  'engine/http/body/gzip.ts compressor': 'one for all bodies, because each has a quarter of a megabyte',
  'engine/limits/cache-budget.ts SHARED_BUDGET': 'the memory of the container is one for all caches',
  'engine/limits/idle-memory.ts last': 'the CPU time of the process at the last look',
  'engine/limits/memory-budget.ts SHARED_MEMORY': 'the memory of the container is one for all requests',
  'engine/limits/memory-pressure.ts running': 'the garbage collector is one for the process',
  'engine/limits/slices.ts isScheduled': 'the event loop is one for the process',
  'engine/limits/slices.ts sliceEnd': 'the event loop is one for the process',
  'engine/limits/slices.ts waiting': 'the event loop is one for the process',
  'engine/metadata/validate.ts regExps': 'as many as the schemas have patterns',
  'engine/observe/sinks.ts lastTime': 'many lines have the same time',
  'engine/observe/sinks.ts lastTimestamp': 'many lines have the same time',
  'engine/observe/span-exporter.ts library': 'loaded only where spans are exported',
  'engine/outgoing/addresses.ts loopbackHosts': 'an option of the process',
  'engine/outgoing/answer-memory.ts SHARED_ANSWERS': 'the memory of the container is one for all answers',
  'engine/outgoing/response-body.ts FREE': 'blocks of all answers, emptied after seconds without use',
  'engine/outgoing/response-body.ts idle': 'the timer that empties the blocks',
  'engine/remote/feed.ts open': 'a limit of connections of the process',
  'operator/folder/read-inputs.ts read': 'standard input can be read once',
  'operator/kinds/validate.ts ajv':
    'the compiler of the schemas of kinds, loaded when the first is validated',
};

/** The files that read a message, with the reason why there is nothing else to read. */
const READ_MESSAGES: Readonly<Record<string, string>> = {
  'engine/database/data-exception.ts': 'only the text of Postgres says whether it has a value',
  'engine/database/pg-errors.ts': 'Postgres has one code for several errors',
  'engine/resolve/inconsistency.ts': 'a text has its prefix once',
  'engine/wire/pool.ts': 'poolers refuse a connection without a code',
  'operator/engine/problem.ts': 'fetch refuses a URL without a code',
  'operator/folder/validate.ts': 'a rule of a schema is a text with a path',
  'operator/kinds/validate.ts': 'a rule of a schema is a text with a path',
  'operator/permission-tests/expectation.ts': 'a test says what a message must contain',
  'operator/yaml/problem.ts': 'the parser of YAML has no codes',
};

const files = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', '*.ts', '*.mjs', 'console/*.js', 'console/*.jsx'],
  {
    encoding: 'utf8',
  },
)
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

test('operator, crds and console see of other packages only their entrances', () => {
  const wrong = shipped.flatMap((file) =>
    importsOf(file)
      .filter((target) => target.startsWith('@pergola/'))
      .filter((target) => !ENTRANCES.includes(target))
      .map((target) => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test('the operator leaves every search to the engine', () => {
  const searching = shipped
    .filter((file) => file.startsWith('operator/'))
    .filter((file) => /\b(bisect|firstFailure|dryRun\()/.test(sources.get(file)!));
  expect(searching).toEqual([]);
});

test('a port has only required methods', () => {
  const ports = shipped.filter((file) => file.startsWith('operator/ports/'));
  const optional = ports.flatMap((file) =>
    [...sources.get(file)!.matchAll(/^ {2}(\w+)\?\(/gm)].map(([, name]) => name),
  );
  expect(ports).not.toEqual([]);
  expect(optional).toEqual([]);
});

test('the life of an admin operation knows no operation by its name', () => {
  const life = ['engine/admin/run.ts', 'engine/admin/request.ts'];
  const byName = life.flatMap((file) =>
    [...sources.get(file)!.matchAll(/name === '(\w+)'/g)].map(([, name]) => `${file}: ${name}`),
  );
  // The name of the operation says the kind of the source.
  expect(byName).toEqual(['engine/admin/request.ts: pg_add_source']);
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

test('statements on the tables of the engine are in store and events', () => {
  const TABLE = /\b(from|join|into|update|table)\s+pergola\./;
  const found = shipped.filter((file) => file.startsWith('engine/') && TABLE.test(sources.get(file)!));
  const allowed = (file: string) =>
    /^engine\/(store|events)\//.test(file) || file === 'engine/sql/event-trigger.ts';
  expect(found.filter((file) => !allowed(file))).toEqual([]);
});

test('JSON that may have numbers of people is parsed with all of their digits', () => {
  // Each has numbers that a program wrote, or none that is passed on.
  const OF_PROGRAMS =
    /^(?:engine\/(?:auth|bench|catalog|config|http|json|observe|remote|resolve|subscribe|transform|webhook|why)|operator\/(?:artifacts|engine|kubernetes)|bin\/up|deploy|docs)\//;
  const CONSOLE = /^console\/page\/(?:activity-logs|credentials|digits|pack-worker|packed-schema|session)\./;
  const OTHERS = [
    'engine/execute/remote.ts',
    'engine/metadata/access/filter-words.ts',
    'engine/store/action-calls.ts',
    'engine/store/intents.ts',
    'operator/folder/invocation.ts',
    'operator/folder/schemas.ts',
  ];
  const found = shipped.filter((file) => /\bJSON\.parse\(/.test(sources.get(file)!));
  const isAllowed = (file: string) =>
    OF_PROGRAMS.test(file) || CONSOLE.test(file) || OTHERS.includes(file) || /^bin\/[^/]*$/.test(file);
  expect(found.filter((file) => !isAllowed(file))).toEqual([]);
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

test('a field of a spec is written once: kinds declare, parts.ts translates and describes', () => {
  const BY_HAND = /^ {2}(translate|describe|fieldAt):/m;
  const kinds = shipped.filter(
    (file) => file.startsWith('operator/kinds/') && sources.get(file)!.includes('kindRow({'),
  );
  const found = kinds.filter((file) => BY_HAND.test(sources.get(file)!));
  expect(found).toEqual(Object.keys(TRANSLATED_BY_HAND));
});

test('no kind of resource is special by its name or a member of its spec: what differs is a column of KINDS', () => {
  const names = KINDS.map(({ kind }) => kind).join('|');
  const SPECIAL = new RegExp(`\\bkind [!=]== '(${names})'|'\\w+' in (\\w+\\.)?spec\\b`);
  // What a test gates is a value of its spec, and every spec may have a deletion policy.
  const OF_VALUES = /gate\?\.kind|deletionPolicy/;
  const found = shipped
    .filter((file) => /^operator\/(?!kinds\/|conversion\/)/.test(file))
    .flatMap((file) => codeLines(file).filter((line) => SPECIAL.test(line) && !OF_VALUES.test(line)));
  expect(found).toEqual([]);
});

test('nothing decides by the text of a message, except where there is nothing else to read', () => {
  const READS =
    /\b(message|reason)\b\??\.(includes|startsWith|endsWith|match|split|search|indexOf)\(|\.(test|exec)\(([\w!?]+\.)*(message|reason)\)/;
  const found = shipped
    .filter((file) => /^(engine|operator)\//.test(file) && !/^engine\/(oracle|bench)\//.test(file))
    .filter((file) => codeLines(file).some((line) => READS.test(line)));
  expect(found.toSorted()).toEqual(Object.keys(READ_MESSAGES));
});

// Constants that begin with NO are empty and stay so.
test('modules keep no state: caches belong to their keys, and what the process has only once says why', () => {
  const STATE =
    /^(?:export )?(?:let (\w+)|const ((?!NO)\w+)(?:: (?!Readonly|readonly)[^=]+)? = (?:new (?:Map|Set)(?:<.*>)?\(\)|new \w*Budget\(.*\)|\[\]);)/gm;
  const found = shipped
    .filter((file) => /^(bin|crds|engine|operator)\/.*\.(ts|mjs)$/.test(file))
    .flatMap((file) =>
      [...sources.get(file)!.matchAll(STATE)].map(([, variable, value]) => `${file} ${variable ?? value}`),
    );
  expect(found.toSorted()).toEqual(Object.keys(MODULE_STATE).toSorted());
});

test('one parser reads boolean expressions: nothing else looks for a connective', () => {
  const found = shipped
    .filter((file) => /^(engine|operator)\//.test(file))
    .filter((file) => /(['"])[_$](and|or|not|exists)\1/.test(sources.get(file)!));
  expect(found).toEqual([]);
});

test('every file says at its top what it owns', () => {
  const bare = shipped.filter((file) => /\.(ts|jsx?)$/.test(file) && !sources.get(file)!.startsWith('/**'));
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
  const packages = [
    'engine/metadata/index.ts',
    'engine/admit/index.ts',
    'operator/kinds.ts',
    'operator/status/effect-lines.ts',
  ];
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

test('ARCHITECTURE names only files that exist', () => {
  const text = readFileSync('docs/ARCHITECTURE.md', 'utf8');
  const isThere = (path: string) => ['', 'engine/', 'operator/'].some((root) => existsSync(`${root}${path}`));
  const named = [...text.matchAll(/`([\w-]+\/[\w./-]+\.(?:test\.)?ts)`/g)].map(([, path]) => path!);
  expect(named.filter((path) => !isThere(path))).toEqual([]);
  const [, matrix = ''] = /\| concept \|.*\n\|[-|]+\n((?:\|.*\n)+)/.exec(text) ?? [];
  const stages = ['metadata/schema', 'resolve', 'schema', 'plan', 'sql'];
  const missing = matrix.split('\n').flatMap((line) =>
    line
      .split('|')
      .slice(2, 7)
      .flatMap((cell, stage) =>
        cell
          .replaceAll(/\([^)]*\)/g, '')
          .split(',')
          .map((name) => name.trim())
          .filter((name) => name !== '' && name !== 'all')
          .map((name) => normalize(`engine/${stages[stage]}/${name}.ts`)),
      )
      .filter((file) => !existsSync(file)),
  );
  expect(missing).toEqual([]);
});

test('every option and every metric is used by code outside its table', () => {
  const tables = ['engine/config/options.ts', 'engine/observe/metrics.ts'];
  const code = shipped
    .filter((file) => !tables.includes(file))
    .map((file) => sources.get(file)!)
    .join('\n');
  const metrics = [...sources.get(tables[1]!)!.matchAll(/^ {2}(pergola_\w+):/gm)].map(([, name]) => name!);
  const options = [...sources.get(tables[0]!)!.matchAll(/^ {2}'?([a-z][a-z0-9-]*)'?: row\(/gm)].map(
    ([, flag]) => flag!.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
  );
  expect(Math.min(metrics.length, options.length)).toBeGreaterThan(20);
  expect([...metrics, ...options].filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
});

test('every guide is linked from another document', () => {
  const documents = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file !== '' && existsSync(file));
  const links = new Set(
    documents.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\]\(([^)#\s]+)/g)]
        .map(([, target]) => normalize(`${dirname(file)}/${target}`))
        .filter((target) => target !== file),
    ),
  );
  const guides = documents.filter((file) => /^docs\/(guides|reference\/behaviour|security)\//.test(file));
  expect(guides.filter((file) => !links.has(file))).toEqual([]);
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

test('no file imports itself through others, types included', () => {
  expect(cyclesOf(new Map(files.map((file) => [file, importedBy(file)])))).toEqual([]);
});

test('a type, class or interface name is exported once', () => {
  const files = shipped.filter(
    (file) => /^(engine|operator)\//.test(file) && !/^engine\/(oracle|bench)\//.test(file),
  );
  const owners = Map.groupBy(
    files.flatMap((file) =>
      [...sources.get(file)!.matchAll(/^export (?:abstract )?(?:type|interface|class) (\w+)/gm)].map(
        ([, name]) => ({ name: name!, file }),
      ),
    ),
    ({ name }) => name,
  );
  const shared = [...owners].filter(([, at]) => at.length > 1);
  expect(shared.map(([name, at]) => `${name}: ${at.map(({ file }) => file).join(', ')}`)).toEqual([]);
});

test('docstrings are sentences, not fragments', () => {
  const fragments = docstrings().flatMap(({ file, name, text }) => {
    const problem = fragmentProblem(text);
    return problem === null ? [] : [`${file} ${name}: ${problem}: "${text}"`];
  });
  expect(fragments).toEqual([]);
});

test('names have the words of the field: nothing is asked, told or understood', () => {
  const wrong = shipped.flatMap((file) =>
    namesIn(file)
      .filter(({ name, isExported }) => bannedWordIn(name, isExported) !== undefined)
      .map(({ name }) => `${file}: ${name}`),
  );
  expect(wrong).toEqual([]);
});

/** Members of the metadata whose names have these words name something. */
const NAMING =
  /(^|_)(tables?|functions?|columns?|column_(config|names)|roles?|role_(name|set)|sources?|collection(_name)?|query(_name)?|remote_schema|native_query|logical_model|model|returns|types?|type_name|relationships?|fields?|mapping|set|arguments?|filter|check|indexes|schema)(\{\})?$/;

/** Names that no object of the metadata, table, column or role has, by the end of their path, and what they name. `{}` stands for the keys
 *  and values of a record. */
const UNMARKED: Readonly<Record<string, string>> = {
  'configuration.extensions_schema': 'a schema of the database',
  'configuration.custom_column_names{}': 'columns as GraphQL names them; the keys are marked',
  'configuration.conflict_indexes': 'indexes of the database, whose renames are not followed',
  'permission.set{}': 'values; the keys are marked',
  'definition.table_argument': 'an argument of a function of the database',
  'definition.session_argument': 'an argument of a function of the database',
  'configuration.session_argument': 'an argument of a function of the database',
  'custom_root_fields.function': 'a root field',
  'native_queries.arguments{}': 'arguments in the code of the query itself',
  'arguments{}.type': 'a type of the database',
  'fields.type': 'a type of the database',
  'type_names.mapping{}': 'types of a remote schema',
  'field_names.parent_type': 'a type of a remote schema',
  'field_names.mapping{}': 'fields of a remote schema',
  'remote_relationships.type_name': 'a type of a remote schema',
  'definition.schema': 'SDL of a remote schema',
  'queries.query': 'the text of a query',
  'fields.arguments': 'kept for other tools',
  'relationships.field_mapping{}': 'fields of the custom type itself; the values are marked',
};

test('what names something in the metadata is marked, so that it is followed', () => {
  const unmarked = unmarkedNames(asJsonSchema(Metadata), '');
  const named = unmarked.filter((path) => NAMING.test(path.split('.').at(-1)!));
  const ends = new Set(named.map((path) => path.split('.').slice(-2).join('.')));
  expect([...ends].filter((end) => !Object.hasOwn(UNMARKED, end))).toEqual([]);
  expect(Object.keys(UNMARKED).filter((end) => !ends.has(end))).toEqual([]);
});

test('an address that the engine calls is marked, so that its host needs a grant', () => {
  const ends = new Set(
    sentOnly(asJsonSchema(Metadata), '').map((path) => path.split('.').slice(-2).join('.')),
  );
  const parts = ['value', 'value_from_env', 'value_from_value', 'value_from_file'];
  expect([...ends]).toEqual(parts.map((part) => `headers.${part}`));
});

/** Returns the paths of texts that are sent and are no address. */
function sentOnly(schema: MarkedSchema, path: string): readonly string[] {
  const mark = schema[VARIABLE_MARK];
  if (mark) return mark.use === 'outbound' && !schema[CALL_MARK] ? [path] : [];
  return insideOf(schema, path, sentOnly);
}

type MarkedSchema = JsonSchema & {
  readonly [NAME_MARK]?: { readonly content?: readonly JsonSchema[] | 'expression' };
  readonly [KEY_MARK]?: object;
  readonly [VARIABLE_MARK]?: VariableMark;
  readonly [CALL_MARK]?: object;
};

/** Returns the paths of texts, tables and keys of records that have no mark in a schema. */
function unmarkedNames(schema: MarkedSchema, path: string): readonly string[] {
  if (schema[VARIABLE_MARK]) return [];
  const mark = schema[NAME_MARK];
  if (mark) {
    return Array.isArray(mark.content) ? mark.content.flatMap((inner) => unmarkedIn(inner, path)) : [];
  }
  const isText = schema.type === 'string' && schema.const === undefined;
  const isOpen = Object.keys(schema).length === 0 || schema.additionalProperties === true;
  const isTable = schema.properties !== undefined && Object.keys(schema.properties).join() === 'schema,name';
  const own = isText || isOpen || isTable ? [path] : [];
  const keys = schema.patternProperties && !schema[KEY_MARK] ? [`${path}{}`] : [];
  return [...own, ...keys, ...(isTable ? [] : unmarkedIn(schema, path))];
}

function unmarkedIn(schema: JsonSchema, path: string): readonly string[] {
  return insideOf(schema, path, unmarkedNames);
}

/** Returns what `find` returns for the schemas in a schema. */
function insideOf(
  schema: JsonSchema,
  path: string,
  find: (schema: MarkedSchema, path: string) => readonly string[],
): readonly string[] {
  const { properties = {}, patternProperties = {}, items, anyOf = [] } = schema;
  return [
    ...Object.entries(properties).flatMap(([key, field]) => find(field, `${path}.${key}`)),
    ...Object.values(patternProperties).flatMap((field) => find(field, `${path}{}`)),
    ...(items ? find(items, path) : []),
    ...anyOf.flatMap((branch) => find(branch, path)),
  ];
}

/** Returns the shipped files that a file imports by a relative path. */
function importedBy(file: string): readonly string[] {
  return importsOf(file)
    .filter((target) => target.startsWith('.'))
    .map((target) => normalize(`${dirname(file)}/${target}`))
    .filter((target) => sources.has(target));
}

/** Returns the groups of files that import each other, directly or through others: Tarjan's strongly connected components. */
function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file)!);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(file, Math.min(low.get(file)!, low.get(next)!));
    }
    if (low.get(file) !== index.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1 || graph.get(file)?.includes(file)) cycles.push(group.sort());
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return cycles;
}

type Docstring = {
  readonly file: string;
  readonly name: string;
  readonly text: string;
};

/** Returns all docstrings of shipped code, file headers aside. */
function docstrings(): readonly Docstring[] {
  const files = shipped.filter((file) => file.endsWith('.ts') && !file.includes('/e2e/'));
  return files.flatMap((file) =>
    [...sources.get(file)!.matchAll(/\/\*\*((?:[^*]|\*(?!\/))*)\*\/\s*\n[ ]*([^\n]*)/g)]
      .filter((match) => match.index > 0)
      .map(([, text, line]) => ({
        file,
        name: nameOn(line!),
        text: text!.replaceAll(/\n\s*\*?\s*/g, ' ').trim(),
      })),
  );
}

const DECLARATION =
  /^(?:export )?(?:declare |async |abstract )*(?:function\*?|const|let|type|class|interface) (\w+)/;

function nameOn(line: string): string {
  return DECLARATION.exec(line)?.[1] ?? /^(?:readonly |static |async |get |#)*(\w+)/.exec(line)?.[1] ?? line;
}

/** A docstring that starts with one of these finishes another sentence instead of being one. */
const NO_SUBJECT = new Set(
  'Of Than Where Who Whose What Which Also Then Or And But That Those Likewise Whether Them Their Its It They Is Are Was Does Do Has Have May Can Must Should'.split(
    ' ',
  ),
);
/** With these a main clause has to follow after a comma: "For a role, the engine adds its filter." */
const OPENERS = new Set(
  'As By With Without For In To From At On When Among Behind Before After Beside Besides'.split(' '),
);
/** A docstring of two words can be a sentence: "Raises `notFound`." */
const VERBS =
  /^(Returns|Raises|Throws|Resolves|Compares|Prints|Parses|Reads|Writes|Closes|Opens|Stops|Starts)\b/;

/** Returns why a docstring is a fragment; null when it is a sentence. The check is by words, so that it is cheap and predictable. */
function fragmentProblem(text: string): string | null {
  const [first = ''] = text.split(/(?<=[.?!:])\s/);
  const word = /^[\w']*/.exec(text)?.[0] ?? '';
  if (!/^[A-Z`'"$@\d(<{[]/.test(text)) return 'it does not begin with a capital';
  if (NO_SUBJECT.has(word)) return `it begins with "${word}"`;
  if (OPENERS.has(word) && !/, \w/.test(first)) return `"${word} …" has no main clause`;
  if (text.endsWith('?')) return 'it is a question';
  if (!/[.:)`}\]]$/.test(text)) return 'it does not end with a full stop';
  return text.split(' ').length < 4 && !VERBS.test(text) ? 'it is no sentence' : null;
}

/** Words that no name has: the field has better ones. */
const BANNED = new Set(
  'ask asks asked asking asker tell tells told telling hear hears heard heir heirs outward ground understood stood standing sight alone'.split(
    ' ',
  ),
);
/** Words that are fine for a variable in a function, and say too little in a name that others import. */
const BANNED_WHEN_EXPORTED = new Set('place places known made shown others guard guards'.split(' '));

function bannedWordIn(name: string, isExported: boolean): string | undefined {
  const words = (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((word) => word.toLowerCase());
  return words.find((word) => BANNED.has(word) || (isExported && BANNED_WHEN_EXPORTED.has(word)));
}

/** Returns the names that a file declares: functions, constants, types, and members of types and classes. */
function namesIn(file: string): readonly { readonly name: string; readonly isExported: boolean }[] {
  const code = sources
    .get(file)!
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\/\/.*/g, '')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''");
  const declared = [
    ...code.matchAll(
      /(export )?(?:declare |async |abstract )*\b(?:function\*?|const|let|type|class|interface) (\w+)/g,
    ),
  ].map(([, exported, name]) => ({ name: name!, isExported: exported !== undefined }));
  const members = [...code.matchAll(/^ +(?:readonly |static |async |get |#)*(\w+)\??(?:: |\()/gm)].map(
    ([, name]) => ({ name: name!, isExported: false }),
  );
  return [...declared, ...members];
}

/** Returns what a file imports, without the mark of the bundler for threads. */
function importsOf(file: string): string[] {
  return [...sources.get(file)!.matchAll(/(?:from|import)\s*\(?\s*'([^'?]+)(?:\?worker)?'/g)].map(
    (match) => match[1]!,
  );
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
