/** A share of the hostile input over HTTP, where it may come in headers, too, and to the admin API. Nothing is answered with a 500, and every error has its code and path. */
import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { testWorld } from '../../testing/world.ts';
import { OPERATIONS } from '../metadata/operations.ts';
import { Choices, LARGEST } from './testing/choices.ts';
import { hostileJson, hostileName, hostileText, KEYWORD_NAMES } from './testing/hostile.ts';
import { makeHostileRequest } from './testing/hostile-request.ts';
import { type HostileWorld, makeHostileWorld } from './testing/hostile-world.ts';

const MARKER = `m${randomBytes(6).toString('hex')}`;
const REQUESTS = 1200;
const OPERATIONS_SENT = 1800;

let world: HostileWorld;

const { database, engine } = testWorld(async (database) => {
  world = makeHostileWorld(new Choices([]), MARKER);
  await database.sql(world.sql);
});

beforeAll(async () => {
  await replaceMetadata();
});

async function replaceMetadata(): Promise<void> {
  const { body } = await engine.admin<{ sources: { tables: unknown }[] }>('export_metadata', {});
  const sources = body.sources.map((source) => ({ ...source, ...world.source }));
  await engine.must('replace_metadata', { ...body, sources });
}

/** Repeatable: the seed is the place in the loop. */
function choicesOf(seed: number): Choices {
  let state = seed * 2_654_435_761;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) % (LARGEST + 1);
  };
  return new Choices(Array.from({ length: 400 }, next));
}

const ofHeader = (text: string) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?').trim();

test('hostile requests and headers are answered with errors that have a code and a path', async () => {
  for (let seed = 0; seed < REQUESTS; seed++) {
    const choices = choicesOf(seed);
    const request = makeHostileRequest(choices, world, MARKER);
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'x-engine-role': choices.of([world.role, 'admin', hostileText(choices, MARKER)].map(ofHeader)),
      'x-engine-text': ofHeader(hostileText(choices, MARKER)),
      'x-request-id': ofHeader(hostileText(choices, MARKER)).slice(0, 200),
      'x-engine-use-backend-only-permissions': ofHeader(hostileText(choices, MARKER)),
    };
    if (choices.chance(70)) delete headers['x-engine-use-backend-only-permissions'];
    const { query, variables, operationName } = request;
    const whole = JSON.stringify({ query, variables, operationName });
    const body = choices.chance(5) ? JSON.stringify(hostileJson(choices, MARKER)) : whole;
    const response = await engine.fetch('/v1/graphql', { method: 'POST', headers, body });
    const text = await response.text();
    const answer = JSON.parse(text);
    const about = `seed ${seed}: ${body.slice(0, 2000)} ${JSON.stringify(headers)} → ${response.status} ${text.slice(0, 1000)}`;
    expect(response.status, about).toBeLessThan(500);
    for (const error of [answer].flat().flatMap((each) => each?.errors ?? [])) {
      expect(error.extensions, about).toMatchObject({
        code: expect.any(String),
        path: expect.stringMatching(/^\$/),
      });
      expect(error.extensions.code, about).not.toBe('unexpected');
    }
  }
}, 120_000);

/** run_sql does what it says, and clears are as they should be; sources would connect to wherever the text says. */
const NOT_SENT =
  /run_sql|clear_metadata|drop_inconsistent|drop_source|add_source|update_source|replace_metadata/;
const SENT = Object.entries(OPERATIONS).filter(([name]) => !NOT_SENT.test(name) && name !== 'bulk');

test('hostile operations are refused with a code and a path, or done without harm', async () => {
  for (let seed = 0; seed < OPERATIONS_SENT; seed++) {
    const choices = choicesOf(seed + 1_000_000);
    const [name, row] = choices.of(SENT);
    const endpoint = choices.of(row.endpoints);
    const type = endpoint === '/v1/metadata' && row.isPrefixed ? `pg_${name}` : name;
    const args = choices.chance(10)
      ? hostileJson(choices, MARKER)
      : argsOf(choices, (row.args as { properties?: object }).properties ?? {});
    const { status, body } = await engine.admin<Record<string, unknown>>(type, args, { endpoint });
    const about = `seed ${seed}: ${type} ${JSON.stringify(args)?.slice(0, 2000)} → ${status} ${JSON.stringify(body)?.slice(0, 1000)}`;
    // The reference's own status for names that meet: docs/reference/behaviour/schema.md.
    const isConflict = String(body?.['error']).startsWith('Encountered conflicting definitions');
    if (!isConflict) expect(status, about).toBeLessThan(500);
    if (status === 200) continue;
    expect(body, about).toMatchObject({ code: expect.any(String), path: expect.stringMatching(/^\$/) });
  }
  expect(await database.sql('select * from public.canary')).toEqual([{ id: 1, song: 'cheep' }]);
  await replaceMetadata();
  const { data } = await engine.graphql(`{ ${world.parent.field} { __typename } }`);
  expect(data).toBeDefined();
}, 120_000);

/** By the names of the arguments, something of the right form as often as not. */
function argsOf(choices: Choices, properties: object): Record<string, unknown> {
  const { schema, parent, child, role } = world;
  const column = choices.of(parent.columns).name;
  const names = [column, hostileName(choices, 99), hostileText(choices, MARKER), choices.of(KEYWORD_NAMES)];
  const name = () => choices.of(names);
  const table = () =>
    choices.of<unknown>([
      { schema, name: parent.name },
      { schema, name: child.name },
      { schema: name(), name: name() },
      name(),
    ]);
  const rule = () => ({
    columns: choices.of<unknown>(['*', [column], [name()]]),
    filter: condition(),
    check: condition(),
    set: { [name()]: hostileJson(choices, MARKER) },
  });
  const condition = (): unknown =>
    choices.of<unknown>([
      {},
      { [name()]: { [choices.of(['_eq', '$in', '_like', '_ceq', name()])]: hostileJson(choices, MARKER) } },
      { _not: { _exists: { _table: table(), _where: { [column]: name() } } } },
      hostileJson(choices, MARKER),
    ]);
  const using = () =>
    choices.of<unknown>([
      { foreign_key_constraint_on: name() },
      { manual_configuration: { remote_table: table(), column_mapping: { [name()]: name() } } },
    ]);
  const makers: Readonly<Record<string, () => unknown>> = {
    table,
    function: table,
    source: () => 'default',
    role: () => choices.of([role, name()]),
    permission: rule,
    using,
    name,
    column: name,
    comment: () => hostileText(choices, MARKER),
    collection_name: name,
    query: () => hostileText(choices, MARKER),
    configuration: () => ({ custom_name: name(), column_config: { [column]: { custom_name: name() } } }),
  };
  return Object.fromEntries(
    Object.keys(properties).map((key) => [
      key,
      choices.chance(12) ? hostileJson(choices, MARKER) : (makers[key] ?? name)(),
    ]),
  );
}
