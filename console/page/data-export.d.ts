/** The types of data-export.js for its test. */
export function asCsv(columns: readonly string[], rows: readonly object[]): string;
export function formulasIn(columns: readonly string[], rows: readonly object[]): number;
