/** One operation of a request on a unit of work, chosen by its name: edits by HANDLERS, the rest by PERFORMERS, a batch item
 *  by item. Out: what to answer once everything is committed. Errors carry the path of their place in the body.
 *  Not here: parsing the envelope (request.ts), committing (work.ts), locks and retries (run.ts). */
import { EngineError, fail, type PathStep } from '../errors/engine-error.ts';
import type { Links } from '../metadata/dependencies.ts';
import type { ArgsOf, EditOperation, OperationName } from '../metadata/operations.ts';
import { parseArgs } from '../metadata/parse.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { type Answer, SUCCESS } from './answer.ts';
import { performBatch } from './batch.ts';
import {
  clearMetadata,
  dropInconsistentMetadata,
  exportMetadata,
  getCatalogState,
  getInconsistentMetadata,
  getLogicalModels,
  getNativeQueries,
  patchCatalogState,
  reloadMetadata,
  replaceMetadata,
  setCatalogState,
} from './document-operations.ts';
import {
  cleanUpEvents,
  getEvent,
  getEventLogs,
  getInvocationLogs,
  invokeEventTrigger,
  redeliverEvent,
} from './events.ts';
import { dropAction } from './handlers/actions.ts';
import { HANDLERS } from './handlers/index.ts';
import { linksOf } from './links.ts';
import { managedChanges, refuseWarnings, type Warning } from './managed.ts';
import { patchMetadata } from './patch-metadata.ts';
import {
  addRemoteSchema,
  addRemoteSchemaPermission,
  introspectRemoteSchema,
  reloadRemoteSchema,
} from './remote-schemas.ts';
import type { AdminRequest } from './request.ts';
import { listMetadataRevisions, rollbackMetadata } from './revisions.ts';
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
import { testConnectionTemplate } from './test-connection-template.ts';
import { testWebhookTransform } from './test-webhook-transform.ts';
import { unenforcedChanges } from './unenforced.ts';
import type { Work } from './work.ts';

type BatchOperation = 'bulk' | 'bulk_atomic' | 'bulk_keep_going' | 'concurrent_bulk';

type Performer<N extends OperationName> = (
  work: Work,
  args: ArgsOf<N>,
  request: AdminRequest,
) => Answer | Promise<Answer>;

/** Operations that are more than a function of the document. */
const PERFORMERS: { readonly [N in Exclude<OperationName, EditOperation | BatchOperation>]: Performer<N> } = {
  export_metadata: exportMetadata,
  replace_metadata: replaceMetadata,
  patch_metadata: patchMetadata,
  list_metadata_revisions: listMetadataRevisions,
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
  dump_internal_state: dumpInternalState,
  get_catalog_state: getCatalogState,
  set_catalog_state: setCatalogState,
  patch_catalog_state: patchCatalogState,
  add_remote_schema: addRemoteSchema,
  reload_remote_schema: reloadRemoteSchema,
  introspect_remote_schema: introspectRemoteSchema,
  add_remote_schema_permissions: addRemoteSchemaPermission,
  run_sql: performSql,
  select: selectRows,
  count,
  insert: insertRows,
  update: updateRows,
  delete: deleteRows,
  drop_action: dropActionWithCalls,
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
  test_webhook_transform: testWebhookTransform,
};

export function perform(work: Work, request: AdminRequest): Promise<Answer> {
  if (request.operation.effect === 'batch') return performBatch(work, request);
  return at(request.path, async () => {
    const args = parseArgs(request.operation.name, request.args);
    const before = work.metadata;
    const answer = await performOne(work, args, request);
    const warnings = [
      ...managedChanges(work.ledger, before, work.metadata),
      ...unenforcedChanges(work.ground, before, work.metadata),
    ];
    if (warnings.length === 0) return answer;
    if ('allow_warnings' in args && args.allow_warnings === false) refuseWarnings(warnings);
    return (published) => withWarnings(answer(published), warnings);
  });
}

function performOne(
  work: Work,
  args: ArgsOf<OperationName>,
  request: AdminRequest,
): Answer | Promise<Answer> {
  const { name } = request.operation;
  if (name in PERFORMERS) {
    const performer = PERFORMERS[name as keyof typeof PERFORMERS] as Performer<OperationName>;
    return performer(work, args as never, request);
  }
  const handler = HANDLERS[name as keyof typeof HANDLERS] as Handler;
  work.edit(request.path, handler(work.metadata, args as never, linksOf(work.base.model)));
  return SUCCESS;
}

/** Whatever changes the document answers with an object. */
function withWarnings(body: unknown, warnings: readonly Warning[]): unknown {
  return { ...(body as object), warnings };
}

type Handler = (draft: Metadata, args: never, links: Links) => Metadata;

async function performSql(work: Work, args: ArgsOf<'run_sql'>, request: AdminRequest): Promise<Answer> {
  const source = work.source(args.source);
  if (!source) fail('sourceNotFound', { source: args.source });
  const result = await runSql(work, source, args, request.path);
  return () => result;
}

/** The calls go once the action is gone. */
function dropActionWithCalls(work: Work, args: ArgsOf<'drop_action'>, request: AdminRequest): Answer {
  work.edit(request.path, dropAction(work.metadata, args.name));
  if (args.clear_data !== false) work.afterCommit.push(() => work.ground.actionCalls.clear(args.name));
  return SUCCESS;
}

/** An error from inside gets the path in front of its own. */
async function at<T>(path: readonly PathStep[], body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw path.reduceRight<EngineError>((placed, step) => placed.at(step), error);
  }
}
