/** The state of `pergola init` between its steps: the metadata so far, and what the engine makes of it. A step adds objects; the engine's
 *  own rules (engine/resolve) judge them, and those that they refuse are left out with the reason. Pure.
 *  Not here: which objects the steps add (tables.ts, relationships.ts, functions.ts, permissions.ts). */
import type { Catalog } from '../../engine/catalog/types.ts';
import { editObjects, type Metadata, type MetadataObject } from '../../engine/metadata/index.ts';
import { Memo } from '../../engine/resolve/memo.ts';
import type { ResolvedSource } from '../../engine/resolve/model/source.ts';
import { resolve } from '../../engine/resolve/resolve.ts';
import type { LeftOut, Selection } from './selection.ts';

export type Wishes = {
  /** The name of the source in the metadata. */
  readonly source: string;
  /** The schemas; empty for all. */
  readonly schemas: readonly string[];
  /** The role that may read everything. */
  readonly role: string | undefined;
  /** The keys of objects that were offered before, and are not offered again. */
  readonly offered: ReadonlySet<string>;
};

export type Draft = {
  readonly wishes: Wishes;
  readonly catalog: Catalog;
  readonly selection: Selection;
  readonly metadata: Metadata;
  readonly source: ResolvedSource;
  readonly added: ReadonlyMap<string, MetadataObject>;
  readonly leftOut: readonly LeftOut[];
  readonly memo: Memo;
};

/** Returns the draft of a folder, and the reasons why objects of the folder do not fit the database, by key. */
export function startDraft(
  catalog: Catalog,
  selection: Selection,
  metadata: Metadata,
  wishes: Wishes,
): { readonly draft: Draft; readonly broken: ReadonlyMap<string, string> } {
  const memo = new Memo();
  const { source, inconsistencies } = judge(metadata, catalog, wishes.source, memo);
  const { leftOut } = selection;
  const added = new Map<string, MetadataObject>();
  return {
    draft: { wishes, catalog, selection, metadata, source, added, leftOut, memo },
    broken: new Map(inconsistencies.map(({ key, reason }) => [key, plainReason(reason)])),
  };
}

/** Adds objects. Those that the engine refuses are left out with the reason. */
export function withAdditions(draft: Draft, objects: readonly MetadataObject[]): Draft {
  if (objects.length === 0) return draft;
  const { refused, ...next } = tryAdditions(draft, objects);
  if (refused.size === 0) return { ...draft, ...next };
  const kept = objects.filter(({ key }) => !refused.has(key));
  const leftOut = objects.flatMap((object) => {
    const why = refused.get(object.key);
    return why === undefined ? [] : [{ what: describeObject(object), why }];
  });
  // What depends on a refused object is refused in the next round.
  return withAdditions({ ...draft, leftOut: [...draft.leftOut, ...leftOut] }, kept);
}

/** Returns the draft with the objects, and the reasons of those that the engine refuses. */
export function tryAdditions(
  draft: Draft,
  objects: readonly MetadataObject[],
): Pick<Draft, 'metadata' | 'source' | 'added'> & { readonly refused: ReadonlyMap<string, string> } {
  const metadata = editObjects(draft.metadata, objects);
  const { source, inconsistencies } = judge(metadata, draft.catalog, draft.wishes.source, draft.memo);
  const own = new Set(objects.map(({ key }) => key));
  const refused = inconsistencies.filter(({ key }) => own.has(key));
  return {
    metadata,
    source,
    added: new Map([...draft.added, ...objects.map((object) => [object.key, object] as const)]),
    refused: new Map(refused.map(({ key, reason }) => [key, plainReason(reason)])),
  };
}

function judge(metadata: Metadata, catalog: Catalog, name: string, memo: Memo) {
  const options = { stringifyNumericTypes: false };
  const { model, inconsistencies } = resolve(metadata, new Map([[name, catalog]]), options, new Map(), memo);
  const source = model.sources.get(name);
  if (!source) throw new Error(inconsistencies[0]?.reason ?? `the folder has no source ${name}`);
  return { source, inconsistencies };
}

function describeObject({ kind, key }: MetadataObject): string {
  const names = key.split('/').slice(2).map(decodeURIComponent);
  return `${kind.replaceAll('_', ' ')} ${names.join('.')}`;
}

function plainReason(reason: string): string {
  return reason.replace(/^Inconsistent object: /, '');
}
