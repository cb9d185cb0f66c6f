/** The media type of a GraphQL response. A client that accepts `application/graphql-response+json` at least as gladly as JSON gets it: the status
 *  then says whether the request was executed, and the body has nothing but `errors`, `data` and `extensions`. All others get JSON.
 *  In: the header Accept. Out: the type. Pure. GraphQL over HTTP, "Media Types"; RFC 9110, section 12.5.1. */

export type ResponseType = 'application/json' | 'application/graphql-response+json';

const GRAPHQL: ResponseType = 'application/graphql-response+json';
const JSON_TYPE: ResponseType = 'application/json';

export function responseTypeOf(accept: string | undefined): ResponseType {
  if (accept === undefined || !accept.toLowerCase().includes(GRAPHQL)) return JSON_TYPE;
  const ranges = accept.split(',').map(rangeOf);
  const qualityOf = (type: string) => ranges.find((range) => range.type === type)?.quality;
  const wanted = qualityOf(GRAPHQL) ?? 0;
  return wanted > 0 && wanted >= (qualityOf(JSON_TYPE) ?? 0) ? GRAPHQL : JSON_TYPE;
}

function rangeOf(text: string): { readonly type: string; readonly quality: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  const number = quality === undefined ? 1 : Number(quality.slice(2));
  return { type, quality: Number.isNaN(number) ? 0 : number };
}
