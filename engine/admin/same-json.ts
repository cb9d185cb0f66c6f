/** Whether two values come to the same JSON text. Not here: what differs and how (metadata/diff.ts). */
import { isRawNumber } from '../json/number.ts';

/** Would both be written as the same JSON text? Parts two drafts share are not looked into. */
export function isSameJsonText(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b) || isRawNumber(a) !== isRawNumber(b)) return false;
  const [mine, theirs] = [writtenEntries(a), writtenEntries(b)];
  return (
    mine.length === theirs.length &&
    mine.every(([key, value], i) => key === theirs[i]![0] && isSameJsonText(value, theirs[i]![1]))
  );
}

function writtenEntries(value: object): readonly (readonly [string, unknown])[] {
  return Object.entries(value).filter(([, inner]) => inner !== undefined);
}
