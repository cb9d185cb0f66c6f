/** The body of a transformed request or answer: a transform creates a JSON value, removes the body, or creates a form.
 *  Source: docs/reference/behaviour/metadata.md; docs/reference/behaviour/actions.md. */
import type { BodyTransform } from '../metadata/schema/common.ts';
import type { TemplateScope } from './evaluate.ts';
import { parseChecked, rendered, renderedText } from './render.ts';

export type TransformedBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'form'; readonly text: string }
  | { readonly kind: 'none' };

export function transformedBody(
  transform: BodyTransform | undefined,
  given: unknown,
  scope: TemplateScope,
): TransformedBody {
  if (transform === undefined) return { kind: 'json', value: given };
  if (typeof transform === 'string') return { kind: 'json', value: rendered(transform, scope) };
  switch (transform.action) {
    case 'transform':
      return { kind: 'json', value: rendered(transform.template ?? 'null', scope) };
    case 'remove':
      return { kind: 'none' };
    case 'x_www_form_urlencoded': {
      const fields = Object.entries(transform.form_template ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
      return { kind: 'form', text: urlEncoded(fields.map(([k, v]) => [k, renderedText(v, scope)])) };
    }
    default:
      return transform.action satisfies never;
  }
}

/** Raises TransformError if the template cannot be parsed. */
export function checkBodyTransform(transform: BodyTransform | undefined): void {
  if (typeof transform === 'string') parseChecked(transform);
  else if (transform?.action === 'transform') parseChecked(transform.template ?? 'null');
}

/** Encodes a form: `a=1&b`, where a null value gives a bare name. WHATWG URL, application/x-www-form-urlencoded, with `%20` for a space. */
export function urlEncoded(fields: readonly (readonly [string, string | null])[]): string {
  const encode = (value: string) => encodeURIComponent(value.toWellFormed());
  return fields
    .map(([name, value]) => (value === null ? encode(name) : `${encode(name)}=${encode(value)}`))
    .join('&');
}
