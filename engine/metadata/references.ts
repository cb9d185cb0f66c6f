/** References to texts that do not stand in the metadata: environment variables, named values and files. A reference text is the name
 *  of a variable, `value:NAME` or `file:PATH`, also in templates: `{{NAME}}`, `{{value:NAME}}`.
 *  In and out: parts of metadata objects, reference texts. Pure.
 *  Not here: the references of an object (variables.ts), what they stand for (values/named-values.ts, resolve/environment-variables.ts). */

/** How long the text of a file is trusted, in milliseconds. What is made from it may be kept as long again, and a change must take effect
 *  within a second (docs/guides/secrets.md). */
export const FILE_AGE_MS = 400;

/** The name or path behind a reference text. */
export type ParsedReference = { readonly from: 'env' | 'value' | 'file'; readonly name: string };

/** Parses a reference text. Names of environment variables contain no colon. */
export function parseReference(reference: string): ParsedReference {
  const [, from, name] = /^(value|file):(.*)$/s.exec(reference) ?? [];
  return from === undefined
    ? { from: 'env', name: reference }
    : { from: from as ParsedReference['from'], name: name ?? '' };
}

/** Returns the reference as messages name it: `environment variable "NAME"`, `named value "NAME"`, `file "PATH"`. */
export function printReference(reference: string): string {
  const { from, name } = parseReference(reference);
  const what = { env: 'environment variable', value: 'named value', file: 'file' }[from];
  return `${what} ${JSON.stringify(name)}`;
}

/** A member of an object that has exactly one of several. */
export type FromElsewhere =
  | { readonly from_env: string }
  | { readonly from_value: string }
  | { readonly from_file: string };

/** Returns the reference text of `{from_env}`, `{from_value}` or `{from_file}`. */
export function referenceOf(source: FromElsewhere): string {
  if ('from_env' in source) return source.from_env;
  return 'from_value' in source ? `value:${source.from_value}` : `file:${source.from_file}`;
}

/** Returns the template that stands for the text or the reference: `{{NAME}}`, `{{value:NAME}}`. */
export function templateOf(source: string | FromElsewhere): string {
  return typeof source === 'string' ? source : `{{${referenceOf(source)}}}`;
}

/** Returns the references in the members `FIELD_from_env`, `FIELD_from_value` and `FIELD_from_file`. */
export function siblingReferences(
  fields: Readonly<Record<string, unknown>>,
  field: string,
): readonly string[] {
  return (['env', 'value', 'file'] as const).flatMap((from) => {
    const name = fields[`${field}_from_${from}`];
    if (typeof name !== 'string') return [];
    return [from === 'env' ? name : `${from}:${name}`];
  });
}

/** Returns the references in the members `from_env`, `from_value` and `from_file`. */
export function partReferences(part: {
  readonly from_env?: string;
  readonly from_value?: string;
  readonly from_file?: string;
}): readonly string[] {
  const { from_env: env, from_value: value, from_file: file } = part;
  return [
    ...(env === undefined ? [] : [env]),
    ...(value === undefined ? [] : [`value:${value}`]),
    ...(file === undefined ? [] : [`file:${file}`]),
  ];
}
