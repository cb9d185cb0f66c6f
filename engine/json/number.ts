/** Numbers of JSON without loss. A number that JavaScript prints as it was written is a JavaScript number. Any other one
 *  (9007199254740993, 1.0, 1e400) is a `JSON.rawJSON`, which `JSON.stringify` writes as it was read. This file is the only one that
 *  knows the difference.
 *  Pure. RFC 8259, 6; ECMAScript proposal "JSON.parse source text access". */

type RawNumber = { readonly rawJSON: string };

/** These functions are missing in the types of ES 2024. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/** Returns the value for the text of a JSON number. */
export function numberFrom(text: string): unknown {
  return isPrintedSo(text) ? Number(text) : rawJSON(text);
}

/** True when JavaScript prints the number as it is written. */
export function isPrintedSo(text: string): boolean {
  return String(Number(text)) === text;
}

export function isRawNumber(value: unknown): value is RawNumber {
  return isRawJSON(value);
}

export function isNumber(value: unknown): boolean {
  return typeof value === 'number' || isRawJSON(value);
}

/** Returns the JavaScript number nearest to a number; any other value unchanged. */
export function nearestNumber(value: unknown): unknown {
  return isRawJSON(value) ? Number(value.rawJSON) : value;
}

/** Returns the number as it was written; undefined for other values. */
export function numberText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return isRawJSON(value) ? value.rawJSON : undefined;
}

/** True when both values are numbers and equal, however they are written. Fractions are compared with JavaScript's precision. */
export function isSameAmount(a: unknown, b: unknown): boolean {
  if (!isNumber(a) || !isNumber(b)) return false;
  const [one, other] = [wholeText(a), wholeText(b)];
  return one === undefined && other === undefined ? nearestNumber(a) === nearestNumber(b) : one === other;
}

/** Returns a number in scientific notation: `2.147483648e9`, `1.0e-2`. From 0.1 up to 10,000,000 it has no exponent: `1.5`, `100.0`. */
export function scientificText(value: unknown): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] = WRITTEN.exec(numberText(value) ?? '') ?? [];
  const significant = (whole + fraction).replace(/^0+/, '');
  const point = significant.length - fraction.length + Number(exponent);
  const digits = significant.replace(/0+$/, '');
  if (digits === '') return '0.0';
  if (point < 0 || point > 7) return `${sign}${digits[0]}.${digits.slice(1) || '0'}e${point - 1}`;
  const padded = digits.padEnd(point, '0');
  return `${sign}${padded.slice(0, point) || '0'}.${padded.slice(point) || '0'}`;
}

const WRITTEN = /^(-?)0*(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** No integer of Postgres has as many digits. */
const MOST_ZEROS = 40;

/** Returns the digits of a whole number, however it was written: `1000` of 1e3, `1` of 1.0. Undefined for other values. */
export function wholeText(value: unknown): string | undefined {
  if (Number.isSafeInteger(value)) return String(value);
  const [, sign, whole, fraction = '', exponent = '0'] = WRITTEN.exec(numberText(value) ?? '') ?? [];
  if (whole === undefined || Math.abs(Number(exponent)) > MOST_ZEROS) return undefined;
  const digits = whole + fraction + '0'.repeat(Math.max(0, Number(exponent) - fraction.length));
  const point = whole.length + Number(exponent);
  if (/[1-9]/.test(digits.slice(Math.max(0, point)))) return undefined;
  const text = digits.slice(0, Math.max(0, point)).replace(/^0+(?=\d)/, '');
  return text === '' || text === '0' ? '0' : `${sign}${text}`;
}
