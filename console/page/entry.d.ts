/** The types of entry.js for its test. */
export function objectIn(text: string, sentence: string): object;
