/** The document as clients receive it: as it was given, with the lists sorted that the reference sorts.
 *  `parseMetadata(exportMetadata(m))` is `canonicalMetadata(m)`. Pure.
 *  Not here: normal form (normal-form.ts). Spec: "export_metadata"; order: docs/reference/behaviour/metadata.md. */

import type { JsonRecord } from '../json/value.ts';
import { GIVEN, toNormalForm } from './normal-form.ts';
import { childKinds, OBJECTS, type ObjectKind, type ObjectRow } from './objects.ts';
import { Metadata } from './schema/metadata.ts';
import { ForeignKeyOn, ObjectRelationshipUsing } from './schema/relationship.ts';
import { asJsonSchema, type Rules, rewriting, walkSchema } from './walk-schema.ts';

const { before: _, cache: __, ...UNCHANGED } = GIVEN;

const PRINTED: Rules = {
  ...UNCHANGED,
  after: rewriting([
    [ObjectRelationshipUsing, unlistColumn],
    [ForeignKeyOn, unlistForeignColumn],
  ]),
};

/** Returns the document for `export_metadata`. */
export function exportMetadata(metadata: Metadata): JsonRecord {
  return walkSchema(asJsonSchema(Metadata), sortMetadata(metadata), PRINTED) as JsonRecord;
}

/** Returns the part of the document to export, without cron triggers that are excluded (`include_in_metadata`). */
export function exportedPart(metadata: Metadata): Metadata {
  const { cron_triggers: triggers, ...rest } = metadata;
  const exported = triggers?.filter(({ include_in_metadata: isIncluded }) => isIncluded) ?? [];
  if (exported.length === (triggers?.length ?? 0)) return metadata;
  return exported.length > 0 ? { ...rest, cron_triggers: exported } : rest;
}

/** Returns the document in normal form and sorted, so that equivalent documents have equal texts. */
export function canonicalMetadata(metadata: Metadata): Metadata {
  return toNormalForm(asJsonSchema(Metadata), sortMetadata(metadata)) as Metadata;
}

/** Sorts the objects of the kinds that have an order (OBJECTS) inside their owner. Others keep the order in which they were given. */
function sortMetadata(metadata: Metadata): Metadata {
  return sortNested(metadata, null) as Metadata;
}

function sortNested(fragment: JsonRecord, kind: ObjectKind | null): JsonRecord {
  return childKinds(kind).reduce((made, child) => {
    const { location, order }: ObjectRow = OBJECTS[child];
    const items = location.read(made);
    const nested = items.map((item) => sortNested(item, child));
    const sorted = order ? nested.toSorted((a, b) => compareKeys(order(a), order(b))) : nested;
    return sorted.every((item, i) => item === items[i]) ? made : location.write(made, sorted);
  }, fragment);
}

/** Compares texts by code units, which does not depend on the locale. */
function compareKeys(a: readonly string[], b: readonly string[]): number {
  const i = a.findIndex((segment, index) => segment !== b[index]);
  if (i < 0) return 0;
  return (a[i] ?? '') < (b[i] ?? '') ? -1 : 1;
}

function unlistColumn(using: JsonRecord): JsonRecord {
  const on = using['foreign_key_constraint_on'];
  return Array.isArray(on) && on.length === 1 ? { ...using, foreign_key_constraint_on: on[0] } : using;
}

function unlistForeignColumn(on: JsonRecord): JsonRecord {
  const { columns } = on;
  if (!Array.isArray(columns) || columns.length !== 1) return on;
  return Object.fromEntries(
    Object.entries(on).map(([key, value]) => (key === 'columns' ? ['column', columns[0]] : [key, value])),
  );
}
