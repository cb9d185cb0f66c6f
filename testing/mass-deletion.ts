/** Deletes most of the tables of chains of foreign keys, with permissions that reach along them, while every tenth table stays and names the one
 *  before it; then the rest. Meanwhile it polls the operator's liveness and its lease, and edits an unrelated resource again and again.
 *  In: a cluster with an Engine `main`, its database with the tables of `schemaOf` (scale.ts), an operator. Out: figures.
 *  Not here: the processes (.ci/scale.ts), the same on a cluster (deploy/e2e/mass-deletion.e2e.ts) and without processes
 *  (operator/pass/mass-deletion.test.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CustomResource, GROUP_VERSION, kindOf } from '../operator/kinds.ts';
import type { Transport } from '../operator/kubernetes/transport.ts';
import type { Engine } from './engine-process.ts';
import { inLanes } from './scale.ts';

type World = {
  readonly transport: Transport;
  /** Deletes the resource at the path. */
  readonly remove: (path: string) => Promise<unknown>;
  readonly namespace: string;
  /** The number of tables in chains. */
  readonly count: number;
  readonly operator: { readonly healthUrl: string };
  readonly engine: Pick<Engine, 'url'>;
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
    const began = performance.now();
    await body();
    say(`${what} s`, (performance.now() - began) / 1000);
    watch.report(what, say);
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

  async untilReady(count: number): Promise<void> {
    await until(async () => {
      const lists = await Promise.all(
        KINDS_OF_CHAIN.map((kind) =>
          this.#world.transport.send<{ readonly items: readonly CustomResource[] }>({
            method: 'GET',
            path: this.#path(kind),
          }),
        ),
      );
      return (
        lists.flatMap(({ items }) => items).filter((cr) => readyOf(cr)?.status === 'True').length >= count
      );
    });
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
    const path = this.#path('TablePermission', OTHER);
    const columns = turn % 2 === 0 ? ['id'] : ['id', 'title'];
    const began = performance.now();
    const body = { spec: { select: { columns } } };
    await this.#world.transport.send({ method: 'PATCH', path, contentType: MERGE, body });
    await until(
      async () => readyOf(await this.#world.transport.send({ method: 'GET', path }))?.status === 'True',
      10,
    );
    return performance.now() - began;
  }
}

/** Polls liveness every 50 ms and the lease every 500 ms, and edits the other resource every second. */
class Watch {
  readonly #world: World;
  readonly #resources: ChainResources;
  readonly #running: readonly Promise<void>[];
  #isOver = false;
  #livezMs: number[] = [];
  #editMs: number[] = [];
  /** The start of the edit that is not Ready yet. */
  #editBegan: number | undefined;
  #leaseMs: number[] = [];

  constructor(world: World) {
    this.#world = world;
    this.#resources = new ChainResources({ ...world, metadata: () => exported(world) });
    this.#running = [this.#poll(), this.#edit(), this.#renewals()];
  }

  report(what: string, say: World['say']): void {
    const most = (values: readonly number[]) => (values.length === 0 ? 0 : Math.max(...values));
    say(`${what}: /livez, at most ms`, most(this.#livezMs));
    say(`${what}: age of the lease, at most ms`, most(this.#leaseMs));
    const pending = this.#editBegan === undefined ? 0 : performance.now() - this.#editBegan;
    say(`${what}: another change Ready, at most ms`, most([...this.#editMs, pending]));
    say(`${what}: number of other changes`, this.#editMs.length);
    [this.#livezMs, this.#editMs, this.#leaseMs] = [[], [], []];
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
      this.#editMs.push(await this.#resources.editOther(turn));
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

async function until(holds: () => Promise<boolean>, everyMs = 500): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('it takes longer than ten minutes');
    await sleep(everyMs);
  }
}
