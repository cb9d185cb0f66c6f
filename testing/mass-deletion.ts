/** Deletes most of the tables of chains of foreign keys, with permissions that reach along them, while every tenth table stays and names the one
 *  before it; then the rest. Meanwhile it polls the operator's liveness and its lease, and edits an unrelated resource again and again.
 *  In: a cluster with an Engine `main`, its database with the tables of `schemaOf` (scale.ts), an operator. Out: figures.
 *  Not here: the processes (.ci/scale.ts), the same on a cluster (deploy/e2e/mass-deletion.e2e.ts) and without processes
 *  (operator/pass/mass-deletion.test.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CustomResource, GROUP_VERSION, kindOf } from '../operator/kinds.ts';
import { type KubeObject, Reflector } from '../operator/kubernetes/reflector.ts';
import { systemTimers } from '../operator/kubernetes/timers.ts';
import type { Transport } from '../operator/kubernetes/transport.ts';
import { type Edit, editParts, type Pass, partsText, type TimeSpan } from './edit-parts.ts';
import type { Engine } from './engine-process.ts';
import { inLanes, percentile } from './scale.ts';

type World = {
  readonly transport: Transport;
  /** Deletes the resource at the path. */
  readonly remove: (path: string) => Promise<unknown>;
  readonly namespace: string;
  /** The number of tables in chains. */
  readonly count: number;
  /** The operator, and the passes that it has logged so far. */
  readonly operator: { readonly healthUrl: string; readonly passes: () => readonly Pass[] };
  /** Returns the writes of the status of a resource by ServiceAccounts. */
  readonly statusWrites: (kind: string, name: string) => Promise<readonly TimeSpan[]>;
  readonly engine: Pick<Engine, 'url'>;
  /** The seconds of processor time that each process has used so far, by name. */
  readonly cpuSeconds: () => Promise<ReadonlyMap<string, number>>;
  readonly say: (what: string, value: number) => void;
};

/** The table that stays and whose permission is edited. */
export const OTHER = 'other';
const PATIENCE_MS = 600_000;
const MERGE = 'application/merge-patch+json';

/** True for the tables that stay at first. */
const isLeft = (i: number) => i % 10 === 9;

export async function measureMassDeletion(world: World): Promise<void> {
  const { namespace, count, say } = world;
  const resources = new ChainResources({ ...world, metadata: () => exported(world) });
  await resources.create('Table', OTHER, { table: OTHER });
  await resources.create('TablePermission', OTHER, permissionOn(OTHER, []));
  await resources.untilReady(2);
  const watch = new Watch(world);
  const phase = async (what: string, body: () => Promise<void>) => {
    const [began, before] = [performance.now(), await world.cpuSeconds()];
    await body();
    say(`${what} s`, (performance.now() - began) / 1000);
    const used = await world.cpuSeconds();
    for (const [name, seconds] of used) say(`${what}: CPU of ${name} s`, seconds - before.get(name)!);
    await watch.report(what, say);
  };
  await phase('all Ready', async () => {
    await inLanes(count, async (i) => {
      await resources.create('Table', `t${i}`, chained(i));
      await resources.create('TablePermission', `t${i}`, permissionOn(`t${i}`, i === 0 ? [] : ['previous']));
    });
    await resources.untilReady(2 * count + 2);
  });
  await phase('deleted and held', async () => {
    await inLanes(count, async (i) => {
      if (!isLeft(i)) for (const kind of KINDS_OF_CHAIN) await resources.remove(kind, `t${i}`);
    });
    await resources.untilHeld();
  });
  // The table before each that stays is named by it, and stays as well.
  const left = Math.floor(count / 10);
  await phase('confirmed, with dependants left', async () => {
    await resources.confirmUntil(() => resources.hasTables(2 * left + 1));
    await resources.untilEngine((engine) => heldIn(engine) === 0);
  });
  console.log(`  ${messageOf(await resources.engine())}`);
  await phase('all deleted', async () => {
    await inLanes(count, async (i) => {
      if (isLeft(i)) for (const kind of KINDS_OF_CHAIN) await resources.remove(kind, `t${i}`);
    });
    await resources.confirmUntil(() => resources.hasTables(1));
  });
  await watch.stop();
  console.log(`  ${messageOf(await resources.engine())} (${namespace})`);
}

export const KINDS_OF_CHAIN = ['TablePermission', 'Table'] as const;

export function chained(i: number): object {
  const previous = [{ name: 'previous', foreignKey: { columns: ['previous_id'] } }];
  return { table: `t${i}`, ...(i > 0 ? { objectRelationships: previous } : {}) };
}

/** Returns the permission of a reader whose condition follows the relationships. */
export function permissionOn(
  table: string,
  along: readonly string[],
  columns: readonly string[] = ['id', 'title'],
): object {
  const owned = { owner: { _eq: 'X-Engine-User-Id' } };
  const filter = along.reduceRight<object>((inner, name) => ({ [name]: inner }), owned);
  return { table, role: 'reader', select: { columns, filter } };
}

export function readyOf({ status, metadata }: CustomResource) {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.observedGeneration === metadata.generation ? ready : undefined;
}

type Seen = KubeObject & CustomResource;

function isReady(cr: CustomResource): boolean {
  return readyOf(cr)?.status === 'True';
}

function messageOf(engine: CustomResource): string {
  return readyOf(engine)?.message ?? '';
}

/** Returns the number of objects whose deletion waits for a confirmation. */
function heldIn({ status }: CustomResource): number {
  return (status?.namespaces ?? []).reduce(
    (sum, { state, objects }) => sum + (state === 'PruneHeld' ? objects : 0),
    0,
  );
}

type Exported = {
  readonly sources: readonly {
    readonly tables: readonly {
      readonly table: { readonly name: string };
      readonly select_permissions?: readonly unknown[];
    }[];
  }[];
};

async function exported({ engine }: World): Promise<unknown> {
  const response = await fetch(`${engine.url}/v1/metadata`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-engine-admin-secret': 'scale' },
    body: JSON.stringify({ type: 'export_metadata', args: {} }),
  });
  return response.json();
}

type Place = Pick<World, 'transport' | 'remove' | 'namespace'> & {
  /** Returns the metadata of the engine. */
  readonly metadata: () => Promise<unknown>;
};

/** The resources of the namespace at the API server, and the tables of the engine. */
export class ChainResources {
  readonly #world: Place;

  constructor(world: Place) {
    this.#world = world;
  }

  #path(kind: string, name = ''): string {
    const collection = `/apis/${GROUP_VERSION}/namespaces/${this.#world.namespace}/${kindOf(kind)!.plural}`;
    return name === '' ? collection : `${collection}/${name}`;
  }

  async create(kind: string, name: string, spec: object): Promise<void> {
    const common = { engineRef: { name: 'main' }, source: 'default' };
    const body = { apiVersion: GROUP_VERSION, kind, metadata: { name }, spec: { ...common, ...spec } };
    await this.#world.transport.send({ method: 'POST', path: this.#path(kind), body });
  }

  async remove(kind: string, name: string): Promise<void> {
    await this.#world.remove(this.#path(kind, name));
  }

  engine(): Promise<CustomResource> {
    return this.get('Engine', 'main');
  }

  get(kind: string, name: string): Promise<CustomResource> {
    return this.#world.transport.send({ method: 'GET', path: this.#path(kind, name) });
  }

  /** Resolves when so many are Ready. It watches: lists of thousands of resources would take a core from the API server. */
  async untilReady(count: number): Promise<void> {
    const ready = new Set<string>();
    const reflectors = KINDS_OF_CHAIN.map(
      (kind) =>
        new Reflector<Seen>({
          transport: this.#world.transport,
          timers: systemTimers,
          path: this.#path(kind),
          isSame: (before, after) => isReady(before) === isReady(after),
          onChange: (before, after) => {
            if (before) ready.delete(before.metadata.uid);
            if (after && isReady(after)) ready.add(after.metadata.uid);
          },
          onSettled: () => {},
          onProblem: () => {},
        }),
    );
    for (const reflector of reflectors) reflector.start();
    await until(async () => ready.size >= count, 50);
    await Promise.all(reflectors.map((reflector) => reflector.stop()));
  }

  async untilEngine(holds: (engine: CustomResource) => boolean): Promise<void> {
    await until(async () => holds(await this.engine()));
  }

  /** Resolves when deletions are held and no more of them arrive. */
  async untilHeld(): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    for (let before = 0, now = 0; now === 0 || now !== before; ) {
      if (performance.now() > deadline)
        throw new Error(`${now} objects are held after ${PATIENCE_MS / 1000} s`);
      await sleep(3000);
      [before, now] = [now, heldIn(await this.engine())];
    }
  }

  async hasTables(count: number): Promise<boolean> {
    return [...(await this.served())].filter((name) => name.startsWith('Table ')).length <= count;
  }

  /** Returns the names of resources whose objects the engine serves, such as `Table t1`. */
  async served(): Promise<ReadonlySet<string>> {
    const { sources } = (await this.#world.metadata()) as Exported;
    const tables = sources.flatMap(({ tables }) => tables);
    return new Set(
      tables.flatMap(({ table: { name }, select_permissions: permissions }) => [
        `Table ${name}`,
        ...(permissions ? [`TablePermission ${name}`] : []),
      ]),
    );
  }

  async confirm(): Promise<void> {
    const { status } = await this.engine();
    const annotations = { 'pergola.dev/confirm-prune': status?.pruneHash ?? null };
    await this.#world.transport.send({
      method: 'PATCH',
      path: this.#path('Engine', 'main'),
      contentType: MERGE,
      body: { metadata: { annotations } },
    });
  }

  /** Confirms what is held, as long as something is. */
  async confirmUntil(isOver: () => Promise<boolean>): Promise<void> {
    await until(async () => {
      if (heldIn(await this.engine()) > 0) await this.confirm();
      return isOver();
    });
  }

  /** Changes the columns of the other table for its role. Returns the milliseconds until it is Ready. */
  async editOther(turn: number): Promise<number> {
    const { sentAt, readyAt } = await this.timedEdit(turn);
    return readyAt - sentAt;
  }

  /** Changes the columns of the other table for its role, and waits until it is Ready. */
  async timedEdit(turn: number): Promise<Edit> {
    const path = this.#path('TablePermission', OTHER);
    const columns = turn % 2 === 0 ? ['id'] : ['id', 'title'];
    const sentAt = wallMs();
    const body = { spec: { select: { columns } } };
    await this.#world.transport.send({ method: 'PATCH', path, contentType: MERGE, body });
    const acceptedAt = wallMs();
    await until(
      async () => readyOf(await this.#world.transport.send({ method: 'GET', path }))?.status === 'True',
      10,
    );
    return { sentAt, acceptedAt, readyAt: wallMs() };
  }
}

/** Polls liveness every 50 ms and the lease every 500 ms, and edits the other resource every second. */
class Watch {
  readonly #world: World;
  readonly #resources: ChainResources;
  readonly #running: readonly Promise<void>[];
  #isOver = false;
  #livezMs: number[] = [];
  #edits: Edit[] = [];
  /** The start of the edit that is not Ready yet. */
  #editBegan: number | undefined;
  #leaseMs: number[] = [];

  constructor(world: World) {
    this.#world = world;
    this.#resources = new ChainResources({ ...world, metadata: () => exported(world) });
    this.#running = [this.#poll(), this.#edit(), this.#renewals()];
  }

  async report(what: string, say: World['say']): Promise<void> {
    const most = (values: readonly number[]) => (values.length === 0 ? 0 : Math.max(...values));
    say(`${what}: /livez, at most ms`, most(this.#livezMs));
    say(`${what}: age of the lease, at most ms`, most(this.#leaseMs));
    const pending = this.#editBegan === undefined ? 0 : performance.now() - this.#editBegan;
    const edits = this.#edits;
    say(`${what}: another change Ready, at most ms`, most([...edits.map(durationOf), pending]));
    say(`${what}: another change Ready, median ms`, percentile(edits.map(durationOf), 50) ?? 0);
    say(`${what}: number of other changes`, edits.length);
    [this.#livezMs, this.#edits, this.#leaseMs] = [[], [], []];
    await this.#reportParts(edits);
  }

  /** Prints the parts of the slowest edits. */
  async #reportParts(edits: readonly Edit[]): Promise<void> {
    const { statusWrites, operator } = this.#world;
    const writes = await statusWrites('TablePermission', OTHER);
    for (const edit of edits.toSorted((a, b) => durationOf(b) - durationOf(a)).slice(0, MOST_EXPLAINED)) {
      const parts = editParts(edit, operator.passes(), writes);
      console.log(`    ${Math.round(durationOf(edit))} ms: ${parts ? partsText(parts) : 'not in the logs'}`);
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  async #poll(): Promise<void> {
    for (; !this.#isOver; await sleep(50)) {
      const began = performance.now();
      const isAlive = await fetch(`${this.#world.operator.healthUrl}/livez`).then(
        ({ ok }) => ok,
        () => false,
      );
      this.#livezMs.push(isAlive ? performance.now() - began : Number.POSITIVE_INFINITY);
    }
  }

  async #edit(): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      this.#editBegan = performance.now();
      this.#edits.push(await this.#resources.timedEdit(turn));
      this.#editBegan = undefined;
      await sleep(1000);
    }
  }

  async #renewals(): Promise<void> {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${this.#world.namespace}/leases`;
    type Lease = { readonly spec: { readonly renewTime?: string } };
    for (; !this.#isOver; await sleep(500)) {
      const { items } = await this.#world.transport.send<{ readonly items: readonly Lease[] }>({
        method: 'GET',
        path,
      });
      const renewed = items[0]?.spec.renewTime;
      if (renewed) this.#leaseMs.push(Date.now() - Date.parse(renewed));
    }
  }
}

/** The slowest edits of a phase whose parts are printed. */
const MOST_EXPLAINED = 3;

function durationOf({ sentAt, readyAt }: Edit): number {
  return readyAt - sentAt;
}

/** Returns the time by the clock of the machine, with fractions of a millisecond. */
function wallMs(): number {
  return performance.timeOrigin + performance.now();
}

async function until(holds: () => Promise<boolean>, everyMs = 500): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('it takes longer than ten minutes');
    await sleep(everyMs);
  }
}
