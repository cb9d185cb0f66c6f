/** The three things a transform can do to a body: make a JSON value, drop it, or make a form of it.
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

/** Raises TransformError when its template cannot be read. */
export function checkBodyTransform(transform: BodyTransform | undefined): void {
  if (typeof transform === 'string') parseChecked(transform);
  else if (transform?.action === 'transform') parseChecked(transform.template ?? 'null');
}

/** `a=1&b`: a null value is a bare name. WHATWG URL, application/x-www-form-urlencoded, with `%20` for a space. */
export function urlEncoded(fields: readonly (readonly [string, string | null])[]): string {
  const encode = (value: string) => encodeURIComponent(value.toWellFormed());
  return fields
    .map(([name, value]) => (value === null ? encode(name) : `${encode(name)}=${encode(value)}`))
    .join('&');
}
