/** Limits on the shape of what a resource says, checked without recursion, so that neither deep nesting nor YAML aliases that unfold
 *  to millions of values can stop a pass.
 *  Pure. Not here: what a spec may say (validate.ts). */

/** No meaningful condition or document comes near them. Code that walks a value on the stack manages several thousand levels. */
const MOST_LEVELS = 256;
const MOST_VALUES = 2_000_000;

/** `is nested more than 256 levels deep`; undefined for a value within the limits. */
export function exceededLimit(value: unknown): string | undefined {
  const left: { readonly value: object; readonly level: number }[] = [];
  let values = 0;
  const note = (inner: unknown, level: number) => {
    values++;
    if (typeof inner === 'object' && inner !== null) left.push({ value: inner, level });
  };
  note(value, 1);
  for (let next = left.pop(); next; next = left.pop()) {
    if (next.level > MOST_LEVELS) return `is nested more than ${MOST_LEVELS} levels deep`;
    if (values > MOST_VALUES) return `holds more than ${MOST_VALUES} values`;
    for (const inner of Object.values(next.value)) note(inner, next.level + 1);
  }
  return undefined;
}
