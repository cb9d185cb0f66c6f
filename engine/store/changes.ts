/** The document and the operator's state as the database holds them: whole as of some version (pergola.whole), and what each
 *  version since has changed (pergola.change). What is current is the newest whole with the changes after it; what was, the
 *  newest whole of then with the changes up to then. So a small change of a large document writes and reads little.
 *  In: rows and drafts. Out: values and rows. Not here: versions and who may write (store.ts), edits (metadata/edit.ts). ADR 12. */
import type { ClientBase } from 'pg';
import { parseJson } from '../json/parse-json.ts';
import { type Edit, editObjects } from '../metadata/edit.ts';
import { parseEdits } from '../metadata/parse.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Draft, StoredDocument } from './store.ts';

/** Both parts are written whole again when so many versions have changed them since, or as much as a quarter of them. */
const MOST_CHANGES = 200;
const LEAST_BYTES = 65_536;

/** SQL of what each version has changed, oldest first, as text of a list: of lists of edits or of patches, and null where the
 *  part was written whole. */
export function changed(column: 'edits' | 'operator_patches', after: string, upTo: string): string {
  return `(select coalesce(json_agg(c.${column} order by c.resource_version), '[]')
             from pergola.change c where c.resource_version > ${after} and c.resource_version <= ${upTo})::text`;
}

/** SQL of the newest row of a part, up to a version. */
export function newestWhole(part: 'document' | 'operator_state', upTo: string): string {
  return `(select w.resource_version, w.content from pergola.whole w where part = '${part}' and w.resource_version <= ${upTo}
            order by w.resource_version desc limit 1)`;
}

export function withEdits(metadata: Metadata, text: string): Metadata {
  const versions = parseJson(text) as readonly (readonly Edit[])[];
  return versions.reduce(
    (made, edits) => (edits.length > 0 ? editObjects(made, parseEdits(edits)) : made),
    metadata,
  );
}

export function parsePatches(text: string): readonly unknown[] {
  return (parseJson(text) as readonly (readonly unknown[])[]).flat();
}

/** Is there a change for each of so many versions, and none that wrote the part whole? */
export function isComplete(text: string, versions: number): boolean {
  const all = parseJson(text) as readonly unknown[];
  return all.length === versions && !all.includes(null);
}

/** What is stored of a draft, as JSON: each part as what changes it, `[]` for what stays, or whole. */
export type Written = {
  readonly edits: string | null;
  readonly document: string | null;
  readonly patches: string | null;
  readonly operatorState: string | null;
};

/** How large both parts were when they were last written whole, and what has gathered since. */
export type Gathered = {
  readonly document: number;
  readonly operator: number;
  readonly changes: number;
  readonly bytes: number;
};

/** Holds the row of the document until the end of the transaction. */
export async function lockDocument(client: ClientBase): Promise<Gathered> {
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

/** How a part is written: what changes it, or whole. */
export function written(draft: Draft, { document, operator }: Gathered): Written {
  const { metadata, edits, catalogStates, operatorPatches } = draft;
  const state = setsOperator(draft) ? () => catalogStates?.operator : undefined;
  const [ofDocument, ofState] = [
    shorter(metadata && (() => metadata), edits, document),
    shorter(state, operatorPatches, operator),
  ];
  return {
    edits: ofDocument.changes,
    document: ofDocument.whole,
    patches: ofState.changes,
    operatorState: ofState.whole,
  };
}

/** What is changed by about as much as there is of it, is written whole; else nobody asks for the whole. */
function shorter(whole: (() => unknown) | undefined, changes: readonly unknown[] | undefined, bytes: number) {
  if (!whole && !changes) return { changes: '[]', whole: null };
  const text = textOf(changes);
  const isShort = text !== null && (!whole || text.length * 2 < bytes);
  return isShort ? { changes: text, whole: null } : { changes: null, whole: textOf(whole?.()) };
}

/** Without reading it. */
export function setsOperator({ catalogStates }: Draft): boolean {
  return catalogStates !== undefined && Object.hasOwn(catalogStates, 'operator');
}

export function textOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** Has so much gathered that both parts had better be written whole? */
export function isOverdue(before: Gathered, { edits, patches }: Written): boolean {
  const bytes = before.bytes + (edits?.length ?? 0) + (patches?.length ?? 0);
  return before.changes >= MOST_CHANGES || bytes > LEAST_BYTES + (before.document + before.operator) / 4;
}

/** The parts whole as of their version: true of it whenever this is done, and whatever has been written since. */
export async function writeWhole(client: ClientBase, document: StoredDocument): Promise<void> {
  const { metadata, catalogStates, versions } = document;
  await client.query(
    `insert into pergola.whole (part, resource_version, content, bytes)
     select part, $1, content, octet_length(content::text)
       from (values ('document', $2::json), ('operator_state', $3::json)) as parts (part, content)
     on conflict do nothing`,
    [versions.resource, textOf(metadata), textOf(catalogStates.operator)],
  );
}

/** Forgets what neither the current document nor a revision needs. Whoever does it holds the row. */
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
