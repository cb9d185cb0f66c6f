/** Starts `pergola serve` with a memory limit, by default the chart's 512 MiB: by a control group where one can be created, otherwise by a
 *  heap limit. In: database URL, flags. Out: its URL, the memory of its process, and a way to stop it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ANY_PORT, healthyUrl } from '../engine-process.ts';

const LIMIT_BYTES = 512 * 2 ** 20;
export const ADMIN_SECRET = 'attacked';
/** The heap limit that Node chooses in a container, as a share of its memory. */
const HEAP_SHARE = 2;

/** Control groups of version 2 and of version 1, the file that holds the limit in each. */
const CONTROL_GROUPS = [
  { root: '/sys/fs/cgroup', limit: 'memory.max', isThere: 'cgroup.controllers' },
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', isThere: 'memory.limit_in_bytes' },
] as const;

const NETWORK = new URL('network.mjs', import.meta.url).href;

/** Returns the file with the addresses outside of this machine that the engine of a database has connected to; it may not exist. */
export function connectionsFile(databaseUrl: string): string {
  const { port, pathname } = new URL(databaseUrl);
  return join(tmpdir(), `pergola-connections-${port}-${pathname.slice(1)}`);
}

export type LimitedProcess = {
  readonly limitBytes?: number | undefined;
  /** Flags of Node. */
  readonly nodeFlags?: readonly string[];
};

export type LimitedEngine = {
  readonly url: string;
  readonly pid: number;
  /** The limit: without a control group at least 512 MiB, because the engine takes the memory of the machine for its own. */
  readonly limitBytes: number;
  /** How the memory is limited, for the report. */
  readonly limitedBy: string;
  readonly isAlive: () => boolean;
  /** The most memory so far, in bytes: what the control group counts, or what was resident. */
  readonly peakBytes: () => number;
  readonly residentBytes: () => number;
  readonly stop: () => Promise<void>;
};

export async function startLimitedEngine(
  databaseUrl: string,
  flags: readonly string[],
  { limitBytes = LIMIT_BYTES, nodeFlags = [] }: LimitedProcess = {},
): Promise<LimitedEngine> {
  const group = makeControlGroup(`pergola-attack-${randomUUID()}`, limitBytes);
  const bytes = group ? limitBytes : Math.max(limitBytes, LIMIT_BYTES);
  const heapMb = bytes / HEAP_SHARE / 2 ** 20;
  rmSync(connectionsFile(databaseUrl), { force: true });
  const serve = [
    process.execPath,
    ...(group ? [] : [`--max-old-space-size=${heapMb}`]),
    ...nodeFlags,
    '--import',
    NETWORK,
    'bin/pergola.mjs',
    'serve',
  ];
  const command = [...serve, ...ANY_PORT, ...flags];
  const join = group ? `echo $$ > ${group}/cgroup.procs && ` : '';
  const engine = spawn('sh', ['-c', `${join}exec "$@"`, 'sh', ...command], {
    env: {
      ...process.env,
      ENGINE_GRAPHQL_DATABASE_URL: databaseUrl,
      ENGINE_GRAPHQL_ADMIN_SECRET: ADMIN_SECRET,
      PERGOLA_TEST_CONNECTIONS: connectionsFile(databaseUrl),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = new Promise((resolve) => engine.once('exit', resolve));
  const url = await healthyUrl(engine, 'inherit');
  return {
    url,
    pid: engine.pid!,
    limitBytes: bytes,
    limitedBy: group ? 'a control group' : `a heap of ${heapMb} MB`,
    isAlive: () => engine.exitCode === null && engine.signalCode === null,
    peakBytes: () => (group ? groupBytes(group) : statusBytes(engine, 'VmHWM')),
    residentBytes: () => statusBytes(engine, 'VmRSS'),
    stop: async () => {
      engine.kill('SIGKILL');
      await exited;
      if (group) rmdirSync(group);
    },
  };
}

function makeControlGroup(name: string, limitBytes: number): string | null {
  for (const { root, limit, isThere } of CONTROL_GROUPS) {
    if (!existsSync(`${root}/${isThere}`)) continue;
    const group = `${root}/${name}`;
    try {
      mkdirSync(group);
      writeFileSync(`${group}/${limit}`, String(limitBytes));
      return group;
    } catch {
      // Without the right to limit memory by a control group, the heap's limit stands in.
    }
  }
  return null;
}

/** Returns the most memory that a control group has counted. */
function groupBytes(group: string): number {
  const file = ['memory.peak', 'memory.max_usage_in_bytes'].find((name) => existsSync(`${group}/${name}`));
  return file === undefined ? 0 : Number(readFileSync(`${group}/${file}`, 'utf8'));
}

/** A line of /proc/<pid>/status in bytes; 0 when the process has ended. */
function statusBytes(engine: ChildProcess, name: string): number {
  try {
    const status = readFileSync(`/proc/${engine.pid}/status`, 'utf8');
    return Number(new RegExp(`${name}:\\s*(\\d+) kB`).exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
