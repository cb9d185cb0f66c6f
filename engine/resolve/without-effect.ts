/** Objects that cannot do what they declare: a table whose name GraphQL forbids, a schedule without a time, a URL, a
 *  method or a header that no request can have, a template that cannot be parsed, an endpoint of a collector that is no URL, a variable in a path that
 *  the query does not declare, settings of the reference engine that this one only keeps.
 *  The engine keeps them, because documents of the reference engine have them, and reports them like restrictions that are not enforced.
 *  In: Metadata × ResolveOptions. Out: one entry per object. Pure, total. Not here: restrictions (unenforced.ts). */
import { Kind, parse } from 'graphql';
import { objectKey } from '../metadata/objects.ts';
import type { Action } from '../metadata/schema/action.ts';
import type { QueryCollection, RestEndpoint } from '../metadata/schema/collection.ts';
import { type Header, printQualified, type RequestTransform } from '../metadata/schema/common.ts';
import type { CronTrigger, DeclaredEvent, EventTrigger } from '../metadata/schema/event.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { MetricsConfig } from '../metadata/schema/policy.ts';
import type { QueryTags, Source, SourceCustomization } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import { templateProblem } from '../transform/check-templates.ts';
import type { Memo } from './memo.ts';
import type { Unenforced } from './model/inconsistency.ts';
import type { ResolveOptions } from './model/options.ts';
import { baseName, isGraphqlName } from './names.ts';
import { type Naming, namingOf, typeName } from './naming.ts';
import { canBeUrl } from './outbound-url.ts';
import { neverComes } from './schedule.ts';

/** The form of methods and of names of headers. RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: HTTP forbids them
const HEADER_VALUE = /^[^\u0000-\u0008\u000a-\u001f\u007f]*$/;
const NO_CUSTOMIZATION: SourceCustomization = {};

export function withoutEffectIn(
  {
    sources,
    actions = [],
    cron_triggers = [],
    scheduled_events = [],
    rest_endpoints = [],
    query_collections = [],
    metrics_config,
    opentelemetry,
  }: Metadata,
  options: ResolveOptions,
  memo: Memo,
): readonly Unenforced[] {
  return [
    ...sources.flatMap((source) => ofSource(source, options, memo)),
    ...actions.flatMap((action) => memo.of(ofAction, action)),
    ...cron_triggers.flatMap((trigger) => memo.of(ofCronTrigger, trigger)),
    ...scheduled_events.flatMap((event) => memo.of(ofScheduledEvent, event)),
    ...rest_endpoints.flatMap((endpoint) =>
      memo.of(ofEndpoint, endpoint, queryOf(endpoint, query_collections)),
    ),
    ...(metrics_config ? memo.of(ofMetricsConfig, metrics_config) : []),
    ...(opentelemetry ? memo.of(ofOpenTelemetry, opentelemetry) : []),
  ];
}

function ofSource(
  { name, tables, customization, query_tags }: Source,
  { namingConvention }: ResolveOptions,
  memo: Memo,
): readonly Unenforced[] {
  const naming = memo.of(namingOf, customization ?? NO_CUSTOMIZATION, namingConvention);
  const ofTables = tables.flatMap((table) => [
    ...memo.of(ofTable, table, name, naming),
    ...memo.of(ofEventTriggers, table, name),
    ...memo.of(ofValidation, table, name),
  ]);
  return query_tags ? [...memo.of(ofQueryTags, query_tags, name), ...ofTables] : ofTables;
}

function ofQueryTags({ disabled, omit_request_id }: QueryTags, source: string): readonly Unenforced[] {
  const wantsRequestId = omit_request_id === false && !disabled;
  return entry(objectKey('source', source), 'source', `source ${source}`, [
    wantsRequestId
      ? 'query_tags.omit_request_id: false has no effect, because statements that differ by request cannot stay prepared: remove it'
      : null,
  ]);
}

function ofMetricsConfig(config: MetricsConfig): readonly Unenforced[] {
  const set = (['analyze_query_variables', 'analyze_response_body'] as const).filter((name) => config[name]);
  return entry(
    objectKey('metrics_config'),
    'metrics_config',
    'metrics_config',
    set.map((name) => `${name} has no effect, because metrics contain no values of requests: remove it`),
  );
}

function ofOpenTelemetry({
  exporter_otlp = {},
}: NonNullable<Metadata['opentelemetry']>): readonly Unenforced[] {
  const endpoints = {
    traces: exporter_otlp.otlp_traces_endpoint,
    metrics: exporter_otlp.otlp_metrics_endpoint,
    logs: exporter_otlp.otlp_logs_endpoint,
  };
  const problems = Object.entries(endpoints).map(([signal, endpoint]) =>
    endpoint === undefined || canBeUrl(endpoint)
      ? null
      : `the endpoint for ${signal} is no URL that begins with http:// or https://: correct it`,
  );
  return entry(objectKey('opentelemetry'), 'opentelemetry', 'opentelemetry', problems);
}

function ofTable({ table, configuration }: Table, source: string, naming: Naming): readonly Unenforced[] {
  const custom = configuration?.custom_name;
  const type = typeName(naming, custom ? { verbatim: custom } : baseName(table));
  if (isGraphqlName(type)) return [];
  const name = `table ${printQualified(table)} in source ${source}`;
  const reason = `the API does not have it, because "${type}" is not a valid GraphQL name: give the table a custom name`;
  return [{ key: objectKey('table', source, table.schema, table.name), type: 'table', name, reason }];
}

function ofEventTriggers({ table, event_triggers = [] }: Table, source: string): readonly Unenforced[] {
  return event_triggers.flatMap((trigger) =>
    entry(
      objectKey('event_trigger', source, table.schema, table.name, trigger.name),
      'event_trigger',
      `event_trigger ${trigger.name} of table ${printQualified(table)} in source ${source}`,
      [
        urlProblem(trigger),
        headerProblem(trigger),
        methodProblem(trigger),
        templateProblem(trigger),
        cleanupProblem(trigger),
      ],
    ),
  );
}

/** Reports webhooks that validate input and cannot be called, so that every mutation of the role fails. */
function ofValidation(table: Table, source: string): readonly Unenforced[] {
  const permissions = [
    ['insert', table.insert_permissions ?? []],
    ['update', table.update_permissions ?? []],
    ['delete', table.delete_permissions ?? []],
  ] as const;
  const { schema, name } = table.table;
  return permissions.flatMap(([operation, list]) =>
    list.flatMap(({ role, permission: { validate_input } }) => {
      if (validate_input === undefined) return [];
      const { url, headers } = validate_input.definition;
      return entry(
        objectKey(`${operation}_permission`, source, schema, name, role),
        `${operation}_permission`,
        `${operation}_permission ${role} of table ${printQualified(table.table)} in source ${source}`,
        [urlProblem({ webhook: url }), headerProblem({ headers })],
      );
    }),
  );
}

function ofAction({ name, definition }: Action): readonly Unenforced[] {
  const { handler, request_transform, response_transform, headers } = definition;
  return entry(objectKey('action', name), 'action', `action ${name}`, [
    urlProblem({ webhook: handler, request_transform }),
    headerProblem({ headers, request_transform }),
    methodProblem({ request_transform }),
    templateProblem({ request_transform, response_transform }),
  ]);
}

function ofCronTrigger(trigger: CronTrigger): readonly Unenforced[] {
  const { name, schedule } = trigger;
  return entry(objectKey('cron_trigger', name), 'cron_trigger', `cron_trigger ${name}`, [
    scheduleProblem('the schedule', schedule),
    urlProblem(trigger),
    headerProblem(trigger),
    methodProblem(trigger),
    templateProblem(trigger),
  ]);
}

function ofScheduledEvent(event: DeclaredEvent): readonly Unenforced[] {
  const { name } = event;
  return entry(objectKey('scheduled_event', name), 'scheduled_event', `scheduled_event ${name}`, [
    urlProblem(event),
    headerProblem(event),
    methodProblem(event),
    templateProblem(event),
  ]);
}

/** Reports variables of the path that the query does not declare. An endpoint without a query, or with one that is not GraphQL, is
 *  inconsistent (rest-endpoint.ts). */
function ofEndpoint(endpoint: RestEndpoint, query: string | undefined): readonly Unenforced[] {
  const { name, url, definition } = endpoint;
  const declared = query === undefined ? null : variablesOf(query);
  if (declared === null) return [];
  const missing = url
    .split('/')
    .flatMap((segment) => (/^:./.test(segment) ? [segment.slice(1)] : []))
    .filter((variable) => !declared.has(variable));
  return entry(
    objectKey('rest_endpoint', name),
    'rest_endpoint',
    `rest_endpoint ${name}`,
    missing.map((variable) => {
      const effect = /^[_A-Za-z]\w*$/.test(variable) ? 'every request fails' : 'its value has no effect';
      return `${effect}, because the query ${definition.query.query_name} does not declare "${variable}", a variable of the path: declare it, or rename the variable`;
    }),
  );
}

function queryOf({ definition }: RestEndpoint, collections: readonly QueryCollection[]): string | undefined {
  const { collection_name, query_name } = definition.query;
  const collection = collections.find(({ name }) => name === collection_name);
  return collection?.definition.queries.find(({ name }) => name === query_name)?.query;
}

/** Returns the names of the variables that the operations of a document declare; null for text that is not GraphQL. */
function variablesOf(text: string): ReadonlySet<string> | null {
  try {
    const { definitions } = parse(text, { noLocation: true, maxTokens: 100_000 });
    const operations = definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
    const declared = operations.flatMap(({ variableDefinitions = [] }) => variableDefinitions);
    return new Set(declared.map(({ variable }) => variable.name.value));
  } catch {
    return null;
  }
}

/** Returns one entry with all problems; nothing when there is none. */
export function entry(
  key: string,
  type: string,
  name: string,
  problems: readonly (string | null)[],
): readonly Unenforced[] {
  const reason = problems.filter((problem) => problem !== null).join('; ');
  return reason === '' ? [] : [{ key, type, name, reason }];
}

function cleanupProblem({ cleanup_config }: EventTrigger): string | null {
  return cleanup_config ? scheduleProblem('the schedule of the cleanup', cleanup_config.schedule) : null;
}

function scheduleProblem(what: string, schedule: string): string | null {
  return neverComes(schedule) ? `${what} "${schedule}" has no time at which it is due: correct it` : null;
}

type Webhook = {
  readonly webhook?: unknown;
  readonly request_transform?: { readonly url?: unknown } | undefined;
};

/** Returns the problem of a URL that no value of a variable can mend. A transform may replace the URL. */
function urlProblem({ webhook, request_transform }: Webhook): string | null {
  if (typeof webhook !== 'string' || request_transform?.url !== undefined) return null;
  return canBeUrl(webhook) ? null : 'the webhook is no URL that begins with http:// or https://: correct it';
}

/** The parts of a webhook's request that HTTP restricts. */
type Sent = {
  readonly headers?: readonly Header[] | undefined;
  readonly request_transform?: RequestTransform | undefined;
};

/** Returns the first header that no HTTP request can have. A value from elsewhere is not judged. RFC 9110, sections 5.1 and 5.5. */
function headerProblem({ headers = [], request_transform }: Sent): string | null {
  // The values are templates, and the engine evaluates them for each request.
  const added = Object.keys(request_transform?.request_headers?.add_headers ?? {}).map((name) => ({ name }));
  const wrong = [...headers, ...added].find(
    (header: Header) => !TOKEN.test(header.name) || !HEADER_VALUE.test(header.value ?? ''),
  );
  if (wrong === undefined) return null;
  const part = TOKEN.test(wrong.name) ? 'the value' : 'the name';
  return `no request can have the header ${JSON.stringify(wrong.name)}, because ${part} has a character that HTTP forbids: correct it`;
}

/** Returns the problem of a method that no HTTP request can have. RFC 9110, section 9.1. */
function methodProblem({ request_transform }: Sent): string | null {
  const method = request_transform?.method;
  return method === undefined || TOKEN.test(method)
    ? null
    : `no request can have the method ${JSON.stringify(method)}: correct it`;
}
