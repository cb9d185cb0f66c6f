/** Parses the `path` argument of a json column, `$.a.b[0]` or `a["x y"]`, into the steps of `#>`. The leading `$` is optional.
 *  Raises `parseFailed`. Reference: docs/reference/behaviour/queries.md. */
import { fail } from '../errors/engine-error.ts';

const STEP = /\.?([^.[\]"'$]+)|\.?\[(\d+)\]|\.?\["((?:[^"\\]|\\.)*)"\]|\.?\['((?:[^'\\]|\\.)*)'\]/y;

export function jsonPath(text: string): string[] {
  const start = text.startsWith('$') ? 1 : 0;
  const steps: string[] = [];
  STEP.lastIndex = start;
  while (STEP.lastIndex < text.length) {
    const at = STEP.lastIndex;
    const match = STEP.exec(text);
    if (!match)
      return fail('parseFailed', {
        text: `parse json path error: invalid path at character ${at} of "${text}"`,
      });
    steps.push(match[1] ?? match[2] ?? (match[3] ?? match[4] ?? '').replaceAll(/\\(.)/g, '$1'));
  }
  return steps;
}
