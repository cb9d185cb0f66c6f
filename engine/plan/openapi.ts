/** The OpenAPI 3.0 description of the REST endpoints for administrators: paths, parameters, bodies, and responses derived from
 *  the selection of each document. Endpoints whose document does not fit the schema are omitted. Pure. Not here: serving it
 *  (http/admin.ts), types of a description (openapi-types.ts). Reference: docs/reference/behaviour/endpoints.md. */

import { EngineError } from '../errors/engine-error.ts';
import type { RestMethod } from '../metadata/schema/collection.ts';
import type { ResolvedEndpoint, Segment } from '../resolve/routes.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import type { Model } from '../resolve/types.ts';
import { type RoleSchema, roleSchema } from '../schema/role-schemas.ts';
import type { PreparedDocument, VariableDefinition } from './context.ts';
import { prepareDocument } from './document.ts';
import { inputType, type OpenapiType, outputType } from './openapi-types.ts';

type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: OpenapiType;
};

type Content = { readonly 'application/json': { readonly schema: OpenapiType } };

type Operation = {
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: {
    readonly 200: { readonly description: string; readonly content: Content };
  };
};

type OpenapiDocument = {
  readonly openapi: '3.0.0';
  readonly info: { readonly title: string; readonly description: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
};

/** Returns the description. `version` is the version of the engine, `headerPrefix` the prefix of its headers: `x-engine-`. */
export function openapiDocument(model: Model, version: string, headerPrefix: string): OpenapiDocument {
  const role = roleSchema(model, ADMIN_ROLE, false);
  const secret: Parameter = {
    name: `${headerPrefix}admin-secret`,
    in: 'header',
    required: false,
    description: 'The secret of administrators; other credentials do as well.',
    schema: { type: 'string' },
  };
  const paths: Record<string, Record<string, Operation>> = {};
  for (const endpoint of model.routes.endpoints) {
    const document = fittingDocument(role, endpoint);
    if (!document) continue;
    const path = `/api/rest/${endpoint.segments.map(printSegment).join('/')}`;
    const operations = endpoint.methods.map((method) => {
      return [method.toLowerCase(), operationOf(endpoint, method, document, secret)] as const;
    });
    paths[path] = { ...paths[path], ...Object.fromEntries(operations) };
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Rest Endpoints', description: 'The REST endpoints of this engine.', version },
    paths,
    components: {},
  };
}

function printSegment(segment: Segment): string {
  return segment.kind === 'variable' ? `{${segment.name}}` : segment.text;
}

function fittingDocument(role: RoleSchema, { query }: ResolvedEndpoint): PreparedDocument | undefined {
  try {
    return prepareDocument(role, query, null);
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}

function operationOf(
  endpoint: ResolvedEndpoint,
  method: RestMethod,
  document: PreparedDocument,
  secret: Parameter,
): Operation {
  const inPath = new Set(
    endpoint.segments.flatMap((segment) => (segment.kind === 'variable' ? [segment.name] : [])),
  );
  const others = [...document.variables.values()].filter(({ name }) => !inPath.has(name));
  const takesBody = method !== 'GET' && method !== 'DELETE' && others.length > 0;
  return {
    summary: endpoint.name,
    description: `${endpoint.comment ?? ''}\n\`\`\`graphql\n${endpoint.query}\n\`\`\``.trimStart(),
    parameters: [
      secret,
      ...[...inPath].map((name) => parameterOf('path', name, document.variables.get(name))),
      ...(takesBody ? [] : others.map((variable) => parameterOf('query', variable.name, variable))),
    ],
    ...(takesBody ? { requestBody: { required: others.some(isRequired), content: bodyOf(others) } } : {}),
    responses: {
      200: {
        description: `What ${method} /api/rest/${endpoint.url} answers`,
        content: { 'application/json': { schema: outputType(document) } },
      },
    },
  };
}

function parameterOf(
  place: 'path' | 'query',
  name: string,
  variable: VariableDefinition | undefined,
): Parameter {
  const required = place === 'path' || (variable !== undefined && isRequired(variable));
  return { name, in: place, required, schema: inputType(variable?.type ?? null) };
}

function bodyOf(variables: readonly VariableDefinition[]): Content {
  const properties = Object.fromEntries(variables.map(({ name, type }) => [name, inputType(type)]));
  const required = variables.filter(isRequired).map(({ name }) => name);
  const schema: OpenapiType = { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
  return { 'application/json': { schema } };
}

function isRequired({ declared, defaultValue }: VariableDefinition): boolean {
  return declared.endsWith('!') && defaultValue === null;
}
