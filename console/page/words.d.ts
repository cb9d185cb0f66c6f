/** The types of words.js for its test. */
export function inWords(condition: unknown): string;
export function operatorText(name: string): string;
