/** Finds a template of a webhook that cannot be parsed, so that no request can be made of it. In: both transforms of a webhook.
 *  Out: one sentence. Pure. Not here: what fails only with the values of a request (render.ts). */
import type { BodyTransform, RequestTransform, ResponseTransform } from '../metadata/schema/common.ts';
import { parseTemplate, parseText } from './parse.ts';
import { TemplateError } from './template.ts';

type Transforms = {
  readonly request_transform?: RequestTransform | undefined;
  readonly response_transform?: ResponseTransform | undefined;
};

/** The text of a template and its parser: JSON with expressions, or text with expressions. */
type Part = readonly [path: string, text: string, parse: (text: string) => unknown];

/** Returns the path and the error of the first template that cannot be parsed; null when all can be. */
export function templateProblem({ request_transform, response_transform }: Transforms): string | null {
  const parts = [
    ...(request_transform ? requestParts(request_transform) : []),
    ...bodyParts('response_transform.body', response_transform?.body),
  ];
  for (const [path, text, parse] of parts) {
    const problem = problemOf(text, parse);
    if (problem !== null) return `the template ${path} cannot be parsed (${problem}): correct it`;
  }
  return null;
}

function requestParts({ url, body, query_params, request_headers }: RequestTransform): readonly Part[] {
  const parameters: readonly Part[] =
    typeof query_params === 'string'
      ? [['request_transform.query_params', query_params, parseText]]
      : Object.entries(query_params ?? {}).flatMap(([name, value]) => [
          ['request_transform.query_params', name, parseText] as const,
          ['request_transform.query_params', value ?? '', parseText] as const,
        ]);
  return [
    ...(url === undefined ? [] : [['request_transform.url', url, parseText] as const]),
    ...bodyParts('request_transform.body', body),
    ...parameters,
    ...textParts('request_transform.request_headers.add_headers', request_headers?.add_headers),
  ];
}

function bodyParts(path: string, body: BodyTransform | undefined): readonly Part[] {
  if (body === undefined) return [];
  if (typeof body === 'string') return [[path, body, parseTemplate]];
  if (body.action === 'remove') return [];
  if (body.action === 'transform') return [[path, body.template ?? 'null', parseTemplate]];
  return textParts(path, body.form_template);
}

function textParts(path: string, texts: Readonly<Record<string, string>> = {}): readonly Part[] {
  return Object.values(texts).map((text) => [path, text, parseText]);
}

function problemOf(text: string, parse: (text: string) => unknown): string | null {
  try {
    parse(text);
    return null;
  } catch (error) {
    if (error instanceof TemplateError) return error.problem(text).message.replace(/\.$/, '');
    throw error;
  }
}
