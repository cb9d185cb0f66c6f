/** docs/reference/errors.md: every row of ERRORS, with its parameters as `<name>`. */
import { EngineError } from '../../engine/errors/engine-error.ts';
import { ERRORS, type ErrorDialect, type ErrorName } from '../../engine/errors/errors.ts';
import { code, page, table } from './markdown.ts';

/** Any parameter, printed as its name, whether a row takes it for a text or for a list of texts. */
const PLACEHOLDERS = new Proxy<Record<string, unknown>>({}, { get: (_, name) => placeholder(String(name)) });

function placeholder(name: string): unknown {
  const text = `<${name}>`;
  return { toString: () => text, join: () => text };
}

export function errorsPage(): string {
  const names = Object.keys(ERRORS) as ErrorName[];
  return page(
    'Errors',
    'Generated from `engine/errors/errors.ts` by `make generate`.',
    [
      'Admin endpoints answer an error with its status and `{path, error, code}`; some carry `internal`, which holds the',
      'inconsistent objects or the error of the database. `POST /v1/graphql` answers with status 200 and',
      '`{errors: [{message, extensions: {path, code}}]}`. `path` is the position in the request: `$.args.table`.',
      '[Behaviour: errors](behaviour/errors.md) describes encodings and codes.',
    ].join('\n'),
    'If a row has two wordings, the first is that of `/v1/query`, the second that of `/v1/metadata`, `/v2/query` and `/v1/graphql`.',
    table(['Name', 'Status', 'Code', 'Message'], names.map(rowOf)),
  );
}

function rowOf(name: ErrorName): readonly string[] {
  const error = new EngineError(name, PLACEHOLDERS);
  return [code(name), String(error.status), both(error.codeIn, error), both(error.messageIn, error)];
}

/** Returns both wordings, or one if they are equal. */
function both(say: (dialect: ErrorDialect) => unknown, error: EngineError): string {
  const wordings = (['specification', 'newer'] as const).map((dialect) => String(say.call(error, dialect)));
  return [...new Set(wordings)].map(code).join('<br>');
}
