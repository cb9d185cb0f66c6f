/** The types of digits.js for tests. */
export function parseWithAllDigits(text: string): unknown;
export function isNumber(value: unknown): boolean;
