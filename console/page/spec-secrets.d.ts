/** The types of spec-secrets.js for the tests. */
export function missingIn(paths: readonly string[], spec: object): readonly string[];
export function withoutSecrets(
  schema: object,
  value: unknown,
): { readonly kept: unknown; readonly left: readonly string[] };
