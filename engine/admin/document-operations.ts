/** Operations on the whole document and on what is stored beside it: export, replace, roll back to a revision, clear, reload,
 *  inconsistencies, and the states of clients. Each changes the draft of a unit of work and returns the answer for after the commit.
 *  Not here: operations on one object (handlers/), SQL (run-sql.ts). Spec: "Endpoints"; docs/reference/behaviour/metadata-api.md. */
import { effectsBetween } from '../change/effects.ts';
import { EngineError, fail, withPath } from '../errors/engine-error.ts';
import { inSlices } from '../limits/slices.ts';
import { withDamaged } from '../metadata/damaged.ts';
import { exportedPart, exportMetadata as printMetadata } from '../metadata/export.ts';
import { parsingDocument } from '../metadata/parse.ts';
import { emptyMetadata, type Metadata } from '../metadata/schema/metadata.ts';
import type { RemoteSchema } from '../metadata/schema/remote-schema.ts';
import { foreignKindOf, type Source } from '../metadata/schema/source.ts';
import type { Steps } from '../metadata/steps.ts';
import type { Inconsistency, Unenforced } from '../resolve/model/inconsistency.ts';
import type { PathOfObject } from '../state/blame.ts';
import {
  allInconsistencies,
  printInconsistencies,
  refuseInconsistencies,
  removeInconsistent,
} from '../state/inconsistencies.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';
import { checkConnections } from '../transform/check-connections.ts';
import { printDistributions } from './distributions.ts';
import { objectChanges } from './object-changes.ts';
import type { AdminRequest, Performer } from './request.ts';
import { type AdminAnswer, SUCCESS } from './request.ts';
import { refuseWarnings } from './warnings.ts';

export const exportMetadata: Performer<'export_metadata'> = (work, _args, request) => {
  const metadata = withDamaged(printMetadata(exportedPart(work.document)), work.damaged);
  if (request.operation.version === 1) return () => metadata;
  return (published) => ({ resource_version: published.resourceVersion, metadata });
};

/** Returns the logical models of a source as an export has them. Raises `sourceNotFound`. */
export const getLogicalModels: Performer<'get_logical_model'> = (work, args) => {
  return exportedList(work, args.source, 'logical_models');
};

/** Returns the native queries of a source as an export has them. Raises `sourceNotFound`. */
export const getNativeQueries: Performer<'get_native_query'> = (work, args) => {
  return exportedList(work, args.source, 'native_queries');
};

function exportedList(
  work: UnitOfWork,
  name: string,
  list: 'logical_models' | 'native_queries',
): AdminAnswer {
  work.requireSource(name);
  const { sources } = printMetadata(work.document) as { readonly sources: readonly Source[] };
  const items = sources.find((source) => source.name === name)?.[list] ?? [];
  return () => items;
}

/** Replaces the document. In version 1 the arguments are the document, in version 2 they wrap it with options. `dry_run` validates it
 *  and stores nothing; `include_keys` adds keys of inconsistent objects and the new version to the answer. */
export const replaceMetadata: Performer<'replace_metadata'> = async (work, args, request) => {
  const isWrapped = request.operation.version === 2;
  const options: ReplaceOptions = isWrapped ? (args as ReplaceOptions) : {};
  const document = isWrapped ? (args as { metadata: unknown }).metadata : args;
  const parsed = await inSlices(readDocument(document, work.document, isWrapped));
  const next = keepConnection(parsed, document, work.document);
  const whole = keepUnexported(next, work.document);
  if (!options.dry_run) work.dropDamaged();
  const answer = await replaceDocument(work, whole, options, request);
  // Replacing the document with an equal one creates a new version, too.
  if (!options.dry_run) work.touchesResource = true;
  return isWrapped ? answer : SUCCESS;
};

function* readDocument(document: unknown, known: Metadata, isWrapped: boolean): Steps<Metadata> {
  try {
    const parsed = yield* parsingDocument(document, 'client', known);
    withPath('sources', () => parsed.sources.forEach(checkSource));
    return parsed;
  } catch (error) {
    throw isWrapped && error instanceof EngineError ? error.at('metadata') : error;
  }
}

function checkSource(source: Source, i: number): void {
  if (foreignKindOf(source)) return;
  const { configuration } = source;
  withPath(i, () => withPath('configuration', () => checkConnections(configuration)));
}

/** Replaces the draft with `next` and answers with a report of inconsistencies. Raises `inconsistentMetadata` unless the options allow
 *  that. A dry run only reports. */
export async function replaceDocument(
  work: UnitOfWork,
  next: Metadata,
  options: ReplaceOptions,
  request: AdminRequest,
  pathOf?: PathOfObject,
): Promise<AdminAnswer> {
  const before = work.checkpoint();
  const comparison = await comparisonFrom(work, options);
  work.edit(request.path, next, pathOf);
  const added = await work.addedInconsistencies();
  const { inconsistencies } = await work.resolution();
  const report = { ...(await reportOf(work, options.include_keys === true)), ...(await comparison()) };
  if (options.dry_run) {
    work.restore(before);
    return () => report;
  }
  if (!options.allow_inconsistent_metadata && inconsistencies.length > 0) {
    refuseReplacement(inconsistencies);
  }
  if (options.allow_warnings === false && inconsistencies.length > 0) {
    refuseWarnings(printInconsistencies(inconsistencies, false));
  }
  work.tolerate(added);
  if (!options.include_keys) return () => report;
  return (published) => ({ ...report, resource_version: published.resourceVersion });
}

export const clearMetadata: Performer<'clear_metadata'> = (work, _args, request) => {
  const kept = work.document.sources.find(({ name }) => name === 'default');
  // The connection given with --database-url was not created by the client, so only its tracked objects are removed.
  const sources = kept ? [bareSource(kept)] : [];
  work.dropDamaged();
  work.edit(request.path, { ...emptyMetadata, sources });
  return SUCCESS;
};

/** Raises `sourceNotFound` and `remoteSchemaNotExists` at the list that names one that is missing. */
export const reloadMetadata: Performer<'reload_metadata'> = async (work, args) => {
  const { sources, remote_schemas = [] } = work.metadata;
  const { reload_sources = true, reload_remote_schemas = true, recreate_event_triggers = false } = args;
  const noSource = (source: string) => fail('sourceNotFound', { source });
  const noRemoteSchema = (name: string) => fail('remoteSchemaNotExists', { name });
  const reloaded = withPath('reload_sources', () => chosen(sources, reload_sources, noSource));
  const remotes = withPath('reload_remote_schemas', () =>
    chosen(remote_schemas, reload_remote_schemas, noRemoteSchema),
  );
  const recreated = withPath('recreate_event_triggers', () =>
    chosen(sources, recreate_event_triggers, noSource),
  );
  const hasChanged = args.if_changed
    ? await work.confirm(reloaded, remotes)
    : await readAgain(work, reloaded, remotes);
  for (const { name } of recreated) work.recreatedTriggers.add(name);
  if (hasChanged || recreated.length > 0) {
    work.touchesResource = true;
    work.touchesCatalog = true;
  }
  work.tolerate(await work.addedInconsistencies());
  const report = await reportOf(work, false);
  return () => ({
    is_consistent: report.is_consistent,
    message: 'success',
    ...(report.is_consistent ? {} : { inconsistent_objects: report.inconsistent_objects }),
  });
};

/** Introspects the targets, and returns that all of them count as changed: what was derived from them, such as cached answers, is forgotten. */
async function readAgain(
  work: UnitOfWork,
  sources: readonly Source[],
  remotes: readonly RemoteSchema[],
): Promise<true> {
  await Promise.all([
    ...sources.map((source) => work.introspect(source)),
    ...remotes.map((remote) => work.introspectRemote(remote)),
  ]);
  return true;
}

/** Returns all objects, none, or those that a list names. Calls `refuse` with a name that no object has. */
function chosen<T extends { readonly name: string }>(
  objects: readonly T[],
  wanted: boolean | readonly string[],
  refuse: (name: string) => never,
): readonly T[] {
  if (typeof wanted === 'boolean') return wanted ? objects : [];
  const missing = wanted.find((name) => !objects.some((object) => object.name === name));
  if (missing !== undefined) refuse(missing);
  return objects.filter(({ name }) => wanted.includes(name));
}

export const getInconsistentMetadata: Performer<'get_inconsistent_metadata'> = async (
  work,
  args,
  request,
) => {
  const report = await reportOf(work, args.include_keys === true);
  return () => (request.caller.endpoint === '/v1/query' ? report.inconsistent_objects : report);
};

/** Removes inconsistent objects. Repeats until nothing is inconsistent, because a removed object can make others inconsistent. */
export const dropInconsistentMetadata: Performer<'drop_inconsistent_metadata'> = async (
  work,
  _args,
  request,
) => {
  work.dropDamaged();
  await work.ensureCatalogs();
  for (;;) {
    const { inconsistencies: all } = await work.resolution();
    const inconsistencies = all.filter(({ entity, isServed }) => !entity && !isServed);
    if (inconsistencies.length === 0) return SUCCESS;
    const without = removeInconsistent(work.document, inconsistencies);
    if (without === work.document) refuseInconsistencies(inconsistencies);
    work.edit(request.path, without);
  }
};

export const getCatalogState: Performer<'get_catalog_state'> = (work, { type }) => {
  const { cli, console, operator } = work.catalogStates;
  const states = { cli_state: cli, console_state: console, operator_state: operator };
  const { id } = work.base;
  if (type === undefined) return () => ({ id, ...states });
  const name = `${type}_state` as const;
  return () => ({ id, [name]: states[name] });
};

export const setCatalogState: Performer<'set_catalog_state'> = (work, args) => {
  work.setCatalogState(args.type, args.state);
  return SUCCESS;
};

export const patchCatalogState: Performer<'patch_catalog_state'> = (work, { type, patch }) => {
  work.patchCatalogState(type, patch);
  return SUCCESS;
};

export type ReplaceOptions = {
  readonly allow_inconsistent_metadata?: boolean;
  readonly allow_warnings?: boolean;
  readonly dry_run?: boolean;
  readonly include_keys?: boolean;
  readonly include_effects?: boolean;
  readonly include_changes?: boolean;
  /** The edits of a patch. */
  readonly put?: readonly { readonly key: string }[];
  readonly remove?: readonly string[];
};

/** Returns a function that compares the draft with what it is now, as far as the options say. Raises `parseFailed` for a request that is no dry run: a
 *  write does not wait for the comparison. */
export async function comparisonFrom(
  work: UnitOfWork,
  options: ReplaceOptions,
): Promise<() => Promise<object>> {
  const wanted = (['include_effects', 'include_changes'] as const).filter((name) => options[name]);
  const [first] = wanted;
  if (first === undefined) return async () => ({});
  if (!options.dry_run) fail('parseFailed', { text: `${first} needs dry_run: true` }, { path: [first] });
  const served = async () => ({ metadata: work.metadata, model: (await work.resolution()).model });
  const before = await served();
  return async () => ({
    ...(options.include_effects && {
      effects: await effectsBetween(before, await served(), work.gateway.fieldUsage),
    }),
    ...(options.include_changes && (await changesSince(before.metadata, work, options))),
  });
}

async function changesSince(
  before: Metadata,
  work: UnitOfWork,
  { put = [], remove = [] }: ReplaceOptions,
): Promise<object> {
  const named = [...put.map(({ key }) => key), ...remove];
  const found = await objectChanges(before, work.metadata, { ledger: work.catalogStates.operator, named });
  return { resource_version: work.base.versions.resource, ...found };
}

type Report = {
  readonly is_consistent: boolean;
  readonly inconsistent_objects: ReturnType<typeof printInconsistencies>;
  readonly not_enforced?: readonly Unenforced[];
  readonly distributions?: Readonly<Record<string, string>>;
};

/** Reports the inconsistencies of the draft. `includeKeys` adds restrictions that are not enforced, and how the tables of clusters are
 *  distributed. */
export async function reportOf(
  work: UnitOfWork,
  includeKeys: boolean,
  isReported: (found: Inconsistency) => boolean = () => true,
): Promise<Report> {
  const { inconsistencies: all, model } = await work.resolution();
  const found = all.filter(isReported);
  const inconsistencies = allInconsistencies({ damaged: work.damaged, inconsistencies: found });
  const distributions = includeKeys ? printDistributions(model) : {};
  const unenforced = includeKeys ? work.gateway.unenforced(work.metadata) : [];
  return {
    is_consistent: inconsistencies.length === 0,
    inconsistent_objects: printInconsistencies(inconsistencies, includeKeys),
    ...(unenforced.length > 0 ? { not_enforced: unenforced } : {}),
    ...(Object.keys(distributions).length > 0 ? { distributions } : {}),
  };
}

/** Completes a document of an older format, which has tables but no sources: the tables belong to the source `default`, which keeps
 *  its connection. */
function keepConnection(parsed: Metadata, document: unknown, current: Metadata): Metadata {
  const hasSources = typeof document === 'object' && document !== null && 'sources' in document;
  const kept = current.sources.find((source) => source.name === 'default');
  if (hasSources || !kept) return parsed;
  const tracked = parsed.sources.find((source) => source.name === 'default');
  return { ...parsed, sources: [{ ...bareSource(kept), ...pickTracked(tracked) }] };
}

/** Keeps cron triggers that are not part of exports, because the author of the new document cannot know them. */
function keepUnexported(next: Metadata, current: Metadata): Metadata {
  const before = current.cron_triggers ?? [];
  const given = next.cron_triggers ?? [];
  const names = new Set(given.map(({ name }) => name));
  const kept = before.filter((trigger) => !trigger.include_in_metadata && !names.has(trigger.name));
  return kept.length === 0 ? next : { ...next, cron_triggers: [...given, ...kept] };
}

function pickTracked(source: Source | undefined): Partial<Source> {
  if (!source) return {};
  return { tables: source.tables, ...(source.functions ? { functions: source.functions } : {}) };
}

function bareSource(source: Source): Source {
  const { name, kind, configuration, customization } = source;
  return { name, kind, configuration, tables: [], ...(customization ? { customization } : {}) };
}

function refuseReplacement(inconsistencies: readonly Inconsistency[]): never {
  const reasons = inconsistencies.map(({ reason }) => reason).join(', ');
  fail('inconsistentMetadata', { reasons }, { internal: printInconsistencies(inconsistencies, false) });
}

const MOST_LISTED = 1000;

export const listMetadataRevisions: Performer<'list_metadata_revisions'> = async (work, args) => {
  const revisions = await work.gateway.store.revisions(args.limit ?? MOST_LISTED);
  const body = revisions.map(({ resourceVersion, writtenAt, author, client, operations }) => ({
    resource_version: resourceVersion,
    written_at: writtenAt.toISOString(),
    author,
    client,
    operations,
  }));
  return () => body;
};

/** Replaces the document with that of a revision, as a new revision. The operator's ledger is kept. Raises `revisionNotExists` and the
 *  errors of `replace_metadata`. */
export const rollbackMetadata: Performer<'rollback_metadata'> = async (work, args, request) => {
  const document = await work.gateway.store.revision(args.resource_version);
  if (!args.dry_run) work.dropDamaged();
  return replaceDocument(work, document, { ...args, include_keys: false }, request);
};
