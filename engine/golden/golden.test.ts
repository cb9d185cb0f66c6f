/** Golden folders: request × metadata × session → plan, statements, response, against a real Postgres.
 *  In: `<case>/request.graphql`; `variables.json` and `session.json` where they matter (else the administrator's);
 *  `schema.sql` and `metadata.yaml` where the bookshop of `fixtures/` will not do.
 *  Out: `plan.json`, `statement.sql` (absent when the request is refused) and `response.json`.
 *  `make golden` (UPDATE_GOLDEN=1) rewrites them; the diff is what is reviewed. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { printPlan, printResponse, printStatements } from './testing/print.ts';
import { type GoldenRequest, respond } from './testing/respond.ts';
import { openWorld, type World } from './testing/world.ts';

const HERE = import.meta.dirname;
const isUpdating = Boolean(process.env['UPDATE_GOLDEN']);
const worlds = new Map<string, Promise<World>>();

afterAll(async () => {
  for (const world of worlds.values()) await (await world).close();
});

const cases = readdirSync(HERE).filter((name) => existsSync(join(HERE, name, 'request.graphql')));

test.for(cases)('%s', async (name) => {
  const folder = join(HERE, name);
  const { plan, compiled, response } = await respond(await worldOf(folder), requestOf(folder));
  compare(join(folder, 'plan.json'), plan && printPlan(plan));
  compare(join(folder, 'statement.sql'), compiled && printStatements(compiled.statements));
  compare(join(folder, 'response.json'), printResponse(response));
});

/** Cases over the same fixture share a database: none of them writes. */
function worldOf(folder: string): Promise<World> {
  const [schema, metadata] = ['schema.sql', 'metadata.yaml'].map((file) => {
    const own = join(folder, file);
    return existsSync(own) ? own : join(HERE, 'fixtures', file);
  }) as [string, string];
  const key = `${schema} ${metadata}`;
  const world = worlds.get(key) ?? openWorld(schema, metadata);
  worlds.set(key, world);
  return world;
}

function requestOf(folder: string): GoldenRequest {
  const json = (file: string) => {
    const path = join(folder, file);
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
  };
  return {
    text: readFileSync(join(folder, 'request.graphql'), 'utf8'),
    operationName: null,
    variables: json('variables.json'),
    session: { role: 'admin', variables: {}, mayUseBackendOnly: false, ...json('session.json') },
  };
}

/** `actual` null: the file must not exist. */
function compare(file: string, actual: string | null): void {
  if (isUpdating) {
    if (actual === null) rmSync(file, { force: true });
    else writeFileSync(file, actual);
    return;
  }
  expect(actual).toEqual(existsSync(file) ? readFileSync(file, 'utf8') : null);
}
