/** Whether a URL of the metadata can be one of HTTP. In: text that may contain `{{NAME}}`. Pure, total. Not here: the values of the
 *  variables (metadata/variables.ts), requests (outgoing/). */

/** True unless no values of the variables in the text can make it a URL of HTTP. */
export function canBeUrl(template: string): boolean {
  const fixed = template.split('{{', 1)[0]!;
  if (fixed !== template) return fixed === '' || /^https?:\/\//i.test(fixed);
  const protocol = URL.parse(template)?.protocol;
  return protocol === 'http:' || protocol === 'https:';
}
