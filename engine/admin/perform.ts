/** Performs the operation of a request on a unit of work: edits through HANDLERS, other operations through PERFORMERS, and batches
 *  (`bulk`, `bulk_atomic`, `bulk_keep_going`, `concurrent_bulk`) item by item. Out: the answer, to be completed after the commit.
 *  Errors carry the path of their operation in the body.
 *  Not here: parsing the envelope (request.ts), committing (state/unit-of-work.ts), locks and retries (run.ts).
 *  Reference: docs/reference/behaviour/metadata-api.md. */
import { dropAction } from '../change/handlers/actions.ts';
import { HANDLERS } from '../change/handlers/index.ts';
import { type NamingArgs, refuseName } from '../change/handlers/relationships.ts';
import { EngineError, fail, type PathStep, printPath, toAdminBody } from '../errors/engine-error.ts';
import type { Links } from '../metadata/dependencies.ts';
import type { ArgsOf, EditOperation, ListOperation, OperationName } from '../metadata/operations.ts';
import { parseArgs } from '../metadata/parse.ts';
import { qualifiedKey } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';
import {
  clearMetadata,
  dropInconsistentMetadata,
  exportMetadata,
  getCatalogState,
  getInconsistentMetadata,
  getLogicalModels,
  getNativeQueries,
  listMetadataRevisions,
  patchCatalogState,
  reloadMetadata,
  replaceMetadata,
  rollbackMetadata,
  setCatalogState,
} from './document-operations.ts';
import {
  addEventTrigger,
  cleanUpEvents,
  getEvent,
  getEventLogs,
  getInvocationLogs,
  invokeEventTrigger,
  redeliverEvent,
} from './events.ts';
import { explainAccess } from './explain-access.ts';
import { getFieldUsage } from './field-usage.ts';
import { trackFunctions, trackTables, untrackFunctions, untrackTables } from './lists.ts';
import { describeObject, listObjects } from './metadata-objects.ts';
import { applyMigrations } from './migrations.ts';
import { compareMetadataRevisions, getOwnership } from './ownership.ts';
import { patchMetadata } from './patch-metadata.ts';
import { getPermissionTests } from './permission-tests.ts';
import { getRecentActivity, listActionCalls, listSubscriptions, listTriggers } from './recent-activity.ts';
import {
  addRemoteSchema,
  addRemoteSchemaPermission,
  introspectRemoteSchema,
  refuseRemoteNode,
  reloadRemoteSchema,
} from './remote-schemas.ts';
import { type AdminAnswer, type AdminRequest, dialectOf, type Performer, SUCCESS } from './request.ts';
import { getRoleAccess } from './role-access.ts';
import { count, deleteRows, insertRows, selectRows, updateRows } from './rows.ts';
import { runSql } from './run-sql.ts';
import {
  createScheduledEvent,
  deleteScheduledEvent,
  getCronTriggers,
  getScheduledEventInvocations,
  getScheduledEvents,
} from './scheduled-events.ts';
import {
  dumpInternalState,
  getSourceFunctions,
  getSourceKindCapabilities,
  getSourceTables,
  getTableInfo,
  getViewDefinition,
  listSourceKinds,
  suggestRelationships,
} from './source-reads.ts';
import { testConnectionTemplate, testWebhookTransform } from './template-tests.ts';
import { deleteValues, listValues, reencryptValues, setValues } from './values.ts';
import {
  managedChanges,
  refuseWarnings,
  triggerNameWarnings,
  unenforcedChanges,
  withWarnings,
} from './warnings.ts';

/** The operations that HANDLERS performs. */
type HandledOperation = Exclude<EditOperation, ListOperation>;

type BatchOperation = 'bulk' | 'bulk_atomic' | 'bulk_keep_going' | 'concurrent_bulk';

/** The operations that are not pure functions of the document. */
const PERFORMERS: {
  readonly [N in Exclude<OperationName, HandledOperation | BatchOperation>]: Performer<N>;
} = {
  export_metadata: exportMetadata,
  replace_metadata: replaceMetadata,
  patch_metadata: patchMetadata,
  list_metadata_revisions: listMetadataRevisions,
  compare_metadata_revisions: compareMetadataRevisions,
  get_ownership: getOwnership,
  get_permission_tests: getPermissionTests,
  get_field_usage: getFieldUsage,
  get_role_access: getRoleAccess,
  list_objects: listObjects,
  describe_object: describeObject,
  rollback_metadata: rollbackMetadata,
  clear_metadata: clearMetadata,
  reload_metadata: reloadMetadata,
  get_inconsistent_metadata: getInconsistentMetadata,
  drop_inconsistent_metadata: dropInconsistentMetadata,
  get_logical_model: getLogicalModels,
  get_native_query: getNativeQueries,
  list_source_kinds: listSourceKinds,
  get_source_kind_capabilities: getSourceKindCapabilities,
  pg_test_connection_template: testConnectionTemplate,
  get_source_tables: getSourceTables,
  get_source_functions: getSourceFunctions,
  get_table_info: getTableInfo,
  get_viewdef_info: getViewDefinition,
  suggest_relationships: suggestRelationships,
  explain_access: explainAccess,
  dump_internal_state: dumpInternalState,
  get_catalog_state: getCatalogState,
  set_catalog_state: setCatalogState,
  patch_catalog_state: patchCatalogState,
  add_remote_schema: addRemoteSchema,
  reload_remote_schema: reloadRemoteSchema,
  introspect_remote_schema: introspectRemoteSchema,
  add_remote_schema_permissions: addRemoteSchemaPermission,
  run_sql: performSql,
  apply_migrations: applyMigrations,
  select: selectRows,
  count,
  insert: insertRows,
  update: updateRows,
  delete: deleteRows,
  track_tables: trackTables,
  untrack_tables: untrackTables,
  track_functions: trackFunctions,
  untrack_functions: untrackFunctions,
  drop_action: dropActionWithCalls,
  create_event_trigger: addEventTrigger,
  invoke_event_trigger: invokeEventTrigger,
  redeliver_event: redeliverEvent,
  get_event_logs: getEventLogs,
  get_event_invocation_logs: getInvocationLogs,
  get_event_by_id: getEvent,
  cleanup_event_trigger_logs: cleanUpEvents,
  get_cron_triggers: getCronTriggers,
  create_scheduled_event: createScheduledEvent,
  delete_scheduled_event: deleteScheduledEvent,
  get_scheduled_events: getScheduledEvents,
  get_scheduled_event_invocations: getScheduledEventInvocations,
  get_recent_activity: getRecentActivity,
  list_subscriptions: listSubscriptions,
  list_triggers: listTriggers,
  list_action_calls: listActionCalls,
  test_webhook_transform: testWebhookTransform,
  set_values: setValues,
  delete_values: deleteValues,
  list_values: listValues,
  reencrypt_values: reencryptValues,
};

/** Performs an operation or a batch, and adds warnings to the answer. */
export async function perform(work: UnitOfWork, request: AdminRequest): Promise<AdminAnswer> {
  if (request.operation.effect === 'batch') return performBatch(work, request);
  const args = await at(request.parsePath, async () => parseArgs(request.operation.name, request.args));
  return at(request.path, async () => {
    const before = work.metadata;
    const answer = await performOne(work, args, request);
    const warnings = [
      ...(await managedChanges(work.ledger, before, work.metadata)),
      ...unenforcedChanges(work.gateway, before, work.metadata),
      ...triggerNameWarnings(before, work.metadata),
    ];
    if (warnings.length === 0) return answer;
    if ('allow_warnings' in args && args.allow_warnings === false) refuseWarnings(warnings);
    return (published) => withWarnings(answer(published), warnings);
  });
}

async function performOne(
  work: UnitOfWork,
  args: ArgsOf<OperationName>,
  request: AdminRequest,
): Promise<AdminAnswer> {
  const { name } = request.operation;
  if (name in PERFORMERS) {
    const performer = PERFORMERS[name as keyof typeof PERFORMERS] as Performer<OperationName>;
    return performer(work, args as never, request);
  }
  const handler = HANDLERS[name as keyof typeof HANDLERS] as Handler;
  const edited = handler(work.document, args as never, work.links);
  const { check, answer = () => SUCCESS } = (STEPS[name] ?? {}) as Steps<OperationName>;
  await check?.(work, args);
  const isSame = edited === work.document;
  work.edit(request.path, edited);
  return answer(work, args, isSame);
}

/** The steps of an edit that depend on more than the document. */
type Steps<N extends OperationName> = {
  /** Raises an error before the draft is edited. */
  readonly check?: (work: UnitOfWork, args: ArgsOf<N>) => void | Promise<void>;
  /** Returns the answer after it. `isSame` is true when the edit changes nothing. Absent: the message `success`. */
  readonly answer?: (
    work: UnitOfWork,
    args: ArgsOf<N>,
    isSame: boolean,
  ) => AdminAnswer | Promise<AdminAnswer>;
};

const STEPS: { readonly [N in OperationName]?: Steps<N> } = {
  create_object_relationship: { check: refuseColumn },
  create_array_relationship: { check: refuseColumn },
  create_remote_relationship: { check: refuseColumn },
  rename_relationship: { check: refuseColumn },
  track_table: { check: (work, { table }) => refuseRemoteNode(work, table) },
  pg_add_source: { answer: (work, { name }) => connectSource(work, name) },
  pg_update_source: { answer: (work, { name }) => connectSource(work, name) },
  add_collection_to_allowlist: {
    answer: (_work, { collection }, isSame) =>
      isSame ? () => ({ message: alreadyAllowed(collection) }) : SUCCESS,
  },
};

/** Connects to the source. Raises `invalidConfiguration` when a new read replica or member of its connection set does not answer. What
 *  is wrong with the primary is found by validation. */
async function connectSource(work: UnitOfWork, name: string): Promise<AdminAnswer> {
  await work.ensureCatalogs();
  const source = work.source(name);
  const [silent] = source ? work.gateway.silentOthers(source) : [];
  if (silent) fail('invalidConfiguration', { text: silent.reason }, { path: silent.other.path });
  return SUCCESS;
}

/** Raises the error of `refuseName` when a column of the table has the name of a relationship. */
function refuseColumn(work: UnitOfWork, args: NamingArgs): void {
  const catalog = work.catalogs.get(args.source);
  const columns =
    catalog && 'tables' in catalog ? catalog.tables.get(qualifiedKey(args.table))?.columns : undefined;
  const name = args.new_name ?? args.name;
  if (columns?.some((column) => column.name === name)) refuseName(args);
}

/** Returns the message for a collection that is allowed already, which is no error. */
function alreadyAllowed(collection: string): string {
  const change = 'to change scope, use update_scope_of_collection_in_allowlist';
  return `collection "${collection}" already exists in the allowlist, scope ignored; ${change}`;
}

type Handler = (draft: Metadata, args: never, links: Links) => Metadata;

async function performSql(
  work: UnitOfWork,
  args: ArgsOf<'run_sql'>,
  request: AdminRequest,
): Promise<AdminAnswer> {
  const result = await runSql(work, work.requireSource(args.source), args, request.path);
  return () => result;
}

/** Drops an action and, after the commit, its calls. */
function dropActionWithCalls(
  work: UnitOfWork,
  args: ArgsOf<'drop_action'>,
  request: AdminRequest,
): AdminAnswer {
  work.edit(request.path, dropAction(work.document, args.name));
  if (args.clear_data !== false) work.afterCommit.push(() => work.gateway.actionCalls.clear(args.name));
  return SUCCESS;
}

/** Runs `body` and prepends the path to the path of its errors. */
async function at<T>(path: readonly PathStep[], body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw path.reduceRight<EngineError>((placed, step) => placed.at(step), error);
  }
}

/** Performs the items of a batch in order and answers with an array. `bulk` and `bulk_atomic` are the same here: all or nothing,
 *  validated and saved once. `bulk_keep_going` puts an item's failure in its position of the array and continues. */
async function performBatch(work: UnitOfWork, request: AdminRequest): Promise<AdminAnswer> {
  if (request.operation.batch === 'concurrent') return performConcurrently(work, request);
  refuseMixedAccess(request);
  const answers: AdminAnswer[] = [];
  for (const item of request.items) {
    answers.push(
      request.operation.batch === 'each'
        ? await performOrReport(work, item)
        : await performOrThrow(work, item),
    );
  }
  return (published) => answers.map((answer) => answer(published));
}

/** Performs the items of `concurrent_bulk`, which only read, at the same time on separate connections. Raises `onlyReadOnlySql`. */
async function performConcurrently(work: UnitOfWork, request: AdminRequest): Promise<AdminAnswer> {
  for (const item of request.items) {
    if (item instanceof EngineError) throw item;
    if (accessModeOf(item) !== 'READ ONLY') fail('onlyReadOnlySql', {}, { path: item.path.slice(0, -1) });
  }
  const answers = await Promise.all(request.items.map((item) => performOrThrow(work, item)));
  return (published) => answers.map((answer) => answer(published));
}

function performOrThrow(work: UnitOfWork, item: AdminRequest | EngineError): Promise<AdminAnswer> {
  if (item instanceof EngineError) throw item;
  return perform(work, item);
}

/** Performs and validates an item by itself, so that a failing item is undone without affecting the others. */
async function performOrReport(work: UnitOfWork, item: AdminRequest | EngineError): Promise<AdminAnswer> {
  try {
    return await work.attempt(async () => {
      const answer = await performOrThrow(work, item);
      await work.validate();
      return answer;
    });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const caller = item instanceof EngineError ? undefined : item.caller;
    const body = toAdminBody(error, dialectOf(caller?.endpoint), caller?.showInternal ?? false);
    return () => body;
  }
}

/** Refuses a batch that mixes read-only `run_sql` with operations that write, because a request has one access mode. */
function refuseMixedAccess(request: AdminRequest): void {
  let expected: string | undefined;
  for (const item of request.items.flatMap(withInner)) {
    const mode = accessModeOf(item);
    if (item instanceof EngineError || mode === undefined) continue;
    expected ??= mode;
    if (mode === expected) continue;
    const path = printPath(item.path.slice(0, -1));
    fail('mixedAccessModes', { expected, path, forced: mode }, { path: request.path });
  }
}

/** Returns an item with the items of the batch that it may be. */
function withInner(item: AdminRequest | EngineError): readonly (AdminRequest | EngineError)[] {
  if (item instanceof EngineError || item.operation.effect !== 'batch') return [item];
  return item.items.flatMap(withInner);
}

function accessModeOf(item: AdminRequest | EngineError): string | undefined {
  if (item instanceof EngineError) return undefined;
  const { effect, isReading } = item.operation;
  if (effect === 'read' || effect === 'batch' || isReading) return undefined;
  const isReadOnly =
    effect === 'sql' &&
    typeof item.args === 'object' &&
    item.args !== null &&
    'read_only' in item.args &&
    item.args.read_only === true;
  return isReadOnly ? 'READ ONLY' : 'READ WRITE';
}
