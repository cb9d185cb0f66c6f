/** Golden folders: request × metadata × session → plan, statements, response, against a real Postgres.
 *  In: `<case>/request.graphql`; `variables.json` and `session.json` where they matter (else the administrator's);
 *  `world.json` names another fixture than `bookshop`, and experimental features; `schema.sql` and `metadata.yaml` where no
 *  fixture will do.
 *  Out: `plan.json`, `statement.sql` (absent when the request is refused) and `response.json`.
 *  `make golden` (UPDATE_GOLDEN=1) rewrites them; the diff is what is reviewed. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { PreparedPlan, PreparedStatement } from '../sql/plan.ts';
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
  const request = requestOf(folder);
  const { plan, prepared, response } = await respond(await worldOf(folder, request), request);
  compare(join(folder, 'plan.json'), plan && printPlan(plan));
  compare(join(folder, 'statement.sql'), prepared && printStatements(statementsOf(prepared)));
  compare(join(folder, 'response.json'), printResponse(response));
});

/** Returns all statements of a plan, with those of actions and entities that read by keys. */
function statementsOf({ statements, steps }: PreparedPlan): readonly PreparedStatement[] {
  return [...statements, ...steps.flatMap((step) => ('rows' in step ? step.rows.statements : []))];
}

/** Cases over the same fixture share a database; those that write have one of their own. */
function worldOf(folder: string, request: GoldenRequest): Promise<World> {
  const { fixture, features } = { fixture: 'bookshop', features: [], ...readJson(folder, 'world.json') };
  const file = (own: string, shared: string) => {
    const path = join(folder, own);
    return existsSync(path) ? path : join(HERE, 'fixtures', shared);
  };
  const schema = file('schema.sql', `${fixture}.sql`);
  const metadata = file('metadata.yaml', `${fixture}.yaml`);
  const writer = request.text.startsWith('mutation') ? folder : '';
  const key = [schema, metadata, features, writer].join(' ');
  const world = worlds.get(key) ?? openWorld(schema, metadata, features);
  worlds.set(key, world);
  return world;
}

/** A folder `relay_…` asks the schema with connections. */
function requestOf(folder: string): GoldenRequest {
  return {
    text: readFileSync(join(folder, 'request.graphql'), 'utf8'),
    operationName: null,
    variables: readJson(folder, 'variables.json'),
    session: { role: 'admin', variables: {}, mayUseBackendOnly: false, ...readJson(folder, 'session.json') },
    isRelay: basename(folder).startsWith('relay_'),
  };
}

function readJson(folder: string, file: string) {
  const path = join(folder, file);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
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
