/** Long bodies: parsed in slices, and planned in a later turn of the event loop, so that other requests are answered in between.
 *  Not here: reading bytes (read-body.ts), what is parsed (json/parse-json.ts). */
import { fail } from '../../errors/engine-error.ts';
import { parsingJson } from '../../json/parse-json.ts';
import { makeRoom } from '../../limits/memory-pressure.ts';
import { inSlices, nextTurn } from '../../limits/slices.ts';
import type { Model } from '../../resolve/model/model.ts';
import { ADMIN_ROLE, type Session } from '../../resolve/session.ts';

/** The length of a text that takes some milliseconds to parse. */
const LONG = 256 * 1024;

/** The memory of the values of a long body, as a multiple of its text. */
const PARSED_SHARE = 25;

export function isLongBody(text: string): boolean {
  return text.length >= LONG;
}

/** Resolves with the value of a text, in a turn of its own. `session` is null before authentication. Raises `invalidJson`, `tooManyInputs`, and
 *  `overloaded` where its values would fill the memory of the container. */
export async function parseLongBody(text: string, model: Model, session: Session | null): Promise<unknown> {
  if (!makeRoom(PARSED_SHARE * text.length))
    fail('overloaded', { text: 'a body of this length has no room in memory' });
  const { mostInputs } = model.requestBounds;
  const value = await inSlices(parsingJson(text, session?.role === ADMIN_ROLE ? {} : { mostInputs }));
  await nextTurn();
  return value;
}
