/** The two forms of metadata that clients may write in several ways. The given form is what the document is stored and exported in:
 *  names are qualified, and everything else is as its author wrote it. The normal form is what the engine reads and the operator
 *  compares: one form for each meaning.
 *  READ and EQUIVALENT list the other forms that are read, DEFAULTS the values that are equivalent to a missing key.
 *  In: any JSON. Out: the form; parts of an unknown form are returned as they are. Pure, total, idempotent.
 *  Not here: validation (validate.ts), printing (export.ts). */

import { isRecord, type JsonRecord } from '../json/value.ts';
import { foreignSources } from './foreign-sources.ts';
import { keysAsGiven, keysInOrder } from './key-order.ts';
import { own } from './own.ts';
import { siblingReferences } from './references.ts';
import { Action, ActionDefinition, TypeRelationship } from './schema/action.ts';
import { AllowListEntry } from './schema/collection.ts';
import { QualifiedName, RequestTransform, ResponseTransform } from './schema/common.ts';
import { EventTrigger } from './schema/event.ts';
import { TrackedFunction } from './schema/function.ts';
import {
  ArrayType,
  LogicalModelField,
  LogicalModelReference,
  NestedArrayType,
  ScalarReference,
} from './schema/logical-model.ts';
import { Metadata } from './schema/metadata.ts';
import { NativeQueryArgument } from './schema/native-query.ts';
import { DeleteRule, InsertRule, SelectRule, UpdateRule, ValidateInput } from './schema/permission.ts';
import { ApiLimits, OpenTelemetry } from './schema/policy.ts';
import {
  ForeignKeyOn,
  ObjectRelationshipUsing,
  RemoteRelationshipDefinition,
} from './schema/relationship.ts';
import { RemoteSchema, RemoteSchemaDefinition } from './schema/remote-schema.ts';
import { foreignKindOf, Source, SourceCustomization } from './schema/source.ts';
import { CustomRootFields, Table, TableConfiguration } from './schema/table.ts';
import {
  asJsonSchema,
  type JsonSchema,
  type RewriteRow,
  type Rules,
  rewriting,
  walkSchema,
} from './walk-schema.ts';

/** Forms that the document is not kept in: short and earlier ones, which the reference also exports in the long form. */
const READ: readonly RewriteRow[] = [
  [Source, nameKind],
  [TableConfiguration, renameIdentifier],
  [ObjectRelationshipUsing, listColumns],
  [ForeignKeyOn, foreignKeyOn],
  [ApiLimits, liftDisabled],
  [ActionDefinition, (definition) => asTemplate(definition, 'handler')],
  [ValidateInput.properties.definition, (definition) => asTemplate(definition, 'url')],
];

/** Forms that the document is kept in, and that have the same meaning as another one. */
const EQUIVALENT: readonly RewriteRow[] = [
  ...READ.filter(([schema]) => schema !== TableConfiguration && schema !== ActionDefinition),
  [TableConfiguration, (configuration) => gatherNames(renameIdentifier(configuration))],
  [SourceCustomization, renameConvention],
  [CustomRootFields, shortenRootFields],
  [LogicalModelField, flattenScalar],
  [RemoteRelationshipDefinition, nestRemoteSchema],
  [
    ActionDefinition,
    (definition) => {
      const { kind, ...rest } = asTemplate(definition, 'handler');
      return kind === '' ? rest : { ...rest, kind };
    },
  ],
];

/** Rewrites `FIELD_from_env`, `FIELD_from_value` and `FIELD_from_file` to a template in `FIELD`. More than one of them, or one beside
 *  `FIELD`, is left as it is and refused as an unknown or missing key. */
function asTemplate(fields: JsonRecord, field: string): JsonRecord {
  const [reference, another] = siblingReferences(fields, field);
  if (reference === undefined || another !== undefined || fields[field] !== undefined) return fields;
  const kept = Object.entries(fields).filter(([key]) => !key.startsWith(`${field}_from_`));
  return Object.fromEntries([...kept, [field, `{{${reference}}}`]]);
}

const qualified = [QualifiedName.properties, qualify] as const;

/** The defaults of keys. Not here: keys of a source whose default is an option of the engine (`isolation_level`, `extensions_schema`,
 *  `use_prepared_statements`), because a source that sets the usual value overrides the option. */
export const DEFAULTS: ReadonlyMap<unknown, JsonRecord> = new Map<unknown, JsonRecord>([
  [Table.properties, { is_enum: false }],
  [SelectRule.properties, { allow_aggregations: false }],
  [InsertRule.properties, { backend_only: false }],
  [UpdateRule.properties, { backend_only: false }],
  [DeleteRule.properties, { backend_only: false }],
  [ValidateInput.properties.definition.properties, { forward_client_headers: false, timeout: 10 }],
  [LogicalModelField.properties, { nullable: false }],
  [ScalarReference.properties, { nullable: false }],
  [LogicalModelReference.properties, { nullable: false }],
  [ArrayType.properties, { nullable: false }],
  [NestedArrayType.properties, { nullable: false }],
  [NativeQueryArgument.properties, { nullable: false }],
  [EventTrigger.properties, { trigger_on_replication: false }],
  [EventTrigger.properties.definition.properties, { enable_manual: false }],
  [RemoteSchemaDefinition.properties, { forward_client_headers: false, timeout_seconds: 60 }],
  [
    ActionDefinition.properties,
    { type: 'mutation', kind: 'synchronous', forward_client_headers: false, timeout: 30 },
  ],
  [AllowListEntry.properties, { scope: { global: true } }],
  [ApiLimits.properties, { disabled: false }],
  [RequestTransform.properties, { version: 1, template_engine: 'Kriti' }],
  [ResponseTransform.properties, { version: 1, template_engine: 'Kriti' }],
  [TypeRelationship.properties, { source: 'default' }],
  [OpenTelemetry.properties.exporter_otlp.properties, { protocol: 'http/protobuf' }],
]);

const NORMAL: Rules = {
  before: new Map([...rewriting(EQUIVALENT), qualified]),
  defaults: DEFAULTS,
  cache: {
    of: new Set([Source, Table, TrackedFunction, RemoteSchema, Action].map(({ properties }) => properties)),
    results: new WeakMap(),
  },
};

/** The given form keeps what has the same meaning as a missing key, and the order of keys. */
export const GIVEN: Rules = {
  cache: { of: new Set([Table.properties]), results: new WeakMap() },
  before: new Map([...rewriting(READ), qualified]),
  keepsEmpty: true,
  order: keysAsGiven,
  isKept: (properties, value) => properties === Source.properties && foreignKindOf(value) !== undefined,
  keys: new Map([
    [
      RemoteRelationshipDefinition.properties,
      ['remote_schema', 'hasura_fields', 'lhs_fields', 'remote_field'],
    ],
  ]),
};

/** Returns the value in normal form. Values that are equivalent have equal normal forms. */
export function toNormalForm(schema: JsonSchema, value: unknown): unknown {
  return walkSchema(schema, value, NORMAL);
}

/** Returns the value as its author wrote it, in the forms and with the keys of the model: defaults, nulls, empty lists and the order of
 *  keys are kept. */
export function toGivenForm(schema: JsonSchema, value: unknown): unknown {
  return walkSchema(schema, value, GIVEN);
}

const { cache: _, ...WITHOUT_CACHE } = GIVEN;
const ARRANGED: Rules = { ...WITHOUT_CACHE, order: keysInOrder };

/** Returns the given form with keys in the order of the reference: arguments of operations have no order of their own. */
export function toArrangedForm(schema: JsonSchema, value: unknown): unknown {
  return walkSchema(schema, value, ARRANGED);
}

const METADATA = asJsonSchema(Metadata);

/** Returns a document as the engine reads it: in normal form, without the sources that it cannot serve. Unchanged objects of an edited document
 *  keep their identity. */
export function normalMetadata(document: Metadata): Metadata {
  const known = documents.get(document);
  if (known || !isRecord(document)) return known ?? document;
  const isForeign = foreignSources(document).length > 0;
  const sources = isForeign
    ? document.sources.filter((source) => !isRecord(source) || !foreignKindOf(source))
    : document.sources;
  const normal = toNormalForm(METADATA, isForeign ? { ...document, sources } : document) as Metadata;
  documents.set(document, normal).set(normal, normal);
  return normal;
}

const documents = new WeakMap<Metadata, Metadata>();

/** Adds the schema `public` to a bare name. */
function qualify(value: unknown): unknown {
  if (typeof value === 'string') return { name: value, schema: 'public' };
  if (!isRecord(value)) return value;
  return { ...value, schema: value['schema'] ?? 'public' };
}

/** Rewrites kind `pg`, or none, to `postgres`. */
function nameKind(source: JsonRecord): JsonRecord {
  const { name, kind } = source;
  if (kind === undefined) return { ...(name === undefined ? {} : { name }), kind: 'postgres', ...source };
  return kind === 'pg' ? { ...source, kind: 'postgres' } : source;
}

/** Rewrites an earlier public name of the default naming convention. */
function renameConvention(customization: JsonRecord): JsonRecord {
  const isEarlier = customization['naming_convention'] === 'hasura-default';
  return isEarlier ? { ...customization, naming_convention: 'default' } : customization;
}

/** Rewrites `identifier` to `custom_name`. */
function renameIdentifier(configuration: JsonRecord): JsonRecord {
  const { identifier, ...rest } = configuration;
  const custom_name = rest['custom_name'] ?? identifier;
  return identifier === undefined ? configuration : { ...rest, custom_name };
}

/** Rewrites `custom_column_names` to `column_config`, which has priority. */
function gatherNames(configuration: JsonRecord): JsonRecord {
  const { custom_column_names: names, ...named } = configuration;
  if (!isRecord(names)) return configuration;
  const columns = isRecord(named['column_config']) ? named['column_config'] : {};
  const short = Object.entries(names).map(([column, name]) => {
    const said = own(columns, column);
    const whole = isRecord(said) ? { custom_name: name, ...dropNull(said) } : (said ?? { custom_name: name });
    return [column, whole];
  });
  return { ...named, column_config: { ...columns, ...Object.fromEntries(short) } };
}

/** Rewrites `{name}` without a comment to the name. */
function shortenRootFields(fields: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(fields).map(([kind, field]) => {
      if (!isRecord(field) || (field['comment'] ?? null) !== null) return [kind, field];
      return [kind, field['name'] ?? null];
    }),
  );
}

function listColumns(using: JsonRecord): JsonRecord {
  const on = using['foreign_key_constraint_on'];
  return typeof on === 'string' ? { ...using, foreign_key_constraint_on: [on] } : using;
}

/** Rewrites the flat form of a relationship to a remote schema, and an earlier public name of its list of fields. */
function nestRemoteSchema(definition: JsonRecord): JsonRecord {
  const { remote_schema, hasura_fields, lhs_fields, remote_field, ...rest } = definition;
  const nested = rest['to_remote_schema'];
  if (remote_schema !== undefined) {
    return {
      ...rest,
      to_remote_schema: { remote_schema, lhs_fields: lhs_fields ?? hasura_fields, remote_field },
    };
  }
  if (!isRecord(nested) || !('hasura_fields' in nested)) return definition;
  const { hasura_fields: earlier, ...kept } = nested;
  return { ...rest, to_remote_schema: { ...kept, lhs_fields: nested['lhs_fields'] ?? earlier } };
}

/** Rewrites `{type: {scalar, nullable}}` to `{type, nullable}`. */
function flattenScalar({ type, ...field }: JsonRecord): JsonRecord {
  if (!isRecord(type) || typeof type['scalar'] !== 'string') return { ...field, type };
  return { ...field, type: type['scalar'], nullable: type['nullable'] ?? field['nullable'] ?? false };
}

/** Moves `disabled` from a single limit to all limits. */
function liftDisabled(limits: JsonRecord): JsonRecord {
  const inner = Object.values(limits).find((limit) => isRecord(limit) && limit['disabled'] !== undefined);
  if (limits['disabled'] !== undefined || !isRecord(inner)) return limits;
  return { ...limits, disabled: inner['disabled'] };
}

function dropNull(record: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
}

/** Rewrites `column`, or a bare column under `columns`, to a list of one. */
function foreignKeyOn(on: JsonRecord): JsonRecord {
  const { column, columns } = on;
  const given = column ?? columns;
  const listed = typeof given === 'string' ? [given] : given;
  return Object.fromEntries(
    Object.entries(on).flatMap(([key, value]) => {
      if (key !== 'column' && key !== 'columns') return [[key, value]];
      return given === undefined || (key === 'columns' && column !== undefined) ? [] : [['columns', listed]];
    }),
  );
}
