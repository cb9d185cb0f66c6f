/** Ids and cursors: what a client is given to hand back unread is base64 of JSON. Numbers JavaScript cannot hold exactly keep
 *  their digits as `JSON.rawJSON`. Lenient like the reference about what is no base64: JSON decides.
 *  Not here: what the JSON says (node.ts, cursor.ts). Reference: features.md row 124. */

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const { parse, rawJSON } = JSON as unknown as {
  readonly parse: (text: string, reviver: Reviver) => unknown;
  readonly rawJSON: (text: string) => unknown;
};

/** Undefined when there is no JSON in it. */
export function opened(text: string): unknown {
  try {
    return parse(Buffer.from(text, 'base64').toString('utf8'), (_key, value, { source }) =>
      typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined
        ? rawJSON(source)
        : value,
    );
  } catch {
    return undefined;
  }
}

/** What a JSON value is called: `Array`. */
export function kindOf(value: unknown): string {
  if (value === null) return 'Null';
  if (Array.isArray(value)) return 'Array';
  const isRaw = (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value);
  const type = isRaw ? 'number' : typeof value;
  return type.charAt(0).toUpperCase() + type.slice(1);
}
