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
