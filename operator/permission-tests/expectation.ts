/** Compares a GraphQL response with the expectation of a PermissionTest. In: both. Out: one sentence per difference, none when the test passed.
 *  Numbers are equal when they have the same value, 12.5 and 12.50, as long as they have few enough digits for JavaScript; longer ones when they
 *  have the same text. Pure. Not here: sending the request (../engine/permission-test.ts). */
import { isOfAllowList, isRecord, isSameJson } from '@pergola/engine/metadata';
import type { PermissionTestSpec } from '../kinds/permission-test.ts';
import type { ResponseError, TestResponse } from '../ports/permission-test.ts';

type Expected = PermissionTestSpec['expect'];
type ExpectedError = NonNullable<Expected['error']>;
type ExpectedRows = NonNullable<Expected['rows']>[number];
type Row = Readonly<Record<string, unknown>>;

const MOST_DIFFERENCES = 10;
const MOST_CHARACTERS = 300;
/** Numbers with at most this many characters have at most fifteen digits, which JavaScript keeps. */
const MOST_NUMBER_CHARACTERS = 15;

export function differencesFrom(expected: Expected, response: TestResponse): readonly string[] {
  const found = expected.error
    ? errorDifferences(expected.error, response)
    : response.errors.length > 0
      ? [`expected data, received ${errorsText(response.errors)}`]
      : [...dataDifferences(expected, response), ...rowsDifferences(expected, response)];
  const rest = found.length - MOST_DIFFERENCES;
  return rest > 0 ? [...found.slice(0, MOST_DIFFERENCES), `and ${rest} more`] : found;
}

/** Returns where the response differs, without any value of it; undefined when the test passed. For statuses, which more people read than
 *  the data. */
export function summaryFrom(expected: Expected, response: TestResponse): string | undefined {
  if (differencesFrom(expected, response).length === 0) return undefined;
  const codes = [...new Set(response.errors.map(({ code }) => code))].join(', ');
  if (expected.error) {
    return response.errors.length === 0
      ? 'expected an error, received data'
      : `expected another error than ${codes}`;
  }
  if (codes !== '') return `expected data, received the error ${codes}`;
  const differing = (expected.rows ?? []).filter(
    (item) => rowsDifferences({ rows: [item] }, response).length > 0,
  );
  const parts = [
    ...(dataDifferences(expected, response).length > 0 ? ['data'] : []),
    ...differing.map(({ path }) => path),
  ];
  return `the response differs at ${parts.join(', ')}`;
}

function errorDifferences(expected: ExpectedError, { data, errors }: TestResponse): readonly string[] {
  const wanted = `an error${expectedErrorText(expected)}`;
  if (errors.length === 0) return [`expected ${wanted}, received data ${printed(data)}`];
  return errors.some((error) => isExpected(expected, error))
    ? []
    : [`expected ${wanted}, received ${errorsText(errors)}`];
}

/** A request that is not on the allow list says nothing about permissions, unless the test is about that. */
function isExpected({ code, message, path }: ExpectedError, error: ResponseError): boolean {
  return (
    (message !== undefined || !isOfAllowList(error)) &&
    (code === undefined || code === error.code) &&
    (message === undefined || error.message.includes(message)) &&
    (path === undefined || path === error.path)
  );
}

function expectedErrorText({ code, message, path }: ExpectedError): string {
  const parts = [
    code === undefined ? [] : [`the code ${code}`],
    message === undefined ? [] : [`a message with ${JSON.stringify(message)}`],
    path === undefined ? [] : [`the path ${path}`],
  ].flat();
  return parts.length === 0 ? '' : ` with ${parts.join(' and ')}`;
}

function errorsText(errors: readonly ResponseError[]): string {
  return errors
    .map(({ code, message, path }) => `the error ${code}: ${shortened(message)} at ${path}`)
    .join('; ');
}

function dataDifferences({ data: expected }: Expected, { data }: TestResponse): readonly string[] {
  return expected === undefined ? [] : valueDifferences('data', expected, data);
}

/** Returns a sentence for each value that differs, with its path. */
function valueDifferences(path: string, expected: unknown, received: unknown): readonly string[] {
  if (isSameValue(expected, received)) return [];
  if (isRecord(expected) && isRecord(received)) {
    const keys = [...new Set([...Object.keys(expected), ...Object.keys(received)])];
    return keys.flatMap((key) => valueDifferences(`${path}.${key}`, expected[key], received[key]));
  }
  if (Array.isArray(expected) && Array.isArray(received) && expected.length === received.length) {
    return expected.flatMap((item, i) => valueDifferences(`${path}[${i}]`, item, received[i]));
  }
  if (expected === undefined) return [`${path}: expected nothing, received ${printed(received)}`];
  return [`${path}: expected ${printed(expected)}, received ${printed(received)}`];
}

function rowsDifferences({ rows = [] }: Expected, { data }: TestResponse): readonly string[] {
  return rows.flatMap((item) => {
    const found = rowsAt(data, item.path.split('.'));
    if (found === undefined) return [`${item.path}: expected rows, received data ${printed(data)}`];
    return itemDifferences(item, found).map((text) => `${item.path}: ${text}`);
  });
}

/** Returns the rows at a path: the items of a list, an object, nothing for null. A path through a list leads to the rows of all its items.
 *  Undefined when a field of the path is missing or its rows are no objects. */
function rowsAt(value: unknown, path: readonly string[]): readonly Row[] | undefined {
  if (value === null) return [];
  if (Array.isArray(value)) {
    const each = value.map((item) => rowsAt(item, path));
    return each.every((rows) => rows !== undefined) ? each.flat() : undefined;
  }
  if (!isRecord(value)) return undefined;
  const [field, ...rest] = path;
  if (field === undefined) return [value];
  return Object.hasOwn(value, field) ? rowsAt(value[field], rest) : undefined;
}

function itemDifferences(item: ExpectedRows, rows: readonly Row[]): readonly string[] {
  const { count, equal, contains = [], excludes = [] } = item;
  const counted =
    count === undefined || count === rows.length
      ? []
      : [`expected ${countOf(count)}, received ${countOf(rows.length)}: ${printed(rows)}`];
  const missing = contains
    .filter((row) => !rows.some((received) => fits(row, received)))
    .map((row) => `expected a row with ${printed(row)}, received ${printed(rows)}`);
  const excluded = excludes.flatMap((row) =>
    rows
      .filter((received) => fits(row, received))
      .map((received) => `expected no row with ${printed(row)}, received ${printed(received)}`),
  );
  return [...counted, ...(equal ? equalDifferences(equal, rows) : []), ...missing, ...excluded];
}

/** Compares rows in any order. Equal rows count as often as they occur. */
function equalDifferences(expected: readonly Row[], rows: readonly Row[]): readonly string[] {
  const left = [...rows];
  const missing = expected.filter((row) => {
    const at = left.findIndex((received) => isSameValue(row, received));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return [
    ...missing.map((row) => `expected the row ${printed(row)}, which is missing`),
    ...left.map((row) => `received the row ${printed(row)}, which is not expected`),
  ];
}

function countOf(rows: number): string {
  return rows === 1 ? '1 row' : `${rows} rows`;
}

function printed(value: unknown): string {
  return shortened(JSON.stringify(value) ?? 'nothing');
}

function shortened(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

function isSameValue(expected: unknown, received: unknown): boolean {
  if (Array.isArray(expected) && Array.isArray(received)) {
    return expected.length === received.length && expected.every((item, i) => isSameValue(item, received[i]));
  }
  if (isRecord(expected) && isRecord(received)) {
    return Object.keys(expected).length === Object.keys(received).length && fits(expected, received);
  }
  return isSameJson(expected, received) || isSameNumber(expected, received);
}

/** True when the received row has all fields of the expected one with the same values. Objects in it may have more fields as well. */
function fits(expected: unknown, received: unknown): boolean {
  if (!isRecord(expected) || !isRecord(received)) return isSameValue(expected, received);
  return Object.entries(expected).every(
    ([key, value]) => Object.hasOwn(received, key) && fits(value, received[key]),
  );
}

function isSameNumber(a: unknown, b: unknown): boolean {
  const [one, other] = [numberText(a), numberText(b)];
  if (one === undefined || other === undefined) return false;
  return Math.max(one.length, other.length) <= MOST_NUMBER_CHARACTERS && Number(one) === Number(other);
}

/** Returns a number as JSON writes it, also one that keeps its text; undefined for other values. */
function numberText(value: unknown): string | undefined {
  if (typeof value === 'string' || value === null || value === undefined) return undefined;
  const text = JSON.stringify(value);
  return /^-?\d/.test(text) ? text : undefined;
}
