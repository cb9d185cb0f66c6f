/** Numbers of JSON without loss. Those JavaScript prints as they were written are numbers; all others (9007199254740993, 1.0,
 *  1e400) are `JSON.rawJSON`, which `JSON.stringify` writes as it was read. Whoever asks whether a value is a number, or
 *  which, asks here. Pure. RFC 8259, 6; ECMAScript proposal "JSON.parse source text access". */

type RawNumber = { readonly rawJSON: string };

/** Not yet among the types of ES 2024. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/** A text JSON has as a number → its value. */
export function numberFrom(text: string): unknown {
  return isPrintedSo(text) ? Number(text) : rawJSON(text);
}

/** Does JavaScript print the number as it is written here? */
export function isPrintedSo(text: string): boolean {
  return String(Number(text)) === text;
}

export function isRawNumber(value: unknown): value is RawNumber {
  return isRawJSON(value);
}

export function isNumber(value: unknown): boolean {
  return typeof value === 'number' || isRawJSON(value);
}

/** The number JavaScript has for one, nearest to what was written; any other value as it is. */
export function nearestNumber(value: unknown): unknown {
  return isRawJSON(value) ? Number(value.rawJSON) : value;
}

/** The number as it was written; undefined for what is none. */
export function numberText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return isRawJSON(value) ? value.rawJSON : undefined;
}

/** Are both numbers, and the same one, however they are written? Fractions as near as JavaScript comes. */
export function isSameAmount(a: unknown, b: unknown): boolean {
  if (!isNumber(a) || !isNumber(b)) return false;
  const [one, other] = [wholeText(a), wholeText(b)];
  return one === undefined && other === undefined ? nearestNumber(a) === nearestNumber(b) : one === other;
}

const WRITTEN = /^(-?)0*(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** No integer of Postgres has as many digits. */
const MOST_ZEROS = 40;

/** The digits of a whole number, however it was written: `1000` of 1e3, `1` of 1.0. Undefined for all else. */
export function wholeText(value: unknown): string | undefined {
  const [, sign, whole, fraction = '', exponent = '0'] = WRITTEN.exec(numberText(value) ?? '') ?? [];
  if (whole === undefined || Math.abs(Number(exponent)) > MOST_ZEROS) return undefined;
  const digits = whole + fraction + '0'.repeat(Math.max(0, Number(exponent) - fraction.length));
  const point = whole.length + Number(exponent);
  if (/[1-9]/.test(digits.slice(Math.max(0, point)))) return undefined;
  const text = digits.slice(0, Math.max(0, point)).replace(/^0+(?=\d)/, '');
  return text === '' || text === '0' ? '0' : `${sign}${text}`;
}
