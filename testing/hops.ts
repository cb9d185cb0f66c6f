/** `npm run hops`, the operator's part: prints the files that run code for one change among many unchanged resources. One of three
 *  hundred resources changes, and V8's precise coverage of the next pass has every file with a function that ran, and the functions.
 *  In: nothing. Out: the files by room, and their number. Files that only declare types, and top-level code of modules, do not count.
 *  Not here: how long it takes (.ci/scale.ts). */
import type { EngineFetch } from '../operator/engine/address.ts';
import { cachedEngine } from '../operator/engine/cached-engine.ts';
import { engineClient } from '../operator/engine/client.ts';
import { type PreviousPass, reconcile } from '../operator/pass/reconcile.ts';
import { OPTIONS, permission, table } from '../operator/testing/resources.ts';
import type { ScriptedEngine } from '../operator/testing/scripted-engine.ts';
import { ScriptedPorts } from '../operator/testing/scripted-ports.ts';
import { functionsRunBy, printRun } from './coverage.ts';

const TABLES = 100;

type Request = {
  readonly type: string;
  readonly resource_version?: number;
  readonly args: readonly Request[];
};
type Patch = { readonly put: never[]; readonly remove: readonly string[] };

/** Returns a `fetch` that answers the operator's requests from an engine in memory. */
function fetchFrom(engine: ScriptedEngine): EngineFetch {
  return async (_url, { body = [] }) =>
    Response.json(await answer(engine, JSON.parse([...body].join('')) as Request));
}

async function answer(engine: ScriptedEngine, { type, args, resource_version }: Request): Promise<unknown> {
  const { resourceVersion, metadata, operatorState } = engine;
  const report = { inconsistent_objects: [], is_consistent: true };
  if (type === 'get_inconsistent_metadata') return report;
  if (type === 'bulk') {
    const state = operatorState === null ? {} : { operator_state: operatorState };
    return [{ resource_version: resourceVersion, metadata }, report, { id: 'hops', ...state }];
  }
  const [patch, ledger] = args.map((one) => one.args) as unknown as [Patch, { readonly patch: never }];
  const edits = [...patch.put, ...patch.remove.map((key) => ({ key, definition: undefined }))];
  const written = await engine.write({
    edits,
    document: metadata,
    ledger: ledger.patch,
    expectedVersion: resource_version ?? 0,
    mustFit: true,
  });
  return [{ resource_version: written.resourceVersion, ...report }, { message: 'success' }];
}

const scripted = new ScriptedPorts();
const client = engineClient({ url: 'http://engine', fetch: fetchFrom(scripted.engine) });
const engine = cachedEngine(client, { nowMs: () => 0, maxAgeMs: () => 600_000 });
const ports = {
  engine,
  source: scripted.source,
  sink: scripted.sink,
  clock: scripted.clock,
};
const names = Array.from({ length: TABLES }, (_, i) => `t${i}`);
const resources = names.flatMap((name) => [
  table(name),
  permission(`${name}-user`, name, 'user'),
  permission(`${name}-reader`, name, 'reader'),
]);
scripted.resources = resources;
let previous: PreviousPass = {};
for (let pass = 0; pass < 3; pass++) previous = await reconcile(ports, OPTIONS, previous);

const changed = permission('t7-user', 't7', 'user', ['id', 'name'], { generation: 2 });
scripted.resources = resources.map((cr) => (cr.metadata.uid === changed.metadata.uid ? changed : cr));
let wasWritten = false;
const files = await functionsRunBy('operator/', async () => {
  ({ wasWritten } = await reconcile(ports, OPTIONS, previous));
});
if (!wasWritten) throw new Error('the changed resource was not written');
printRun('the operator for one changed resource', files);
