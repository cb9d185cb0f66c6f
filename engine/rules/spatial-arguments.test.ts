/** Spatial operators: each operator of geometry, geography and raster × what its operand may be, in the root field, in permissions and in the
 *  row operations of the admin API. Needs PostGIS, which npm's Postgres lacks: `PERGOLA_TEST_POSTGRES_BIN` names a server that has it.
 *  Rule: docs/reference/behaviour/operators.md. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { adminOutcome, graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld | undefined;
let count = 0;
beforeAll(async () => {
  const database = await createDatabase();
  const found = await database.sql("select 1 from pg_available_extensions where name = 'postgis_raster'");
  await database.drop();
  if (found.length === 0) return;
  world = await startWorld({
    sql: `create extension postgis; create extension postgis_raster;
      create table place (id int primary key, plane geometry, globe geography, image raster, secret geometry);
      insert into place values
        (1, 'SRID=4326;POLYGON((0 0,0 2,2 2,2 0,0 0))', 'POINT(0.5 0.5)', st_addband(st_makeemptyraster(2, 2, 0, 2, 1, -1, 0, 0, 4326), '8BUI'::text, 1), 'POINT(0 0)'),
        (2, 'SRID=4326;POINT(9 9)', 'POINT(50 50)', st_addband(st_makeemptyraster(2, 2, 50, 50, 1, -1, 0, 0, 4326), '8BUI'::text, 1), 'POINT(0 0)'),
        (3, null, null, null, null);`,
    tables: ['place'],
    operations: [
      [
        'pg_create_select_permission',
        {
          table: 'place',
          role: 'reader',
          permission: { columns: ['id', 'plane', 'globe', 'image'], filter: {} },
        },
      ],
    ],
  });
});
afterAll(() => world?.close());
beforeEach(({ skip }) => {
  if (!world) skip();
});

const POINT = { type: 'Point', coordinates: [1, 1] };
const SQUARE = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [0, 2],
      [2, 2],
      [2, 0],
      [0, 0],
    ],
  ],
};
const OF_ONE = (names: readonly string[], operand: object) => names.map((name) => [name, operand] as const);

/** Operators by column, with an operand for which the first row is found and no other. */
const OPERATORS: Readonly<Record<string, readonly (readonly [operator: string, operand: unknown])[]>> = {
  plane: [
    ...OF_ONE(['_st_contains', '_st_intersects', '_st_3d_intersects'], POINT),
    ...OF_ONE(['_st_equals', '_st_within', '_eq'], SQUARE),
    ['_st_touches', { type: 'Point', coordinates: [0, 1] }],
    [
      '_st_crosses',
      {
        type: 'LineString',
        coordinates: [
          [-1, 1],
          [3, 1],
        ],
      },
    ],
    [
      '_st_overlaps',
      {
        type: 'Polygon',
        coordinates: [
          [
            [1, 1],
            [1, 3],
            [3, 3],
            [3, 1],
            [1, 1],
          ],
        ],
      },
    ],
    ['_st_d_within', { distance: 1, from: { type: 'Point', coordinates: [3, 1] } }],
    ['_st_3d_d_within', { distance: 1, from: { type: 'Point', coordinates: [3, 1] } }],
    ['_cast', { geography: { _st_intersects: POINT } }],
  ],
  globe: [
    ['_st_intersects', SQUARE],
    ['_st_d_within', { distance: 200000, from: POINT }],
    ['_st_d_within', { distance: 200000, from: POINT, use_spheroid: false }],
    ['_cast', { geometry: { _st_within: SQUARE } }],
  ],
  image: [
    ['_st_intersects_geom_nband', { geommin: POINT }],
    ['_st_intersects_geom_nband', { geommin: POINT, nband: 1 }],
    ['_st_intersects_nband_geom', { geommin: POINT, nband: 1 }],
  ],
};
const ALL = Object.entries(OPERATORS).flatMap(([column, operators]) =>
  operators.map(([operator, operand]) => ({ column, operator, operand })),
);

/** Prints a value as a literal of GraphQL. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${name}: ${literal(member)}`)
    .join(', ')}}`;
}
const ask = (column: string, operator: string, operand: unknown, role = 'reader') =>
  graphqlOutcome(world!.engine, `{ place(where: {${column}: {${operator}: ${literal(operand)}}}) { id } }`, {
    role,
  });

describe.each(ALL)('$column $operator $operand', ({ column, operator, operand }) => {
  test('finds the same row as a literal, a variable, a permission and by the admin API', async () => {
    const found = { data: { place: [{ id: 1 }] } };
    expect(await ask(column, operator, operand)).toEqual(found);
    const variables = { where: { [column]: { [operator]: operand } } };
    const query = 'query ($where: place_bool_exp!) { place(where: $where) { id } }';
    expect(await graphqlOutcome(world!.engine, query, { variables, role: 'reader' })).toEqual(found);
    const rule = { [column]: { [operator]: withoutNulls(operand) } };
    const permission = { columns: ['id'], filter: rule };
    const role = `reader_${count++}`;
    expect(
      await adminOutcome(world!.engine, 'pg_create_select_permission', { table: 'place', role, permission }),
    ).toHaveProperty('data');
    expect(await graphqlOutcome(world!.engine, '{ place { id } }', { role })).toEqual(found);
    const args = { table: 'place', columns: ['id'], where: rule };
    expect(await adminOutcome(world!.engine, 'select', args, { endpoint: '/v1/query' })).toEqual({
      data: [{ id: 1 }],
    });
  });

  test('is refused when it is null, a wrong kind, or a column that the role does not see', async () => {
    for (const wrong of [null, 5, true, []]) {
      expect(await ask(column, operator, wrong), String(wrong)).toMatchObject({
        code: expect.stringMatching(/^(validation|parse)-failed$/),
        path: expect.stringContaining(`$.selectionSet.place.args.where.${column}.${operator}`),
      });
    }
    expect(await ask('secret', operator, operand)).toMatchObject({
      message: "field 'secret' not found in type: 'place_bool_exp'",
    });
  });
});

function withoutNulls(operand: unknown): unknown {
  if (typeof operand !== 'object' || operand === null || Array.isArray(operand)) return operand;
  return Object.fromEntries(Object.entries(operand).filter(([, value]) => value !== null));
}

/** Operands that are objects: their required fields and the types of all. */
const OBJECTS = [
  {
    column: 'plane',
    operator: '_st_d_within',
    good: { distance: 1, from: POINT },
    required: ['distance', 'from'],
  },
  {
    column: 'plane',
    operator: '_st_3d_d_within',
    good: { distance: 1, from: POINT },
    required: ['distance', 'from'],
  },
  {
    column: 'globe',
    operator: '_st_d_within',
    good: { distance: 1, from: POINT },
    required: ['distance', 'from'],
  },
  {
    column: 'image',
    operator: '_st_intersects_nband_geom',
    good: { nband: 1, geommin: POINT },
    required: ['nband', 'geommin'],
  },
  {
    column: 'image',
    operator: '_st_intersects_geom_nband',
    good: { nband: 1, geommin: POINT },
    required: ['geommin'],
  },
];
describe.each(OBJECTS)('$column $operator: an object', ({ column, operator, good, required }) => {
  const at = `$.selectionSet.place.args.where.${column}.${operator}`;

  test.each(required)('%s is required, and not null', async (name) => {
    const rest = Object.fromEntries(Object.entries(good).filter(([key]) => key !== name));
    expect(await ask(column, operator, rest)).toEqual({
      code: 'validation-failed',
      path: `${at}.${name}`,
      message: `missing required field '${name}'`,
    });
    expect(await ask(column, operator, { ...good, [name]: null })).toMatchObject({
      code: 'validation-failed',
      path: `${at}.${name}`,
    });
  });

  test('an unknown field is refused', async () => {
    expect(await ask(column, operator, { ...good, other: 1 })).toMatchObject({
      code: 'validation-failed',
      path: `${at}.other`,
      message: expect.stringMatching(/^field 'other' not found in type: /),
    });
  });

  test.each(Object.entries(good))('%s of a wrong kind is refused', async (name) => {
    expect(await ask(column, operator, { ...good, [name]: true })).toMatchObject({
      code: expect.stringMatching(/^(validation|parse)-failed$/),
      path: `${at}.${name}`,
    });
  });
});

/** Shapes of GeoJSON that are not valid, and the message of each. */
const SHAPES: readonly (readonly [object, string])[] = [
  [{ type: 'Point', coordinates: [1] }, 'A Position needs at least 2 elements'],
  [{ type: 'Circle', coordinates: [1, 2] }, 'unexpected geometry type: Circle'],
  [{ type: 'LineString', coordinates: [[1, 2]] }, 'A LineString needs at least 2 Positions'],
  [
    {
      type: 'Polygon',
      coordinates: [
        [
          [1, 2],
          [2, 3],
          [1, 2],
        ],
      ],
    },
    'A LinearRing needs at least 4 Positions',
  ],
  [
    {
      type: 'Polygon',
      coordinates: [
        [
          [1, 2],
          [2, 3],
          [3, 4],
          [5, 5],
        ],
      ],
    },
    'the first and last locations have to be equal for a LinearRing',
  ],
];
test.each(SHAPES)('%o is refused at its own path: %s', async (shape, message) => {
  for (const [column, operator, operand, below] of [
    ['plane', '_eq', shape, ''],
    ['plane', '_st_d_within', { distance: 1, from: shape }, '.from'],
    ['globe', '_st_intersects', shape, ''],
    ['image', '_st_intersects_geom_nband', { geommin: shape }, '.geommin'],
    ['plane', '_in', [POINT, shape], '[1]'],
  ] as const) {
    expect(await ask(column, operator, operand)).toEqual({
      code: 'parse-failed',
      path: `$.selectionSet.place.args.where.${column}.${operator}${below}`,
      message,
    });
  }
});

test('a raster is compared with the text of a raster, and other text is refused', async () => {
  const [row] = await world!.database.sql('select image::text from place where id = 1');
  expect(await ask('image', '_st_intersects_rast', row!['image'])).toEqual({ data: { place: [{ id: 1 }] } });
  for (const wrong of ['zz', 'POINT(1 1)']) {
    expect(await ask('image', '_st_intersects_rast', wrong)).toEqual({
      code: 'parse-failed',
      path: '$.selectionSet.place.args.where.image._st_intersects_rast',
      message: 'invalid hexadecimal representation of raster well known binary format',
    });
  }
});

test('`use_spheroid` may be null, which no row satisfies', async () => {
  const operand = { distance: 200000, from: POINT, use_spheroid: null };
  expect(await ask('globe', '_st_d_within', operand)).toEqual({ data: { place: [] } });
});
