/** Tests what large remote schemas cost: generated schemas of every shape take time that grows with their size, in short steps, and a
 *  schema above the limits is inconsistent with a reason that names the limit. Rule: docs/reference/behaviour/remote-schemas.md. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { isWithin } from '../../testing/machine-speed.ts';
import { testDatabase } from '../../testing/world.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { finish, type Steps } from '../metadata/steps.ts';
import { readingIntrospection } from '../resolve/introspection.ts';
import { resolving } from '../resolve/resolve.ts';
import { roleSchema, roleSchemaSteps } from '../schema/role-schemas.ts';

type Member = { readonly name: string; readonly type: object; readonly args?: readonly Member[] };
type Type = { readonly kind: string; readonly name: string } & Readonly<Record<string, unknown>>;

const member = (name: string, type = 'String', args: readonly Member[] = []): Member => {
  return { name, type: { name: type }, args };
};
const named = (names: readonly string[]) => names.map((name) => ({ name }));
const object = (name: string, fields: readonly Member[], interfaces: readonly string[] = []): Type => {
  return { kind: 'OBJECT', name, fields, interfaces: named(interfaces) };
};
const face = (name: string, fields: readonly Member[]): Type => ({ kind: 'INTERFACE', name, fields });
const count = <T>(n: number, of: (i: number) => T): T[] =>
  Array.from({ length: Math.ceil(n) }, (_, i) => of(i));
const query = (fields: readonly Member[] = []) => object('Query', [member('a'), ...fields]);

/** Shapes of schemas with about `n` types, fields, arguments, values and members. */
const SHAPES: Readonly<Record<string, (n: number) => readonly Type[]>> = {
  'fields of the root': (n) => [query(count(n, (i) => member(`f${i}`)))],
  'a chain of objects': (n) => [
    query([member('t0', 'T0')]),
    ...count(n / 3, (i) =>
      object(`T${i}`, [member('a'), member('next', i + 1 < n / 3 ? `T${i + 1}` : 'T0')]),
    ),
  ],
  'a chain of inputs': (n) => [
    query([member('b', 'String', [member('x', 'I0')])]),
    ...count(n / 3, (i) => ({
      kind: 'INPUT_OBJECT',
      name: `I${i}`,
      inputFields: [member('a'), member('next', i + 1 < n / 3 ? `I${i + 1}` : 'I0')],
    })),
  ],
  'objects at the root': (n) => [
    query(count(n / 11, (i) => member(`t${i}`, `T${i}`))),
    ...count(n / 11, (i) =>
      object(
        `T${i}`,
        count(9, (j) => member(`f${j}`)),
      ),
    ),
  ],
  'an interface for each object': (n) => [
    query(count(n / 7, (i) => member(`i${i}`, `I${i}`))),
    ...count(n / 7, (i) => face(`I${i}`, [member('x')])),
    ...count(n / 7, (i) => object(`T${i}`, [member('x'), member('y')], [`I${i}`])),
  ],
  'a wide interface': (n) => [
    query([member('i', 'I')]),
    face(
      'I',
      count(n / 2, (i) => member(`f${i}`)),
    ),
    object(
      'T',
      count(n / 2, (i) => member(`f${i}`)),
      ['I'],
    ),
  ],
  'narrower fields': (n) => [
    query([member('i', 'I')]),
    face('J', [member('a')]),
    ...count(n / 6, (i) => object(`K${i}`, [member('a')], ['J'])),
    face(
      'I',
      count(n / 4, (i) => member(`f${i}`, 'J')),
    ),
    object(
      'T',
      count(n / 4, (i) => member(`f${i}`, `K${i % Math.ceil(n / 6)}`)),
      ['I'],
    ),
  ],
  'arguments of a field': (n) => {
    const x = count(n, (i) => member(`x${i}`));
    return [query([member('b', 'String', x)])];
  },
  'arguments of an interface': (n) => {
    const fields = [
      member(
        'b',
        'String',
        count(n / 2, (i) => member(`x${i}`)),
      ),
    ];
    return [query([member('i', 'I')]), face('I', fields), object('T', fields, ['I'])];
  },
  'values of an enum': (n) => [
    query([member('e', 'E')]),
    { kind: 'ENUM', name: 'E', enumValues: count(n, (i) => ({ name: `V${i}` })) },
  ],
  'members of a union': (n) => [
    query([member('u', 'U')]),
    ...count(n / 3, (i) => object(`T${i}`, [member('a')])),
    { kind: 'UNION', name: 'U', possibleTypes: named(count(n / 3, (i) => `T${i}`)) },
  ],
};

const introspectionOf = (types: readonly Type[]) => ({ __schema: { queryType: { name: 'Query' }, types } });

/** CPU time in milliseconds: of all steps, and of the longest one. */
type Cost = { total: number; longest: number };

/** Runs steps and adds their cost. */
function measured<T>(steps: Steps<T>, cost: Cost): T {
  for (;;) {
    const before = process.cpuUsage();
    const step = steps.next();
    const { user } = process.cpuUsage(before);
    cost.total += user / 1000;
    cost.longest = Math.max(cost.longest, user / 1000);
    if (step.done) return step.value;
  }
}

function resolved(types: readonly Type[], cost: Cost) {
  const introspection = introspectionOf(types);
  const schema = measured(readingIntrospection(introspection), cost);
  const remote = { name: 'r', definition: { url: 'http://r' } };
  const metadata: Metadata = { version: 3, sources: [], remote_schemas: [remote] };
  const upstreams = new Map([['r', { introspection, schema }]]);
  return measured(resolving(metadata, new Map(), { stringifyNumericTypes: false }, upstreams), cost);
}

/** Returns what it costs to introspect a schema, to resolve it, and to find the types of an introspection of the administrator. */
function costOf(types: readonly Type[]): Cost {
  const cost = { total: 0, longest: 0 };
  const { model, inconsistencies } = resolved(types, cost);
  expect(inconsistencies).toEqual([]);
  const role = measured(roleSchemaSteps(model, 'admin', true), cost);
  expect(measured(role.reachedSchema(), cost).types.size).toBeGreaterThan(types.length);
  return cost;
}

describe.each(Object.entries(SHAPES))('%s', (_, shape) => {
  test('cost time that grows with their number, in short steps', () => {
    costOf(shape(4000));
    const small = costOf(shape(4000));
    const large = costOf(shape(16_000));
    // Four times for linear work and sixteen times for quadratic work; the small schema takes less than 100 ms.
    const most = 10 * Math.max(small.total, 40);
    // The machine may be busy during one of them.
    const total = large.total < most ? large.total : costOf(shape(16_000)).total;
    expect(total).toBeLessThan(most);
    expect([large.longest, isWithin(large.longest, 250)]).toEqual([large.longest, true]);
  });
});

test.each(Object.entries(SHAPES))('a schema above the limit is refused: %s', (_, shape) => {
  const introspection = introspectionOf(shape(39_000));
  expect(finish(readingIntrospection(introspection, 60_000)).types.size).toBeGreaterThan(0);
  expect(() => finish(readingIntrospection(introspection, 30_000))).toThrow(
    'the schema has more types, fields, arguments and values than 30000, the limit of --max-remote-schema-size',
  );
});

test.each(['a chain of objects', 'a chain of inputs'])('%s of 20,000 types is a whole schema', (shape) => {
  const { model } = resolved(SHAPES[shape]!(60_000), { total: 0, longest: 0 });
  const role = roleSchema(model, 'admin', true);
  const names = [...finish(role.reachedSchema()).types.keys()];
  expect(Object.keys(role.schema().getTypeMap())).toEqual(names);
});

describe('over HTTP', () => {
  const database = testDatabase();
  let engine: TestEngine;
  let service: Server;
  let answer = '';

  beforeAll(async () => {
    service = createServer((_, response) => response.end(answer));
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    engine = await startTestEngine({ databaseUrl: database.url });
  });
  afterAll(async () => {
    await engine?.close();
    service?.close();
  });

  async function add(name: string, types: readonly Type[], padding = '') {
    answer = JSON.stringify({ data: introspectionOf(types), extensions: { padding } });
    const { port } = service.address() as AddressInfo;
    const args = { name, definition: { url: `http://127.0.0.1:${port}/` } };
    const { status, body } = await engine.admin<{ error?: string }>('add_remote_schema', args);
    return status === 200 ? null : body.error;
  }

  test('a chain of 20,000 types is introspected by the administrator while others are answered', async () => {
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    expect(await add('chain', SHAPES['a chain of objects']!(60_000))).toBeNull();
    const { data, errors } = (await engine.graphql(getIntrospectionQuery())) as {
      data?: { __schema: { types: { name: string }[] } };
      errors?: unknown;
    };
    delay.disable();
    expect(errors).toBeUndefined();
    expect(data!.__schema.types.length).toBeGreaterThan(20_000);
    expect(await engine.graphql('{ __type(name: "T9999") { fields { name } } }')).toEqual({
      data: { __type: { fields: [{ name: 'a' }, { name: 'next' }] } },
    });
    // The test parses the answer of 20 MB in the same process.
    expect(delay.max / 1e6).toBeLessThan(1500);
    await engine.admin('remove_remote_schema', { name: 'chain' });
  });

  test('an introspection of too many bytes is refused before it is parsed', async () => {
    expect(await add('long', [query()], 'x'.repeat(26_000_000))).toBe(
      'the introspection has more bytes than 25600000, the limit of --max-remote-schema-size 100000',
    );
  });

  test('a list above the limit, types nested too deeply and a default value that is too long are refused', async () => {
    const deep = (levels: number): object =>
      levels === 0 ? { name: 'Int' } : { kind: 'LIST', ofType: deep(levels - 1) };
    expect(await add('wide', SHAPES['values of an enum']!(41_000))).toBe(
      'Error in $.types[1].enumValues: more than 40000 items',
    );
    expect(await add('deep', [query([{ name: 'x', type: deep(2000), args: [] }])])).toContain(
      'nested more than 9 levels deep',
    );
    const list = { name: 'x', type: deep(9), defaultValue: '['.repeat(5000) + ']'.repeat(5000) };
    expect(await add('nested', [query([member('b', 'Int', [list])])])).toContain('is not a GraphQL value');
  });

  test('a schema that outgrows the limit is an inconsistent object, and the others are served', async () => {
    await database.sql('create table item (id int primary key)');
    await engine.admin('pg_track_table', { table: 'item' });
    expect(await add('growing', [query()])).toBeNull();
    answer = JSON.stringify({ data: introspectionOf(SHAPES['fields of the root']!(130_000)) });
    await engine.admin('reload_metadata', { reload_remote_schemas: true });
    const { body } = await engine.admin('get_inconsistent_metadata', {});
    expect(JSON.stringify(body)).toContain('--max-remote-schema-size');
    expect(await engine.graphql('{ item { id } }')).toEqual({ data: { item: [] } });
  });
});
