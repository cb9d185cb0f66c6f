/** The types of jsonc.js for its test. */
export function tryParseJSONC(text?: string): object | undefined;
