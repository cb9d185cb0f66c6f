/** Lists in messages, which may be too long to be read. Pure. */

/** Returns the first texts and the number of the rest: `a, b and 3 more`, with another separator `a; b; and 3 more`. `total` is the number of
 *  all when not all are given. */
export function listText(
  texts: readonly string[],
  { most, separator = ', ', total = texts.length }: ListOptions,
): string {
  const shown = texts.slice(0, most);
  const rest = total - shown.length;
  if (rest <= 0) return shown.join(separator);
  if (shown.length === 0) return `${rest} more`;
  return `${shown.join(separator)}${separator === ', ' ? ' ' : separator}and ${rest} more`;
}

export type ListOptions = {
  readonly most: number;
  readonly separator?: string;
  readonly total?: number;
};
