/** The search of the documentation: types, their members and arguments by a part of their names. A large schema is searched in slices, so that the page is
 *  not stopped, and no type is built for it. In: a lazy schema. Out: coordinates (docs-coordinates.js). */
import { membersOf } from './packed-schema.js';

const SLICE_MS = 10;

/** Resolves to at most `most` coordinates, types first; to null when the signal ended the search. */
export async function searchedIn(schema, text, most, signal) {
  const found = [];
  let endsAt = performance.now() + SLICE_MS;
  for (const match of matchesIn(schema, text.toLowerCase())) {
    if (match !== null) found.push(match);
    if (found.length === most) break;
    if (performance.now() < endsAt) continue;
    await new Promise((resolve) => setTimeout(resolve));
    if (signal.aborted) return null;
    endsAt = performance.now() + SLICE_MS;
  }
  return found;
}

/** Yields the coordinates that match, and null after each type that was searched. */
function* matchesIn({ packed }, text) {
  const { types } = packed.head;
  const matches = ({ name }) => name.toLowerCase().includes(text);
  for (const { name } of types) if (matches({ name })) yield { type: name };
  for (const [i, { name }] of types.entries()) {
    for (const member of membersOf(packed, i)) {
      const argument = matches(member) ? undefined : member.args?.find(matches);
      if (argument || matches(member)) yield { type: name, field: member.name, argument: argument?.name };
    }
    yield null;
  }
}
