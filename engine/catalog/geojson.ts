/** Validates GeoJSON geometries, because PostGIS reports an invalid one as an internal error.
 *  In: a JSON value. Out: a sentence that says what is wrong, or null for a geometry of RFC 7946. PostGIS checks other members
 *  (`crs`, `bbox`). Texts: docs/reference/behaviour/errors.md. */
import { isNumber } from '../json/number.ts';
import { isRecord } from '../json/value.ts';

type Rule = (value: unknown) => string | null;

export function geojsonProblem(value: unknown): string | null {
  if (!isRecord(value)) return NO_OBJECT;
  const { type, geometries, coordinates } = value;
  if (type === 'GeometryCollection') return listOf(geojsonProblem, 'geometries')(geometries);
  const rule = typeof type === 'string' && Object.hasOwn(COORDINATES, type) ? COORDINATES[type] : undefined;
  return rule ? rule(coordinates) : `unexpected geometry type: ${typeof type === 'string' ? type : 'none'}`;
}

/** Returns what is wrong with a geometry given as text, such as the value of a session variable. */
export function geojsonTextProblem(text: string): string | null {
  try {
    return geojsonProblem(JSON.parse(text));
  } catch {
    return NO_OBJECT;
  }
}

const NO_OBJECT = 'a geometry is a GeoJSON object';

function listOf(rule: Rule, what: string): Rule {
  return (value) => {
    if (!Array.isArray(value)) return `${what} of a geometry are a list`;
    for (const item of value) {
      const problem = rule(item);
      if (problem) return problem;
    }
    return null;
  };
}

function position(value: unknown): string | null {
  if (!Array.isArray(value) || !value.every(isNumber)) {
    return 'a Position is a list of numbers';
  }
  return value.length < 2 ? 'A Position needs at least 2 elements' : null;
}

const positions = listOf(position, 'coordinates');

function lineString(value: unknown): string | null {
  const problem = positions(value);
  if (problem) return problem;
  return (value as unknown[]).length < 2 ? 'A LineString needs at least 2 Positions' : null;
}

function linearRing(value: unknown): string | null {
  const problem = positions(value);
  if (problem) return problem;
  const ring = value as readonly (readonly number[])[];
  if (ring.length < 4) return 'A LinearRing needs at least 4 Positions';
  const isClosed = JSON.stringify(ring[0]) === JSON.stringify(ring.at(-1));
  return isClosed ? null : 'the first and last locations have to be equal for a LinearRing';
}

const polygon = listOf(linearRing, 'coordinates');

const COORDINATES: Readonly<Record<string, Rule>> = {
  Point: position,
  MultiPoint: positions,
  LineString: lineString,
  MultiLineString: listOf(lineString, 'coordinates'),
  Polygon: polygon,
  MultiPolygon: listOf(polygon, 'coordinates'),
};
