/** Code that does not follow a rule of tidy.test.ts yet, one list per rule. The lists only get shorter: an entry that no longer
 *  applies fails its test and has to be removed. Entries stand under the room where they were found; a name counts everywhere. */

/** Rooms in which files import each other in a circle. */
export const ROOMS_WITH_CYCLES: readonly string[] = [];

/** Names of exported types, classes or interfaces that several files use for different things. */
export const SHARED_TYPE_NAMES: readonly string[] = [];

/** Exported symbols whose docstrings are fragments. */
export const SYMBOLS_WITH_FRAGMENTS: readonly string[] = [];

/** The most fragments among docstrings of members and of what is not exported, by top folder. */
export const MOST_FRAGMENTS: Readonly<Record<string, number>> = {};

/** Names with a word that the field has a better one for. */
export const NAMES_WITH_BANNED_WORDS: readonly string[] = [];
