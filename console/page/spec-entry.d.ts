/** The types of spec-entry.js for its test. */
export const UNREADABLE: object;
export function valueIn(schema: object, text: string): unknown;
export function textsIn(text: string): readonly string[];
