/** Every operator on every type that offers it, asked of a real Postgres; extensions live in a schema that is not on the
 *  search path. PostGIS takes part where the server has it. */
import { beforeAll, describe, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { operandFieldType, operandOf, operandType, operatorsOf } from '../catalog/operators.ts';
import { SCALARS, scalarOf } from '../catalog/scalars.ts';
import { arrayOf, builtinType, type PgType } from '../catalog/types.ts';
import type { LeafValue, Operand, Predicate } from '../resolve/predicate.ts';
import { condition } from './bool-exp.ts';
import { compile } from './fragment.ts';
import { Aliases, rowScope } from './scope.ts';

const database = testDatabase();
let hasPostgis = false;
beforeAll(async () => {
  await database.sql(
    'create schema ext; create extension ltree schema ext; create extension citext schema ext; create extension hstore schema ext',
  );
  const found = await database.sql("select 1 from pg_available_extensions where name = 'postgis_raster'");
  hasPostgis = found.length > 0;
  if (hasPostgis) {
    await database.sql('create extension postgis schema ext; create extension postgis_raster schema ext');
  }
});

const OF_POSTGIS = ['geometry', 'geography', 'raster'];
const EXTENSIONS = ['citext', 'hstore', 'ltree', 'lquery', 'ltxtquery', ...OF_POSTGIS];
const typeOf = (name: string): PgType => ({
  ...builtinType(name),
  schema: EXTENSIONS.includes(name) ? 'ext' : 'pg_catalog',
});

/** Does the row `column`, of that type, satisfy the comparison? */
async function holds(
  type: PgType,
  column: string | null,
  comparison: Pick<Comparison, 'operator' | 'right'>,
) {
  const left = { column: 'c', type };
  const { text, parameters } = compile(
    condition({ kind: 'compare', left, ...comparison }, rowScope('t', new Aliases())),
  );
  const values = parameters.map((leaf) => (leaf.kind === 'constant' ? leaf.value : null));
  const written = `"${type.schema}"."${type.name}"`;
  const value = column === null ? 'null' : `'${column}'`;
  const [row] = await database.sql(`select ${text} as answer from (select ${value}::${written} c) t`, values);
  return row!['answer'];
}

type Comparison = Extract<Predicate, { kind: 'compare' }>;
const constant = (value: LeafValue, type: PgType) => ({ kind: 'constant', value, type }) as const;

const nothing = (type: PgType) => constant(type.element ? [null] : null, type);

const OFFERS = Object.keys(SCALARS).flatMap((name) =>
  operatorsOf(scalarOf(typeOf(name)))
    .filter((operator) => operator !== '_is_null')
    .map((operator) => ({ name, operator })),
);

test.each(OFFERS)('Postgres has $operator for $name (of PostGIS: where it is there)', async (offer) => {
  const { name, operator } = offer;
  if (OF_POSTGIS.includes(name) && !hasPostgis) return;
  const type = typeOf(name);
  const form = operandOf(operator, scalarOf(type).family);
  const right: Operand =
    typeof form === 'object'
      ? {
          kind: 'arguments',
          values: Object.values(form.fields).map((field) => constant(null, operandFieldType(field, type))),
        }
      : nothing(operandType(form, type));
  expect(await holds(type, null, { operator, right })).not.toBe(true);
});

test.each([
  ['_eq', 'a%', false],
  ['_like', 'a%', true],
  ['_nlike', 'a%', false],
  ['_ilike', 'a%', true],
  ['_nilike', 'a%', false],
  ['_regex', '^a', true],
  ['_nregex', '^a', false],
  ['_gt', 'aaa', true],
] as const)('citext ignores case in %s', async (operator, operand, expected) => {
  const citext = typeOf('citext');
  expect(await holds(citext, 'ABC', { operator, right: constant(operand, citext) })).toBe(expected);
});

describe('ltree', () => {
  const ltree = typeOf('ltree');
  const lquery = typeOf('lquery');
  test.each([
    ['_ancestor', 'Tree.Oak', constant('Tree.Oak.Red', ltree), true],
    ['_ancestor', 'Tree.Oak', constant('Tree', ltree), false],
    ['_ancestor_any', 'Tree', constant(['Bush', 'Tree.Oak'], arrayOf(ltree)), true],
    ['_descendant', 'Tree.Oak', constant('Tree', ltree), true],
    ['_descendant_any', 'Tree.Oak', constant(['Bush', 'Shrub'], arrayOf(ltree)), false],
    ['_matches', 'Tree.Oak', constant('*.Oak', lquery), true],
    ['_matches_any', 'Tree.Oak', constant(['*.Elm', 'Tree.*'], arrayOf(lquery)), true],
    ['_matches_fulltext', 'Tree.Oak', constant('Oak & !Elm', typeOf('ltxtquery')), true],
  ] as const)('%s of %s', async (operator, column, right, expected) => {
    expect(await holds(ltree, column, { operator, right: right as Operand })).toBe(expected);
  });
});

describe('PostGIS (where the server has it)', () => {
  const point = (x: number, y: number) => JSON.stringify({ type: 'Point', coordinates: [x, y] });
  const geometry = typeOf('geometry');
  const geography = typeOf('geography');

  test('a geometry is given as GeoJSON, alone and in a list', async ({ skip }) => {
    if (!hasPostgis) skip();
    const column = 'SRID=4326;POINT(1 2)';
    expect(await holds(geometry, column, { operator: '_eq', right: constant(point(1, 2), geometry) })).toBe(
      true,
    );
    const list = constant([point(0, 0), point(1, 2)], arrayOf(geography));
    expect(await holds(geography, column, { operator: '_in', right: list })).toBe(true);
  });

  test('distances are degrees of a geometry and metres of a geography', async ({ skip }) => {
    if (!hasPostgis) skip();
    const near = (type: PgType, distance: string): Operand => ({
      kind: 'arguments',
      values: [
        constant(point(0, 1), type),
        constant(distance, builtinType('float8')),
        ...(type === geography ? [constant('true', builtinType('bool'))] : []),
      ],
    });
    const origin = 'SRID=4326;POINT(0 0)';
    const operator = '_st_d_within';
    expect(await holds(geometry, origin, { operator, right: near(geometry, '1') })).toBe(true);
    expect(await holds(geography, origin, { operator, right: near(geography, '1') })).toBe(false);
    expect(await holds(geography, origin, { operator, right: near(geography, '111000') })).toBe(true);
  });
});
