/** The rows that are shown, as text of a cell, as CSV (RFC 4180; null is nothing, empty text is "") and as JSON. Pure. */

/** Returns the text of a value: JSON of objects and lists, numbers with all of their digits. */
export function cellText(value) {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'object') return String(value);
  return JSON.stringify(value);
}

export function asCsv(columns, rows) {
  const lines = [columns.map(quoted), ...rows.map((row) => columns.map((name) => field(row[name])))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

function field(value) {
  if (value === '') return '""';
  return quoted(isFormula(value) ? `'${value}` : cellText(value));
}

/** Returns the number of texts that a spreadsheet would evaluate. In CSV they have an apostrophe in front. */
export function formulasIn(columns, rows) {
  return rows.flatMap((row) => columns.filter((name) => isFormula(row[name]))).length;
}

function isFormula(value) {
  return typeof value === 'string' && /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value));
}

function quoted(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function asJson(columns, rows) {
  const shown = rows.map((row) => Object.fromEntries(columns.map((name) => [name, row[name] ?? null])));
  return `${JSON.stringify(shown, null, 2)}\n`;
}
