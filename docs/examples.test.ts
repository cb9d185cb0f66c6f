/** Runs the examples that documents show without the tables they need: resources become Ready, admin operations succeed, and requests have a
 *  response without errors. Each document runs twice, with its resources and with its admin operations, on an engine of its own.
 *  In: the tables and services (testing/worlds.ts). Not here: the guides that bring their own (operator/end-to-end/guides.test.ts). */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kind, parse, print } from 'graphql';
import { loadAll } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { findOperation } from '../engine/metadata/index.ts';
import { applied } from '../operator/testing/applied.ts';
import { blocksOf } from '../operator/testing/guide.ts';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import { type GraphqlAnswer, startTestEngine, type TestEngine } from '../testing/engine.ts';
import { startRemote } from '../testing/remote.ts';
import { TestWebhook } from '../testing/webhook.ts';
import { openSocket } from '../testing/websocket.ts';
import { ENDPOINTS, operationsIn } from './testing/operations.ts';
import { WORLDS, type World } from './testing/worlds.ts';

const ROOT = import.meta.dirname;
const MODES = ['resources', 'operations'] as const;
type Mode = (typeof MODES)[number];
type Example = {
  readonly kind: 'sql' | Mode | 'request';
  readonly at: string;
  readonly text: string;
};

const documents = ['guides', 'reference/behaviour'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`),
);
/** The documents that operator/end-to-end/guides.test.ts runs. */
const isComplete = (file: string) => /^```graphql .*=/m.test(readFileSync(join(ROOT, file), 'utf8'));
const shown = documents.filter(
  (file) =>
    !isComplete(file) && examplesOf(file).some(({ kind }) => kind === 'request' || kind === 'operations'),
);

test('each document with examples has a world', () => {
  expect(Object.keys(WORLDS).sort()).toEqual(shown.sort());
});

describe.each(shown.filter((file) => file in WORLDS))('%s', (file) => {
  const world = WORLDS[file]!;
  const examples = examplesOf(file).filter(({ text }) =>
    Object.keys(world.skips ?? {}).every((piece) => !text.includes(piece)),
  );
  const modes = MODES.filter((mode) => examples.some(({ kind }) => kind === mode));

  test.each(modes.length > 0 ? modes : (['requests'] as const))('by its %s', async (mode) => {
    const place = await startPlace(world);
    try {
      const [first] = examples.filter(({ kind }) => kind !== 'sql');
      for (const example of examples) {
        if (example === first) await place.declare(mode === 'resources' ? declaredIn(examples) : []);
        if (example.kind !== 'sql' && example.kind !== 'request' && example.kind !== mode) continue;
        expect({ at: example.at, problems: await place.run(example) }).toEqual({
          at: example.at,
          problems: [],
        });
      }
    } finally {
      await place.close();
    }
  });

  test('skips what it shows', () => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    expect(Object.keys(world.skips ?? {}).filter((piece) => !text.includes(piece))).toEqual([]);
  });
});

/** Returns the parts of a document that can run. What is shortened with dots is left out, and types of a schema. */
function examplesOf(file: string): readonly Example[] {
  return blocksOf(readFileSync(join(ROOT, file), 'utf8')).flatMap(
    ({ language, text, line }): readonly Example[] => {
      const at = `${file}:${line}`;
      if (language === 'sql' && !text.includes('…')) return [{ kind: 'sql', at, text }];
      if (language === 'yaml' && text.includes('apiVersion: pergola.dev/'))
        return [{ kind: 'resources', at, text }];
      if (language === 'json')
        return operationsIn(text)
          .filter((operation) => operation.includes('"args"'))
          .map((operation) => ({ kind: 'operations', at, text: operation }));
      if (language === 'graphql')
        return requestsIn(text).map((request) => ({ kind: 'request', at, text: request }));
      return [];
    },
  );
}

/** Returns the operations of a block, each as a request of its own. */
function requestsIn(text: string): readonly string[] {
  return parse(text)
    .definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION)
    .map((definition) => print(definition))
    .filter((request) => !request.includes('…'));
}

type Manifest = { readonly kind: string; readonly spec: { readonly table?: string; readonly name?: string } };

type Place = {
  /** Declares the metadata of the world except for some tables and sources. */
  readonly declare: (except: readonly string[]) => Promise<void>;
  readonly run: (example: Example) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
};

async function startPlace(world: World): Promise<Place> {
  const database = await createDatabase();
  await database.sql(world.sql ?? '');
  const others = await Promise.all(
    Object.entries(world.databases ?? {}).map(async ([variable, sql]) => {
      const other = await createDatabase();
      await other.sql(sql);
      return { variable, url: other.url, drop: other.drop };
    }),
  );
  const remote = await startRemote(world.remote ?? 'type Query { nothing: Int }');
  const webhook = await TestWebhook.start();
  webhook.reply = () => ({ status: 200, body: world.answers?.[webhook.received.at(-1)!.path] ?? {} });
  const urls = Object.fromEntries(others.map(({ variable, url }) => [variable, url]));
  const services = { SHIPPING_URL: remote.url.replace('/graphql', ''), BLOG_URL: remote.url };
  const webhooks = { ACCOUNTS_URL: webhook.url, CHECKS_URL: webhook.url, HANDLER: webhook.url };
  const keys = { ACCOUNTS_KEY: 'k', CHECKS_KEY: 'k', HANDLER_TOKEN: 'k', COLLECTOR_KEY: 'k' };
  const folder = mkdtempSync(join(tmpdir(), 'pergola-examples-'));
  const env = { ...urls, ...services, ...webhooks, ...keys };
  const engine = await startTestEngine({ databaseUrl: database.url, env, ...world.options });
  return {
    declare: (except) => declareWorld(engine, world, except),
    run: (example) => RUNS[example.kind]({ example, world, engine, folder, database }),
    close: async () => {
      await engine.close();
      await remote.close();
      webhook.close();
      await Promise.all([database, ...others].map((each) => each.drop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the names of the tables and sources that the resources declare. */
function declaredIn(examples: readonly Example[]): readonly string[] {
  const resources = examples.filter(({ kind }) => kind === 'resources');
  const manifests = resources.flatMap(({ text }) => loadAll(text) as readonly Manifest[]);
  return manifests.flatMap(({ kind, spec }) =>
    kind === 'Table' ? [spec.table!] : kind === 'Source' ? [spec.name!] : [],
  );
}

async function declareWorld(
  engine: TestEngine,
  { tables: all = [], sources: others = [], functions = [], parts }: World,
  except: readonly string[],
): Promise<void> {
  const tables = all.filter((each) => !except.includes(each.table.name));
  const sources = others.filter((each) => !except.includes(each.name));
  const { body: exported } = await engine.admin<{ sources: object[] }>('export_metadata', {});
  const [own] = exported.sources;
  const metadata = {
    version: 3,
    sources: [{ ...own, tables, functions: functions.map((name) => ({ function: name })) }, ...sources],
    ...parts,
  };
  await engine.must('replace_metadata', { metadata }, { version: 2 });
}

type Run = {
  readonly example: Example;
  readonly world: World;
  readonly engine: TestEngine;
  readonly folder: string;
  readonly database: TestDatabase;
};

/** How an example runs, by its kind. Each returns what went wrong. */
const RUNS: Readonly<Record<Example['kind'], (run: Run) => Promise<readonly string[]>>> = {
  sql: ({ example, database }) => database.sql(example.text).then(() => []),
  resources: async ({ example: { at, text }, engine, folder }) => {
    writeFileSync(join(folder, `${at.replaceAll(/\W/g, '-')}.yaml`), `${text}\n${secretsFor(text)}`);
    return applied(folder, engine);
  },
  operations: async ({ example, engine }) => {
    const { type, args } = JSON.parse(example.text) as { type: string; args: unknown };
    const endpoint = ENDPOINTS.find((path) => findOperation(type, 1, path));
    const { status, body } = await engine.admin(type, args, endpoint && { endpoint });
    return status === 200 ? [] : [JSON.stringify(body)];
  },
  request: async ({ example: { text }, world: { variables: all = {}, path = '/v1/graphql' }, engine }) => {
    const named = Object.entries(all).filter(([name]) => text.includes(`$${name}`));
    const body = { query: text, variables: Object.fromEntries(named) };
    const { errors = [] } = await (text.startsWith('subscription')
      ? firstAnswer(engine, body)
      : answerOf(engine, path, body));
    return errors.map((error) => JSON.stringify(error));
  },
};

type Body = { readonly query: string; readonly variables: object };
type Errors = Pick<GraphqlAnswer<unknown>, 'errors'>;

async function answerOf(engine: TestEngine, path: string, body: Body): Promise<Errors> {
  const headers = { 'content-type': 'application/json' };
  const response = await engine.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as Errors;
}

/** Returns Secrets with the keys that resources refer to. */
function secretsFor(text: string): string {
  const named = [...text.matchAll(/secretKeyRef: \{ name: ([\w-]+), key: ([\w-]+) \}/g)];
  return named
    .map(
      ([, name, key]) =>
        `---\napiVersion: v1\nkind: Secret\nmetadata: { name: ${name} }\nstringData: { ${key}: k }\n`,
    )
    .join('');
}

async function firstAnswer({ url, adminSecret }: TestEngine, body: Body): Promise<Errors> {
  const socket = await openSocket(url, 'graphql-transport-ws');
  socket.send({ type: 'connection_init', payload: { headers: { 'x-engine-admin-secret': adminSecret } } });
  await socket.next();
  socket.send({ type: 'subscribe', id: '1', payload: body });
  const { type, payload } = await socket.next();
  socket.close();
  expect(['next', 'error']).toContain(type);
  return type === 'error' ? ({ errors: payload } as Errors) : (payload as Errors);
}
