/** Suggests a field in place of one that a kind does not have: one with a similar name, the same field at another place, or else all fields
 *  that there are.
 *  In: the schema of the spec, the fields of the object, the name. Out: a clause for a message. Pure. Not here: finding such fields (validate.ts). */
import { nearestNames, nearestText } from '@pergola/engine/metadata';

type Fields = {
  readonly properties?: Readonly<Record<string, Fields>>;
  readonly items?: Fields;
};

/** The most other places that a message names. A name that more places have, such as `name`, says nothing. */
const MOST_PLACES = 2;
/** The most fields that are listed beside other places: a field of the object may have been meant as well. */
const MOST_LISTED = 5;

/** Returns the clause that says what may have been meant. `fields` are those that the object may have. */
export function meantInstead(spec: Fields, fields: readonly string[], name: string): string {
  const near = nearestNames(name, fields);
  if (near.length > 0) return nearestText(near);
  const places = placesOf(name, spec, 'spec');
  const all = `; there are ${fields.join(', ') || 'none'}`;
  if (places.length === 0 || places.length > MOST_PLACES) return all;
  const elsewhere = `; ${places.join(' and ')} ${places.length === 1 ? 'is' : 'are'}`;
  return fields.length > 0 && fields.length <= MOST_LISTED ? `${all}${elsewhere}` : elsewhere;
}

/** Returns the paths of all fields with this name. */
function placesOf(name: string, { properties = {}, items }: Fields, path: string): readonly string[] {
  return [
    ...Object.entries(properties).flatMap(([key, schema]) => [
      ...(key === name ? [`${path}.${key}`] : []),
      ...placesOf(name, schema, `${path}.${key}`),
    ]),
    ...(items ? placesOf(name, items, `${path}[]`) : []),
  ];
}
