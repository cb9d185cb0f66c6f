/** JSON that loses nothing: numbers keep their digits, so that 1.50 and 1.5 differ. What two answers have in common is
 *  their `digest`: lists that have no order are sorted. */

/** A number by its text. */
type Digits = { readonly digits: string };

export function parseExactly(text: string): unknown {
  const keepDigits = (_key: string, value: unknown, context?: { readonly source?: string }): unknown => {
    return typeof value === 'number' ? ({ digits: context?.source ?? '' } satisfies Digits) : value;
  };
  // The third argument is newer than TypeScript's declaration of it.
  return JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown);
}

/** What to expect of the answer to one field. */
export type Shape = {
  /** Of the list's items, or of the object. */
  readonly fields: ReadonlyMap<string, Shape>;
  /** A list without an order. */
  readonly isUnordered: boolean;
};

export const SCALAR: Shape = { fields: new Map(), isUnordered: false };

export function digest(value: unknown, shape: Shape): unknown {
  if (shape === SCALAR) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => digest(item, { ...shape, isUnordered: false }));
    return shape.isUnordered ? items.sort(byText) : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, digest(item, shape.fields.get(key) ?? SCALAR)]),
  );
}

function byText(a: unknown, b: unknown): number {
  const [left, right] = [JSON.stringify(a), JSON.stringify(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}
