/** The admin operations that documents show. In: the text of a block of code. Out: each operation as text. Not here: running them
 *  (docs/examples.test.ts), parsing them (docs/guide-parts.test.ts). */

/** The endpoints of the admin API. */
export const ENDPOINTS = ['/v1/metadata', '/v2/query', '/v1/query'] as const;

/** Returns the operations of a block, also those that a curl command sends, without the answers that follow them. What is shortened (…) is left out. */
export function operationsIn(text: string): readonly string[] {
  const bodies = text.includes('curl ')
    ? [...text.matchAll(/-d '([^']*)'/g)].map(([, body]) => body!)
    : text.split('\n\n');
  return bodies
    .filter((body) => /^\s*\{\s*"type": *"/.test(body))
    .map(firstValue)
    .filter((operation) => !operation.includes('…'));
}

/** Returns the first lines that are a JSON value together; all when none are. */
function firstValue(text: string): string {
  const lines = text.split('\n');
  const starts = lines.map((_, i) => lines.slice(0, i + 1).join('\n'));
  return starts.find(isJson) ?? text;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
