/** GeoJSON geometries: what passes, and what is said of those that do not. */
import { expect, test } from 'vitest';
import { geojsonProblem } from './geojson.ts';

const of = (type: string, coordinates: unknown) => ({ type, coordinates });
const RING = [
  [0, 0],
  [0, 1],
  [1, 1],
  [0, 0],
];

test.each([
  of('Point', [1, 2]),
  of('Point', [1, 2, 3]),
  of('MultiPoint', [[1, 2]]),
  of('LineString', [
    [1, 2],
    [3, 4],
  ]),
  of('MultiLineString', []),
  of('Polygon', [RING]),
  of('MultiPolygon', [[RING]]),
  { type: 'GeometryCollection', geometries: [of('Point', [1, 2])] },
  { ...of('Point', [1, 2]), crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::4326' } } },
])('%j is a geometry', (value) => {
  expect(geojsonProblem(value)).toBeNull();
});

test.each([
  ['POINT(1 2)', 'a geometry is a GeoJSON object'],
  [of('Random', []), 'unexpected geometry type: Random'],
  [of('toString', []), 'unexpected geometry type: toString'],
  [{}, 'unexpected geometry type: none'],
  [of('Point', [1]), 'A Position needs at least 2 elements'],
  [of('Point', ['1', '2']), 'a Position is a list of numbers'],
  [of('Point', undefined), 'a Position is a list of numbers'],
  [of('LineString', [[1, 2]]), 'A LineString needs at least 2 Positions'],
  [of('Polygon', RING), 'a Position is a list of numbers'],
  [of('Polygon', [RING.slice(1)]), 'A LinearRing needs at least 4 Positions'],
  [of('Polygon', [[...RING, [9, 9]]]), 'the first and last locations have to be equal for a LinearRing'],
  [{ type: 'GeometryCollection', geometries: [of('X', [])] }, 'unexpected geometry type: X'],
])('of %j is said: %s', (value, problem) => {
  expect(geojsonProblem(value)).toBe(problem);
});
