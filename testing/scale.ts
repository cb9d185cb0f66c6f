/** Creates thousands of Table resources for one engine as fast as the API server accepts them, waits until they are Ready, and edits
 *  them one after the other. All requests use one keep-alive client, the operator's own transport.
 *  In: a transport, a namespace with an Engine `main`. Not here: the programs that use it (.ci/scale.ts, deploy/e2e/scale.e2e.ts), limits. */
import { isDeepStrictEqual } from 'node:util';
import { type CustomResource, GROUP_VERSION } from '../operator/kinds.ts';
import { type KubeObject, Reflector } from '../operator/kubernetes/reflector.ts';
import { systemTimers } from '../operator/kubernetes/timers.ts';
import type { Transport } from '../operator/kubernetes/transport.ts';

export const ROLES = ['reader', 'author', 'auditor'] as const;
const COLUMNS = ['id', 'title', 'owner', 'amount', 'details', 'created_at', 'previous_id'];
/** The number of concurrent requests. */
const LANES = 16;

/** Returns statements that create tables t0, t1, …, each with a reference to the one before. Each statement creates a few hundred
 *  tables: one for all would hold more locks than Postgres allows by default. */
export function schemaOf(count: number): readonly string[] {
  const tables = Array.from(
    { length: count },
    (_, i) =>
      `create table t${i} (id int primary key, title text not null, owner text, amount numeric, details jsonb,
        created_at timestamptz default now(), previous_id int references t${Math.max(0, i - 1)});`,
  );
  return Array.from({ length: Math.ceil(count / 250) }, (_, i) =>
    tables.slice(i * 250, (i + 1) * 250).join('\n'),
  );
}

export class ManyTables {
  readonly #transport: Transport;
  readonly #path: string;
  readonly #reflector: Reflector<Seen>;
  readonly #ready = new Set<string>();
  #look: () => void = () => {};

  constructor(transport: Transport, namespace: string) {
    this.#transport = transport;
    this.#path = `/apis/${GROUP_VERSION}/namespaces/${namespace}/tables`;
    this.#reflector = new Reflector<Seen>({
      transport,
      timers: systemTimers,
      path: this.#path,
      isSame: (before, after) => isDeepStrictEqual(before.status, after.status),
      onChange: (before, after) => {
        if (before) this.#ready.delete(before.metadata.name);
        if (after && isReady(after)) this.#ready.add(after.metadata.name);
        this.#look();
      },
      onSettled: () => this.#look(),
      onProblem: () => {},
    });
    this.#reflector.start();
  }

  /** Creates so many resources; resolves when the API server has accepted all of them. */
  async create(count: number): Promise<void> {
    await inLanes(count, async (i) => {
      await this.#transport.send({ method: 'POST', path: this.#path, body: tableResource(i) });
    });
  }

  /** Resolves when so many are Ready at their current generation. */
  async ready(count: number): Promise<void> {
    await this.#until(() => this.readyCount >= count);
  }

  get readyCount(): number {
    return this.#ready.size;
  }

  /** Hides a column of one table from one role, or shows it again. Returns the milliseconds from the request until it is Ready. */
  async edit(i: number): Promise<number> {
    const path = `${this.#path}/t${i}`;
    const shown = await this.#transport.send<CustomResource>({ method: 'GET', path });
    const { permissions } = shown.spec as { permissions: { select: { columns: string[] } }[] };
    const columns = permissions[0]!.select.columns;
    const value = columns.includes('amount') ? columns.filter((name) => name !== 'amount') : COLUMNS;
    const began = performance.now();
    const { metadata } = await this.#transport.send<CustomResource>({
      method: 'PATCH',
      path,
      contentType: 'application/json-patch+json',
      body: [{ op: 'replace', path: '/spec/permissions/0/select/columns', value }],
    });
    await this.#until(() => {
      const seen = [...this.#reflector.objects.values()].find(({ metadata: { name } }) => name === `t${i}`);
      return seen !== undefined && seen.metadata.generation! >= metadata.generation && isReady(seen);
    });
    return performance.now() - began;
  }

  async stop(): Promise<void> {
    await this.#reflector.stop();
  }

  #until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (!holds()) return;
        this.#look = () => {};
        resolve();
      };
      this.#look();
    });
  }
}

type Seen = KubeObject & Pick<CustomResource, 'status'>;

function isReady({ metadata, status }: Seen): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
}

function tableResource(i: number): object {
  const previous = [{ name: 'previous', foreignKey: { columns: ['previous_id'] } }];
  return {
    apiVersion: GROUP_VERSION,
    kind: 'Table',
    metadata: { name: `t${i}` },
    spec: {
      engineRef: { name: 'main' },
      source: 'default',
      table: `t${i}`,
      ...(i > 0 ? { objectRelationships: previous } : {}),
      permissions: ROLES.map((role) => ({
        role,
        select: { columns: COLUMNS, filter: { owner: { _eq: 'X-Engine-User-Id' } } },
      })),
    },
  };
}

/** Does the work for each number below the count, some of it at the same time. */
export async function inLanes(count: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)]!;
}
