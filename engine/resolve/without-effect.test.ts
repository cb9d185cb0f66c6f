import { expect, test } from 'vitest';
import { objectKey } from '../metadata/objects.ts';
import { emptyMetadata, type Metadata } from '../metadata/schema/metadata.ts';
import { unenforcedIn } from './unenforced.ts';

const found = (metadata: Partial<Metadata>) =>
  unenforcedIn({ ...emptyMetadata, ...metadata }, { namingConvention: 'default' } as never);
const keys = (metadata: Partial<Metadata>) => found(metadata).map(({ key }) => key);

function sourceWith(table: object, customization?: object): Partial<Metadata> {
  const source = { name: 'main', kind: 'postgres', configuration: {}, tables: [table], customization };
  return { sources: [source as never] };
}
const table = (name: string, configuration?: object, schema = 'public') => ({
  table: { schema, name },
  ...(configuration ? { configuration } : {}),
});

test.each([
  ['author', table('author'), undefined, true],
  ['a space', table('two words'), undefined, false],
  ['a leading digit', table('2024'), undefined, false],
  ['a leading digit in a schema', table('2024', undefined, 'sales'), undefined, true],
  ['two underscores', table('__secret'), undefined, false],
  ['a custom name', table('two words', { custom_name: 'two_words' }), undefined, true],
  ['a prefix', table('2024'), { type_names: { prefix: 'year_' } }, true],
  ['a custom name that is no name', table('author', { custom_name: 'the author' }), undefined, false],
] as const)('a table whose name has %s', (_, definition, customization, isThere) => {
  const { schema, name } = definition.table;
  expect(keys(sourceWith(definition, customization))).toEqual(
    isThere ? [] : [objectKey('table', 'main', schema, name)],
  );
});

test('the name is judged as the naming convention spells it', () => {
  const words = table('two words');
  const reasons = [undefined, { naming_convention: 'graphql-default' }].map(
    (customization) => found(sourceWith(words, customization))[0]?.reason,
  );
  expect(reasons).toEqual([expect.stringContaining('"two words"'), expect.stringContaining('"Two words"')]);
});

test.each([
  ['http://example.org/x', true],
  ['HTTPS://example.org', true],
  ['http://{{HOST}}/x', true],
  ['{{BASE}}/x', true],
  ['example.org/x', false],
  ['ftp://example.org', false],
  ['ftp://{{HOST}}', false],
  ['http:/{{HOST}}', false],
  ['http://', false],
  ['', false],
])('a webhook at %j', (webhook, canWork) => {
  const metadata: Partial<Metadata> = {
    actions: [{ name: 'a', definition: { handler: webhook, output_type: 'String' } } as never],
    cron_triggers: [{ name: 'c', webhook, schedule: '* * * * *', include_in_metadata: true } as never],
    scheduled_events: [{ name: 's', webhook, schedule_at: '2099-01-01T00:00:00Z' } as never],
    ...sourceWith({ ...table('t'), event_triggers: [{ name: 'e', definition: {}, webhook }] }),
  };
  const all = ['event_trigger/main/public/t/e', 'action/a', 'cron_trigger/c', 'scheduled_event/s'];
  expect(keys(metadata)).toEqual(canWork ? [] : all);
});

test('a URL that is not written here, or that a transform replaces, is not judged', () => {
  const named = {
    name: 'c',
    webhook: { from_env: 'HOOK' },
    schedule: '* * * * *',
    include_in_metadata: true,
  };
  const transform = { version: 2, url: 'http://example.org' };
  const replaced = { handler: 'anything', output_type: 'String', request_transform: transform };
  expect(
    keys({ cron_triggers: [named as never], actions: [{ name: 'a', definition: replaced } as never] }),
  ).toEqual([]);
});

test.each([
  ['0 0 30 2 *', false],
  ['0 0 31 4,6 *', false],
  ['0 0 29 2 *', true],
  ['* * * * *', true],
  ['not a schedule', true],
])('the schedule %j', (schedule, comes) => {
  const cron = { name: 'c', webhook: 'http://example.org', schedule, include_in_metadata: true };
  const trigger = {
    name: 'e',
    definition: {},
    webhook: 'http://example.org',
    cleanup_config: { schedule, clear_older_than: 1 },
  };
  const metadata: Partial<Metadata> = {
    cron_triggers: [cron as never],
    ...sourceWith({ ...table('t'), event_triggers: [trigger] }),
  };
  expect(keys(metadata)).toEqual(comes ? [] : ['event_trigger/main/public/t/e', 'cron_trigger/c']);
});

test('an object with two problems is reported once, with both', () => {
  const cron = { name: 'c', webhook: 'nowhere', schedule: '0 0 30 2 *', include_in_metadata: true };
  expect(found({ cron_triggers: [cron as never] }).map(({ reason }) => reason)).toEqual([
    'the schedule "0 0 30 2 *" has no time at which it is due: correct it; ' +
      'the webhook is no URL that begins with http:// or https://: correct it',
  ]);
});

test.each([
  [{ omit_request_id: false }, ['source/main']],
  [{ omit_request_id: false, disabled: true }, []],
  [{ omit_request_id: true }, []],
  [{ format: 'sqlcommenter' }, []],
])('query tags %j', (query_tags, expected) => {
  const source = { name: 'main', kind: 'postgres', configuration: {}, tables: [], query_tags };
  expect(keys({ sources: [source as never] })).toEqual(expected);
});

test.each([
  [{ analyze_query_variables: true, analyze_response_body: true }, 2],
  [{ analyze_query_variables: false, analyze_response_body: true }, 1],
  [{ analyze_query_variables: false }, 0],
])('options of metrics %j', (metrics_config, problems) => {
  const reasons = found({ metrics_config }).map(({ reason }) => reason.split('; ').length);
  expect(reasons).toEqual(problems > 0 ? [problems] : []);
});

test.each([
  ['x-key', 'a', true],
  ['x-key', 'a\tb é', true],
  ['x-key', undefined, true],
  ['x key', 'a', false],
  ['x-key:', 'a', false],
  ['x-key', 'a\nb', false],
  ['x-key', 'a\u0000', false],
])('a header %j with the value %j', (name, value, canWork) => {
  const webhook = 'http://example.org';
  const headers = [
    { name: 'x-good', value: 'a' },
    value === undefined ? { name, value_from_env: 'A' } : { name, value },
  ];
  const metadata: Partial<Metadata> = {
    actions: [{ name: 'a', definition: { handler: webhook, output_type: 'String', headers } } as never],
    cron_triggers: [
      { name: 'c', webhook, schedule: '* * * * *', include_in_metadata: true, headers } as never,
    ],
    scheduled_events: [{ name: 's', webhook, schedule_at: '2099-01-01T00:00:00Z', headers } as never],
    ...sourceWith({ ...table('t'), event_triggers: [{ name: 'e', definition: {}, webhook, headers }] }),
  };
  const all = ['event_trigger/main/public/t/e', 'action/a', 'cron_trigger/c', 'scheduled_event/s'];
  expect(keys(metadata)).toEqual(canWork ? [] : all);
  for (const { reason } of found(metadata)) expect(reason).toContain(JSON.stringify(name));
});

/** Metadata in which each kind of webhook with a transform has this one. */
function withTransform(request_transform: object): Partial<Metadata> {
  const webhook = 'http://example.org';
  const action = { handler: webhook, output_type: 'String', request_transform };
  const cron = { name: 'c', webhook, schedule: '* * * * *', include_in_metadata: true, request_transform };
  const event = { name: 's', webhook, schedule_at: '2099-01-01T00:00:00Z', request_transform };
  const trigger = { name: 'e', definition: {}, webhook, request_transform };
  return {
    actions: [{ name: 'a', definition: action } as never],
    cron_triggers: [cron as never],
    scheduled_events: [event as never],
    ...sourceWith({ ...table('t'), event_triggers: [trigger] }),
  };
}

test.each([
  [{ method: 'GET' }, null],
  [{ method: 'patch' }, null],
  [{ method: 'GE T' }, 'no request can have the method "GE T"'],
  [{ request_headers: { add_headers: { 'x-key': '{{$body.input.a}}' } } }, null],
  [{ request_headers: { add_headers: { 'x key': 'a' } } }, 'no request can have the header "x key"'],
])('a transform %j', (transform, problem) => {
  const reasons = found(withTransform(transform)).map(({ reason }) => reason);
  expect(reasons).toEqual(problem === null ? [] : Array(4).fill(expect.stringContaining(problem)));
});

test.each([
  [{ url: 'http://example.org' }, null],
  [{ url: '{{BASE}}/check' }, null],
  [{ url: 'not a url' }, 'the webhook is no URL'],
  [{ url: 'http://example.org', headers: [{ name: 'x key', value: 'a' }] }, 'the header "x key"'],
])('the validation of input by %j', (definition, problem) => {
  const permission = { filter: {}, check: {}, columns: [], validate_input: { type: 'http', definition } };
  const permissions = [{ role: 'editor', permission }];
  const validated = {
    ...table('t'),
    insert_permissions: permissions,
    update_permissions: permissions,
    delete_permissions: permissions,
  };
  const reported = found(sourceWith(validated));
  const all = ['insert', 'update', 'delete'].map((name) => `${name}_permission/main/public/t/editor`);
  expect(reported.map(({ key }) => key)).toEqual(problem === null ? [] : all);
  for (const { reason } of reported) expect(reason).toContain(problem);
});

test('the value of a header that cannot be sent is not in the message', () => {
  const headers = [{ name: 'authorization', value: 'secret\n' }];
  const action = { name: 'a', definition: { handler: 'http://example.org', output_type: 'String', headers } };
  const [{ reason } = { reason: '' }] = found({ actions: [action as never] });
  expect(reason).toContain('the value has a character that HTTP forbids');
  expect(reason).not.toContain('secret');
});

const OPEN = '{{ $body.input';
const UNPARSED: readonly (readonly [string, object])[] = [
  ['request_transform.url', { request_transform: { url: OPEN } }],
  ['request_transform.body', { request_transform: { body: OPEN } }],
  ['request_transform.body', { request_transform: { body: { action: 'transform', template: OPEN } } }],
  [
    'request_transform.body',
    { request_transform: { body: { action: 'x_www_form_urlencoded', form_template: { a: OPEN } } } },
  ],
  ['request_transform.query_params', { request_transform: { query_params: OPEN } }],
  ['request_transform.query_params', { request_transform: { query_params: { a: OPEN } } }],
  [
    'request_transform.request_headers.add_headers',
    { request_transform: { request_headers: { add_headers: { a: OPEN } } } },
  ],
  ['response_transform.body', { response_transform: { body: { action: 'transform', template: OPEN } } }],
];
test.each(UNPARSED)('a template at %s that cannot be parsed: %j', (path, transforms) => {
  const webhook = 'http://example.org';
  const metadata: Partial<Metadata> = {
    actions: [{ name: 'a', definition: { handler: webhook, output_type: 'String', ...transforms } } as never],
    cron_triggers: [
      { name: 'c', webhook, schedule: '* * * * *', include_in_metadata: true, ...transforms } as never,
    ],
    scheduled_events: [{ name: 's', webhook, schedule_at: '2099-01-01T00:00:00Z', ...transforms } as never],
    ...sourceWith({ ...table('t'), event_triggers: [{ name: 'e', definition: {}, webhook, ...transforms }] }),
  };
  const reasons = found(metadata).map(({ reason }) => reason);
  expect(reasons).toHaveLength(4);
  for (const reason of reasons) expect(reason).toContain(`the template ${path} cannot be parsed (`);
});

test('templates that can be parsed are not reported', () => {
  const request_transform = {
    version: 2,
    url: '{{$base_url}}/{{$body.input.id}}',
    body: { action: 'transform', template: '{"id": {{ $body.input.id }}}' },
    query_params: { 'a-{{$body.b}}': '{{$body.c}}', none: null },
    request_headers: { add_headers: { a: 'text' }, remove_headers: ['b'] },
  };
  const definition = { handler: 'http://example.org', output_type: 'String', request_transform };
  expect(keys({ actions: [{ name: 'a', definition } as never] })).toEqual([]);
});

test.each([
  ['http://collector:4318/v1/traces', true],
  ['{{COLLECTOR}}/v1/traces', true],
  ['collector:4318', false],
  ['nowhere', false],
])('a collector at %j', (url, canWork) => {
  for (const signal of ['traces', 'metrics', 'logs']) {
    const exporter_otlp = { [`otlp_${signal}_endpoint`]: url };
    const reasons = found({ opentelemetry: { exporter_otlp } as never }).map(({ reason }) => reason);
    expect(reasons).toEqual(canWork ? [] : [expect.stringContaining(`the endpoint for ${signal} is no URL`)]);
  }
});

const QUERY = 'query ($id: Int!, $limit: Int) { author(limit: $limit, where: {id: {_eq: $id}}) { id } }';
test.each([
  ['author/:id', QUERY, []],
  ['author/:limit', QUERY, []],
  ['author', QUERY, []],
  ['author/:id/books/:limit', QUERY, []],
  ['author/:ID', QUERY, ['every request fails, because the query q does not declare "ID"']],
  ['author/:author-id', QUERY, ['its value has no effect, because the query q does not declare "author-id"']],
  ['author/:a/:b', QUERY, ['declare "a"', 'declare "b"']],
  ['author/:id', '{ author { id } }', ['does not declare "id"']],
  ['author/:a', '{ author', []],
  ['author/:a', undefined, []],
  ['author/:', QUERY, []],
])('the path %s of the query %j', (url, query, expected) => {
  const queries = query === undefined ? [] : [{ name: 'q', query }];
  const metadata: Partial<Metadata> = {
    query_collections: [{ name: 'stored', definition: { queries } }],
    rest_endpoints: [
      {
        name: 'e',
        url,
        methods: ['GET'],
        definition: { query: { collection_name: 'stored', query_name: 'q' } },
      },
    ],
  };
  const reasons = found(metadata)
    .filter(({ key }) => key === 'rest_endpoint/e')
    .flatMap(({ reason }) => reason.split('; '));
  expect(reasons).toEqual(expected.map((text) => expect.stringContaining(text)));
});
