/** Operations on the whole document and what lies beside it: export, replace, clear, reload, inconsistencies, the states
 *  clients keep here. Each changes the draft of a unit of work and says what to answer once it is committed.
 *  Not here: operations on one object (handlers/), SQL (run-sql.ts). Spec: "Endpoints"; docs/reference/behaviour/metadata-api.md. */
import { fail, withPath } from '../errors/engine-error.ts';
import { exportedPart, exportMetadata as printMetadata } from '../metadata/export.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import { parseMetadata } from '../metadata/parse.ts';
import { emptyMetadata, type Metadata } from '../metadata/schema/metadata.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Inconsistency } from '../resolve/types.ts';
import type { Unenforced } from '../resolve/unenforced.ts';
import { checkConnections } from '../transform/check-connections.ts';
import { type Answer, SUCCESS } from './answer.ts';
import { printInconsistencies, refuseInconsistencies, removeInconsistent } from './inconsistencies.ts';
import { refuseWarnings } from './managed.ts';
import type { AdminRequest } from './request.ts';
import type { Work } from './work.ts';

export function exportMetadata(work: Work, _args: ArgsOf<'export_metadata'>, request: AdminRequest): Answer {
  const metadata = printMetadata(exportedPart(work.metadata));
  if (request.operation.version === 1) return () => metadata;
  return (published) => ({ resource_version: published.resourceVersion, metadata });
}

/** As they stand in an export. Raises `sourceNotFound`. */
export function getLogicalModels(work: Work, args: ArgsOf<'get_logical_model'>): Answer {
  return exportedList(work, args.source, 'logical_models');
}

/** As they stand in an export. Raises `sourceNotFound`. */
export function getNativeQueries(work: Work, args: ArgsOf<'get_native_query'>): Answer {
  return exportedList(work, args.source, 'native_queries');
}

function exportedList(work: Work, name: string, list: 'logical_models' | 'native_queries'): Answer {
  if (!work.source(name)) fail('sourceNotFound', { source: name });
  const { sources } = printMetadata(work.metadata) as { readonly sources: readonly Source[] };
  const items = sources.find((source) => source.name === name)?.[list] ?? [];
  return () => items;
}

/** Version 1 is the document itself, version 2 wraps it with options. `dry_run` judges it and stores nothing;
 *  `include_keys` adds keys of inconsistent objects and the new version to the answer. */
export async function replaceMetadata(work: Work, args: ReplaceArgs, request: AdminRequest): Promise<Answer> {
  const isWrapped = request.operation.version === 2;
  const options: ReplaceOptions = isWrapped ? (args as ReplaceOptions) : {};
  const document = isWrapped ? (args as { metadata: unknown }).metadata : args;
  const parsed = parseMetadata(document);
  withPath('sources', () => parsed.sources.forEach(checkSource));
  const next = keepConnection(parsed, document, work.metadata);
  const whole = keepUnexported(next, work.metadata);
  const answer = await replaceDocument(work, whole, options, request);
  // A document that replaces its like is a version of its own all the same.
  if (!options.dry_run) work.touchesResource = true;
  return isWrapped ? answer : SUCCESS;
}

function checkSource({ configuration }: Source, i: number): void {
  withPath(i, () => withPath('configuration', () => checkConnections(configuration)));
}

/** Raises `inconsistentMetadata` unless that is allowed. Answers with a report; of a dry run, that is all there is. */
export async function replaceDocument(
  work: Work,
  next: Metadata,
  options: ReplaceOptions,
  request: AdminRequest,
): Promise<Answer> {
  const before = work.checkpoint();
  work.edit(request.path, next);
  const added = await work.settle();
  const { inconsistencies } = work.view();
  const report = reportOf(work, options.include_keys === true);
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

export function clearMetadata(work: Work, _args: ArgsOf<'clear_metadata'>, request: AdminRequest): Answer {
  const kept = work.source('default');
  // The connection given with --database-url is not metadata of the client's making: only what is tracked goes.
  const sources = kept ? [bareSource(kept)] : [];
  work.edit(request.path, { ...emptyMetadata, sources });
  return SUCCESS;
}

export async function reloadMetadata(work: Work, args: ArgsOf<'reload_metadata'>): Promise<Answer> {
  const wanted = args.reload_sources ?? true;
  const unknown = Array.isArray(wanted) ? wanted.find((name) => !work.source(name)) : undefined;
  if (unknown !== undefined) fail('sourceNotFound', { source: unknown }, { path: ['reload_sources'] });
  const sources = work.metadata.sources.filter((source) =>
    Array.isArray(wanted) ? wanted.includes(source.name) : wanted,
  );
  const { reload_remote_schemas: reloaded = true } = args;
  const remotes = (work.metadata.remote_schemas ?? []).filter((remote) =>
    Array.isArray(reloaded) ? reloaded.includes(remote.name) : reloaded,
  );
  await Promise.all([
    ...sources.map((source) => work.introspect(source)),
    ...remotes.map((remote) => work.introspectRemote(remote)),
  ]);
  const { recreate_event_triggers: recreated = false } = args;
  for (const { name } of work.metadata.sources) {
    if (Array.isArray(recreated) ? recreated.includes(name) : recreated) work.recaptured.add(name);
  }
  work.touchesResource = true;
  work.touchesCatalog = true;
  work.tolerate(await work.settle());
  const report = reportOf(work, false);
  return () => ({
    is_consistent: report.is_consistent,
    message: 'success',
    ...(report.is_consistent ? {} : { inconsistent_objects: report.inconsistent_objects }),
  });
}

export function getInconsistentMetadata(
  work: Work,
  args: ArgsOf<'get_inconsistent_metadata'>,
  request: AdminRequest,
): Answer {
  const report = reportOf(work, args.include_keys === true);
  return () => (request.caller.endpoint === '/v1/query' ? report.inconsistent_objects : report);
}

/** Removing an object can leave others without ground: goes on until nothing is inconsistent. */
export async function dropInconsistentMetadata(
  work: Work,
  _args: ArgsOf<'drop_inconsistent_metadata'>,
  request: AdminRequest,
): Promise<Answer> {
  await work.cover();
  for (;;) {
    const inconsistencies = work.view().inconsistencies.filter(({ entity }) => !entity);
    if (inconsistencies.length === 0) return SUCCESS;
    const without = removeInconsistent(work.metadata, inconsistencies);
    if (without === work.metadata) refuseInconsistencies(inconsistencies);
    work.edit(request.path, without);
  }
}

export function getCatalogState(work: Work): Answer {
  const { cli, console, operator } = work.catalogStates;
  const body = {
    id: work.base.id,
    cli_state: cli,
    console_state: console,
    operator_state: operator,
  };
  return () => body;
}

export function setCatalogState(work: Work, args: ArgsOf<'set_catalog_state'>): Answer {
  work.setCatalogState(args.type, args.state);
  return SUCCESS;
}

export function patchCatalogState(work: Work, { type, patch }: ArgsOf<'patch_catalog_state'>): Answer {
  work.patchCatalogState(type, patch);
  return SUCCESS;
}

type ReplaceArgs = ArgsOf<'replace_metadata'>;
export type ReplaceOptions = {
  readonly allow_inconsistent_metadata?: boolean;
  readonly allow_warnings?: boolean;
  readonly dry_run?: boolean;
  readonly include_keys?: boolean;
};

type Report = {
  readonly is_consistent: boolean;
  readonly inconsistent_objects: ReturnType<typeof printInconsistencies>;
  readonly not_enforced?: readonly Unenforced[];
};

/** `includeKeys` adds what is declared without effect, too. */
function reportOf(work: Work, includeKeys: boolean): Report {
  const { inconsistencies } = work.view();
  const unenforced = includeKeys ? work.ground.unenforced(work.metadata) : [];
  return {
    is_consistent: inconsistencies.length === 0,
    inconsistent_objects: printInconsistencies(inconsistencies, includeKeys),
    ...(unenforced.length > 0 ? { not_enforced: unenforced } : {}),
  };
}

/** A document of an older format has tables but no sources: they belong to `default`, which keeps its connection. */
function keepConnection(parsed: Metadata, document: unknown, current: Metadata): Metadata {
  const hasSources = typeof document === 'object' && document !== null && 'sources' in document;
  const kept = current.sources.find((source) => source.name === 'default');
  if (hasSources || !kept) return parsed;
  const tracked = parsed.sources.find((source) => source.name === 'default');
  return { ...parsed, sources: [{ ...bareSource(kept), ...pickTracked(tracked) }] };
}

/** Who replaces the document has never seen them. */
function keepUnexported(next: Metadata, { cron_triggers: before = [] }: Metadata): Metadata {
  const { cron_triggers: given = [] } = next;
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
