/** Connection templates: select the connection of a source for a request, by its session, headers and operation.
 *  In: the template, the names of the source's connection set, the request. Out: a Route. Raises TransformError.
 *  A template selects by evaluating to one of `$.primary`, `$.read_replicas`, `$.default` and `$.connection_set.NAME`. These are unique
 *  values that no text equals, so that a client cannot forge one.
 *  Not here: connections (database/sources.ts). Reference: docs/reference/behaviour/metadata-api.md;
 *  docs/reference/behaviour/metadata.md. */
import { evaluate } from './evaluate.ts';
import { parseTemplate } from './parse.ts';
import { type SessionVariables, scopeOf, TransformError, withPosition } from './render.ts';
import type { Template } from './template.ts';

export type Route =
  | { readonly routing_to: 'primary' | 'read_replicas' | 'default'; readonly value: null }
  | { readonly routing_to: 'connection_set'; readonly value: string };

/** The request as templates know it, `$.request`. Names are in lower case. */
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

/** Returns the router of a template. The template is parsed at its first request, which fails if it is invalid. */
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
