/** How the document and the operator's state lie in the metadata database: full copies as of some versions (pergola.whole), and what
 *  each version changed (pergola.change). The document at a version is the latest full copy up to it with the changes after that
 *  copy. A small change of a large document therefore writes and reads little.
 *  In: rows and writes. Out: values and rows. Not here: versions and locking order (store.ts), edits (metadata/edit.ts). ADR 12. */
import type { ClientBase } from 'pg';
import { parseJson } from '../json/parse-json.ts';
import { separateDamaged, stillDamaged, withDamaged } from '../metadata/damaged.ts';
import { type Edit, editObjects } from '../metadata/edit.ts';
import { parseEdits } from '../metadata/parse.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { type MetadataWrite, type StoredDocument, setsOperator } from './document.ts';

/** Compaction is due after this many changes, or when the changes are larger than a quarter of the full copies. */
const MOST_CHANGES = 200;
const LEAST_BYTES = 65_536;

/** Returns SQL for the changes of each version in a range, oldest first, as the text of a JSON list. Each item is a list of edits or
 *  patches, or null if that version wrote a full copy of the part. */
export function changesSql(column: 'edits' | 'operator_patches', after: string, upTo: string): string {
  return `(select coalesce(json_agg(c.${column} order by c.resource_version), '[]')
             from pergola.change c where c.resource_version > ${after} and c.resource_version <= ${upTo})::text`;
}

/** Returns SQL for the latest full copy of a part up to a version. */
export function latestFullCopySql(part: 'document' | 'operator_state', upTo: string): string {
  return `(select w.resource_version, w.content from pergola.whole w where part = '${part}' and w.resource_version <= ${upTo}
            order by w.resource_version desc limit 1)`;
}

/** Applies the edits of several versions, given as `changesSql` returns them. */
export function applyEdits(metadata: Metadata, text: string): Metadata {
  const versions = parseJson(text) as readonly (readonly Edit[])[];
  return versions.reduce(
    (next, edits) => (edits.length > 0 ? editObjects(next, parseEdits(edits)) : next),
    metadata,
  );
}

/** Applies the edits to a stored document of which objects cannot be parsed, and separates those. */
export function separateStored(stored: unknown, text: string): ReturnType<typeof separateDamaged> {
  const { document, damaged } = separateDamaged(stored);
  const edits = (parseJson(text) as readonly (readonly Edit[] | null)[]).flatMap((edits) => edits ?? []);
  if (edits.length === 0) return { document, damaged };
  const edited = new Set(edits.map(({ key }) => key));
  const kept = damaged.filter(({ key }) => !edited.has(key));
  const next = separateDamaged(editObjects(document, edits));
  return { document: next.document, damaged: [...stillDamaged(next.document, kept), ...next.damaged] };
}

export function parsePatches(text: string): readonly unknown[] {
  return (parseJson(text) as readonly (readonly unknown[])[]).flat();
}

/** True when there is a change for each of `versions` versions and none of them wrote a full copy. */
export function isComplete(text: string, versions: number): boolean {
  const all = parseJson(text) as readonly unknown[];
  return all.length === versions && !all.includes(null);
}

/** A write as JSON texts. Each part is either changes (`[]` if it is unchanged) or a full copy; the other text is null. */
type EncodedWrite = {
  readonly edits: string | null;
  readonly document: string | null;
  readonly patches: string | null;
  readonly operatorState: string | null;
};

/** The sizes of the latest full copies in bytes, and the number and bytes of the changes since. */
type StorageSizes = {
  readonly document: number;
  readonly operator: number;
  readonly changes: number;
  readonly bytes: number;
};

/** Locks the row of the document until the end of the transaction, and returns the storage sizes. */
export async function lockDocument(client: ClientBase): Promise<StorageSizes> {
  const found = await client.query(
    `with newest as (select distinct on (part) part, resource_version, bytes
                       from pergola.whole order by part, resource_version desc)
     select (select bytes from newest where part = 'document') as document,
            (select bytes from newest where part = 'operator_state') as operator,
            since.changes, since.bytes
       from pergola.metadata m,
            (select count(*)::int as changes, coalesce(sum(bytes), 0)::int as bytes from pergola.change
              where resource_version > (select min(resource_version) from newest)) since
        for update of m`,
  );
  return found.rows[0];
}

/** Chooses for each part whether its changes or a full copy is written. */
export function encodeWrite(write: MetadataWrite, { document, operator }: StorageSizes): EncodedWrite {
  const { metadata, edits, catalogStates, operatorPatches } = write;
  const state = setsOperator(write) ? () => catalogStates?.operator : undefined;
  const [ofDocument, ofState] = [
    shorterForm(metadata && (() => metadata), edits, document),
    shorterForm(state, operatorPatches, operator),
  ];
  return {
    edits: ofDocument.changes,
    document: ofDocument.whole,
    patches: ofState.changes,
    operatorState: ofState.whole,
  };
}

/** Returns the changes if they are less than half as large as the part was, else a full copy. Computes the full copy only if
 *  it is needed. */
function shorterForm(
  whole: (() => unknown) | undefined,
  changes: readonly unknown[] | undefined,
  bytes: number,
) {
  if (!whole && !changes) return { changes: '[]', whole: null };
  const text = jsonText(changes);
  const isShort = text !== null && (!whole || text.length * 2 < bytes);
  return isShort ? { changes: text, whole: null } : { changes: null, whole: jsonText(whole?.()) };
}

export function jsonText(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** True when enough changes have accumulated that both parts should be compacted. */
export function needsCompaction(before: StorageSizes, { edits, patches }: EncodedWrite): boolean {
  const bytes = before.bytes + (edits?.length ?? 0) + (patches?.length ?? 0);
  return before.changes >= MOST_CHANGES || bytes > LEAST_BYTES + (before.document + before.operator) / 4;
}

/** Writes full copies of both parts as of the document's version. This is correct at any later time, too. */
export async function writeFullCopies(client: ClientBase, stored: StoredDocument): Promise<void> {
  const { document, damaged, catalogStates, versions } = stored;
  await client.query(
    `insert into pergola.whole (part, resource_version, content, bytes)
     select part, $1, content, octet_length(content::text)
       from (values ('document', $2::json), ('operator_state', $3::json)) as parts (part, content)
     on conflict do nothing`,
    [versions.resource, jsonText(withDamaged(document, damaged)), jsonText(catalogStates.operator)],
  );
}

/** Deletes full copies and changes that neither the current document nor a revision needs. The caller holds the row lock. */
export async function prune(client: ClientBase): Promise<void> {
  await client.query(
    `with base as (
       select max(resource_version) filter (where part = 'operator_state') as operator_state,
              max(resource_version) filter (where part = 'document' and resource_version <=
                coalesce((select min(resource_version) from pergola.revision), resource_version)) as document
         from pergola.whole),
     forgotten as (
       delete from pergola.whole using base
        where resource_version < case part when 'document' then base.document else base.operator_state end)
     delete from pergola.change using base where resource_version <= least(base.document, base.operator_state)`,
  );
}
