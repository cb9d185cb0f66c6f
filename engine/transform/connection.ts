/** Connection templates: which of a source's connections a request goes to, by its session, its headers and its operation.
 *  In: the template, the names of the source's connection set, the request. Out: a Route. Raises TransformError.
 *  A template chooses by naming one of `$.primary`, `$.read_replicas`, `$.default` and `$.connection_set.NAME`: these are
 *  values no text is equal to, so that nothing a client sends can stand for one.
 *  Not here: connections (database/sources.ts). Reference: docs/reference/behaviour/metadata-api.md; docs/reference/behaviour/metadata.md. */
import { evaluate } from './evaluate.ts';
import { parseTemplate } from './parse.ts';
import { type SessionVariables, scopeOf, TransformError, withPosition } from './render.ts';
import type { Template } from './template.ts';

export type Route =
  | { readonly routing_to: 'primary' | 'read_replicas' | 'default'; readonly value: null }
  | { readonly routing_to: 'connection_set'; readonly value: string };

/** What templates know as `$.request`; names in lower case. */
export type RoutedRequest = {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly session: SessionVariables;
  readonly query: {
    readonly operation_type?: string | undefined;
    readonly operation_name?: string | undefined;
  };
};

export type Router = (request: RoutedRequest) => Route;

const ROUTES: readonly Route[] = [
  { routing_to: 'primary', value: null },
  { routing_to: 'read_replicas', value: null },
  { routing_to: 'default', value: null },
];

/** The template is read when it is first needed, and only then refused. */
export function routerOf(source: string, members: readonly string[]): Router {
  const connections = new Map<string, Route>(
    members.map((value) => [value, { routing_to: 'connection_set', value }]),
  );
  const choices = {
    ...Object.fromEntries(ROUTES.map((route) => [route.routing_to, route])),
    connection_set: Object.fromEntries(connections),
  };
  const routes: ReadonlySet<unknown> = new Set([...ROUTES, ...connections.values()]);
  let template: Template | undefined;
  return (request) => {
    const bindings = new Map([['$', { ...choices, request }]]);
    const chosen = withPosition(source, () => {
      template ??= parseTemplate(source);
      return evaluate(template, scopeOf(bindings, request.session));
    });
    return routes.has(chosen) ? (chosen as Route) : refuse();
  };
}

function refuse(): never {
  const message =
    'Expected one of $.primary, $.read_replicas, $.default and $.connection_set.NAME as what the template comes to';
  throw new TransformError({ error_code: 'Type Error', message });
}
