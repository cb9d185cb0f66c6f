/** Tests which field of a resource a message names, and that the field exists. */
import { isRecord, type PathStep, parseKey } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { examples } from '../../testing/examples.ts';
import { type CustomResource, kindOf } from '../kinds.ts';
import { permission, resource, table } from '../testing/resources.ts';
import { fieldIn } from './field.ts';

const byTable = table('book', {
  spec: {
    objectRelationships: [{ name: 'author', foreignKey: { columns: ['author_id'] } }],
    computedFields: [{ name: 'age', function: 'age' }],
    permissions: [
      { role: 'other', delete: { filter: {} } },
      { role: 'reader', select: { columns: ['title'], filter: { title: { _gt_lt: 1 } } } },
    ],
  },
});
const bundle = resource('MetadataBundle', 'all', {
  objects: [{ key: 'table/default/public/x', definition: { table: 'x' } }],
});
const ACTION = { sdl: 'type Query { a: Int }', handler: { env: 'A' }, headers: [{ name: 'x', env: 'A' }] };
const source = resource('Source', 'far', { name: 'far', connection: { url: { env: 'FAR' } } });

test.each<[string, CustomResource, string, readonly PathStep[], string]>([
  [
    'a part of a permission, by its name in the spec',
    permission('p', 'book', 'reader'),
    'select_permission/default/public/book/reader',
    ['permission', 'computed_fields', 0],
    ' at spec.select.computedFields[0]',
  ],
  [
    'a part of a filter, by its own path',
    byTable,
    'select_permission/default/public/book/reader',
    ['permission', 'filter', '_and', 0, 'first_name', 'a b'],
    ' at spec.permissions[1].select.filter._and[0].first_name["a b"]',
  ],
  [
    'headers of an input validation, which are nested deeply',
    permission('p', 'book', 'reader'),
    'insert_permission/default/public/book/reader',
    ['permission', 'validate_input', 'definition', 'headers', 1],
    ' at spec.insert.validateInput.headers[1]',
  ],
  [
    'a whole item of a list',
    byTable,
    'object_relationship/default/public/book/author',
    [],
    ' at spec.objectRelationships[0]',
  ],
  [
    'a part of an item that has no path of its own',
    byTable,
    'computed_field/default/public/book/age',
    [],
    ' at spec.computedFields[0]',
  ],
  ['no field for an error of the whole resource', byTable, 'table/default/public/book', [], ''],
  [
    'a certificate of a connection',
    source,
    'source/far',
    ['configuration', 'connection_info', 'ssl_configuration', 'sslrootcert'],
    ' at spec.connection.tls.rootCertificate',
  ],
  [
    'a definition in a bundle, by its path in the metadata',
    bundle,
    'table/default/public/x',
    ['configuration', 'custom_name'],
    ' at spec.objects[0].definition.configuration.custom_name',
  ],
  [
    'the URL of an action',
    resource('Action', 'a', ACTION),
    'action/a',
    ['definition', 'handler'],
    ' at spec.handler',
  ],
  [
    'the value of a header of an action, from a variable',
    resource('Action', 'a', ACTION),
    'action/a',
    ['definition', 'headers', 0, 'value_from_env'],
    ' at spec.headers[0]',
  ],
  [
    'the URL of a remote schema, from a variable',
    resource('RemoteSchema', 'r', { name: 'r', url: { env: 'A' } }),
    'remote_schema/r',
    ['definition', 'url_from_env'],
    ' at spec.url',
  ],
  [
    'the URL of an event trigger, from a variable',
    resource('EventTrigger', 't', { name: 't', table: 'a', webhook: { env: 'A' } }),
    'event_trigger/default/public/a/t',
    ['webhook_from_env'],
    ' at spec.webhook',
  ],
  [
    'a field of an event trigger with another name in the metadata',
    resource('EventTrigger', 't', { name: 't', table: 'a', webhook: { env: 'A' } }),
    'event_trigger/default/public/a/t',
    ['cleanup_config', 'timeout'],
    ' at spec.cleanup.timeoutSeconds',
  ],
  [
    'a column of a table, by its position in the list',
    table('book', { spec: { configuration: { columns: [{ name: 'a' }, { name: 'b', customName: 'c' }] } } }),
    'table/default/public/book',
    ['configuration', 'column_config', 'b', 'custom_name'],
    ' at spec.configuration.columns[1].customName',
  ],
  [
    'the value of a header of a cron trigger',
    resource('CronTrigger', 'c', { name: 'c', headers: [{ name: 'a', value: '{{A}}' }] }),
    'cron_trigger/c',
    ['headers', 0, 'value'],
    ' at spec.headers[0]',
  ],
  [
    'the URL of a collector',
    resource('EngineSettings', 's', { openTelemetry: { metrics: { env: 'A' } } }),
    'opentelemetry',
    ['exporter_otlp', 'otlp_metrics_endpoint'],
    ' at spec.openTelemetry.metrics',
  ],
  [
    'the path in the metadata for an object without a field in the resource',
    bundle,
    'select_permission/default/public/x/r',
    ['permission', 'filter'],
    ' at permission.filter',
  ],
])('a message names the field of the resource: %s', (_, cr, key, path, field) => {
  expect(fieldIn(cr, { key, kind: parseKey(key)!.kind }, path)).toBe(field);
});

test('every path in an object of an example is one of a field that the schema has', () => {
  const found = examples().flatMap((example) => {
    const row = kindOf(example.kind);
    const objects = row?.translate(example.spec, { valueFrom: () => '{}' }) ?? [];
    return objects.flatMap((object) =>
      pathsIn(object.definition).flatMap((path) => {
        const field = row!.fieldAt(example.spec, object, path);
        return field === undefined ? [] : [[field, schemaAt(row!.spec, field)] as const];
      }),
    );
  });
  expect(found.filter(([, schema]) => schema === undefined)).toEqual([]);
  expect(found.length).toBeGreaterThan(250);
});

/** Returns the paths of all values in a value. */
function pathsIn(value: unknown, path: readonly PathStep[] = []): readonly (readonly PathStep[])[] {
  const entries = Array.isArray(value) ? [...value.entries()] : isRecord(value) ? Object.entries(value) : [];
  return [path, ...entries.flatMap(([key, inner]) => pathsIn(inner, [...path, key]))];
}

type Schema = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
};

/** Returns the schema at a path such as `spec.permissions[0].select` of the schema of a spec; undefined when there is none. */
function schemaAt(spec: Schema, at: string): Schema | undefined {
  return at
    .split(/[.[\]]+/)
    .slice(1)
    .filter((step) => step !== '')
    .reduce<Schema | undefined>((schema, step) => schema && fieldOf(schema, step), spec);
}

/** Returns the schema of a field or an item; the schema itself for a value with any fields. */
function fieldOf(schema: Schema, step: string): Schema | undefined {
  const isOpen = !schema.properties && (schema.type === 'object' || schema.type === undefined);
  if (isOpen) return schema;
  return /^\d+$/.test(step) ? schema.items : schema.properties?.[step];
}
