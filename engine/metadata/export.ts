/** The document as clients receive it: sorted, with keys in the order of the schema, in the forms that other tools write.
 *  `parseMetadata(exportMetadata(m))` is `canonicalMetadata(m)`. Pure.
 *  Not here: normal form (normal-form.ts). Spec: "export_metadata"; order: docs/reference/behaviour/metadata.md. */

import { isRecord, type JsonRecord } from '../json/value.ts';
import { toNormalForm } from './normal-form.ts';
import { childKinds, OBJECTS, type ObjectKind } from './objects.ts';
import { Metadata } from './schema/metadata.ts';
import { ForeignKeyOn, ObjectRelationshipUsing } from './schema/relationship.ts';
import { RemoteFieldNames, RemoteTypeNames } from './schema/remote-schema.ts';
import { TableConfiguration } from './schema/table.ts';
import { asJsonSchema, rewriting, walkSchema } from './walk-schema.ts';

const PRINTED = rewriting([
  [TableConfiguration, repeatColumnNames],
  [ObjectRelationshipUsing, unlistColumn],
  [ForeignKeyOn, unlistForeignColumn],
  [RemoteTypeNames, withMapping],
  [RemoteFieldNames, withMapping],
]);

/** Returns the document for `export_metadata`. */
export function exportMetadata(metadata: Metadata): JsonRecord {
  return walkSchema(asJsonSchema(Metadata), sortMetadata(metadata), { after: PRINTED }) as JsonRecord;
}

/** Returns the part of the document to export, without cron triggers that are excluded (`include_in_metadata`). */
export function exportedPart(metadata: Metadata): Metadata {
  const { cron_triggers: triggers, ...rest } = metadata;
  const exported = triggers?.filter(({ include_in_metadata: isIncluded }) => isIncluded) ?? [];
  return exported.length === (triggers?.length ?? 0) ? metadata : { ...rest, cron_triggers: exported };
}

/** Returns the document in normal form and sorted, so that equivalent documents have equal texts. */
export function canonicalMetadata(metadata: Metadata): Metadata {
  return toNormalForm(asJsonSchema(Metadata), sortMetadata(metadata)) as Metadata;
}

/** Sorts objects by name inside their owner. Sources keep their order. */
function sortMetadata(metadata: Metadata): Metadata {
  return sortNested(metadata, null) as Metadata;
}

function sortNested(fragment: JsonRecord, kind: ObjectKind | null): JsonRecord {
  return childKinds(kind).reduce((made, child) => {
    const { location, identity } = OBJECTS[child];
    const items = location.read(made);
    if (items.length === 0) return made;
    const keyed = items.map((item) => ({ key: identity.of(item), item: sortNested(item, child) }));
    const sorted = child === 'source' ? keyed : keyed.toSorted((a, b) => compareKeys(a.key, b.key));
    return location.write(
      made,
      sorted.map(({ item }) => item),
    );
  }, fragment);
}

/** Compares texts by code units, which does not depend on the locale. */
function compareKeys(a: readonly string[], b: readonly string[]): number {
  const i = a.findIndex((segment, index) => segment !== b[index]);
  if (i < 0) return 0;
  return (a[i] ?? '') < (b[i] ?? '') ? -1 : 1;
}

/** Adds column names under the older key, for clients that read it. */
function repeatColumnNames(configuration: JsonRecord): JsonRecord {
  const columns = configuration['column_config'];
  if (!isRecord(columns)) return configuration;
  const names = Object.entries(columns).flatMap(([column, config]) =>
    isRecord(config) && typeof config['custom_name'] === 'string' ? [[column, config['custom_name']]] : [],
  );
  if (names.length === 0) return configuration;
  return { ...configuration, custom_column_names: Object.fromEntries(names) };
}

function unlistColumn(using: JsonRecord): JsonRecord {
  const on = using['foreign_key_constraint_on'];
  return Array.isArray(on) && on.length === 1 ? { foreign_key_constraint_on: on[0] } : using;
}

function unlistForeignColumn({ table, columns }: JsonRecord): JsonRecord {
  return Array.isArray(columns) && columns.length === 1 ? { column: columns[0], table } : { columns, table };
}

/** Adds the mapping that clients expect, even when it is empty. */
function withMapping(names: JsonRecord): JsonRecord {
  return { ...names, mapping: names['mapping'] ?? {} };
}
