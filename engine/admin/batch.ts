/** `bulk`, `bulk_atomic`, `bulk_keep_going`, `concurrent_bulk`: several operations in one request, answered by one array.
 *  The first two are the same here: all or nothing, resolved and saved once. The third notes an item's failure in its place
 *  of the array and goes on with the next. The last is for SQL that only reads, which runs at the same time. Not here: single operations (perform.ts). Reference: docs/reference/behaviour/metadata-api.md. */
import { EngineError, fail, printPath, toAdminBody } from '../errors/engine-error.ts';
import { type Answer, dialectOf } from './answer.ts';
import { perform } from './perform.ts';
import type { AdminRequest } from './request.ts';
import { refuseAdded } from './settle.ts';
import type { Work } from './work.ts';

export async function performBatch(work: Work, request: AdminRequest): Promise<Answer> {
  if (request.operation.name === 'concurrent_bulk') return performTogether(work, request);
  refuseMixedAccess(request);
  const answers: Answer[] = [];
  for (const item of request.items) {
    answers.push(
      request.operation.name === 'bulk_keep_going'
        ? await performOrNote(work, item)
        : await performOrThrow(work, item),
    );
  }
  return (published) => answers.map((answer) => answer(published));
}

/** Each on a connection of its own; the answers in the order asked. Raises `onlyReadOnlySql`. */
async function performTogether(work: Work, request: AdminRequest): Promise<Answer> {
  for (const item of request.items) {
    if (item instanceof EngineError) throw item;
    if (accessModeOf(item) !== 'READ ONLY') fail('onlyReadOnlySql', {}, { path: item.path.slice(0, -1) });
  }
  const answers = await Promise.all(request.items.map((item) => performOrThrow(work, item)));
  return (published) => answers.map((answer) => answer(published));
}

function performOrThrow(work: Work, item: AdminRequest | EngineError): Promise<Answer> {
  if (item instanceof EngineError) throw item;
  return perform(work, item);
}

/** Every item is judged alone, so that one that does not fit leaves no trace. */
async function performOrNote(work: Work, item: AdminRequest | EngineError): Promise<Answer> {
  try {
    return await work.attempt(async () => {
      const answer = await performOrThrow(work, item);
      refuseAdded(work, await work.settle());
      return answer;
    });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const caller = item instanceof EngineError ? undefined : item.caller;
    const body = toAdminBody(error, dialectOf(caller?.endpoint), caller?.showInternal ?? false);
    return () => body;
  }
}

/** A read-only `run_sql` beside anything that writes is refused: the request would have to be both. */
function refuseMixedAccess(request: AdminRequest): void {
  let expected: string | undefined;
  for (const item of request.items) {
    const mode = accessModeOf(item);
    if (item instanceof EngineError || mode === undefined) continue;
    expected ??= mode;
    if (mode === expected) continue;
    const path = printPath(item.path.slice(0, -1));
    fail('mixedAccessModes', { expected, path, forced: mode }, { path: request.path });
  }
}

function accessModeOf(item: AdminRequest | EngineError): string | undefined {
  if (item instanceof EngineError) return undefined;
  const { effect, name } = item.operation;
  if (effect === 'read' || effect === 'batch' || name === 'select' || name === 'count') return undefined;
  const isReadOnly =
    name === 'run_sql' &&
    typeof item.args === 'object' &&
    item.args !== null &&
    'read_only' in item.args &&
    item.args.read_only === true;
  return isReadOnly ? 'READ ONLY' : 'READ WRITE';
}
