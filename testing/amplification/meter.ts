/** Measures what one case costs an engine: the processor time of its process without that of the probes, its peak memory, and the longest
 *  answer to another client meanwhile. In: an engine and a case. Out: the cost. Linux only: processor time and memory are read from /proc.
 *  Not here: the cases (generators.ts), the limits (run.ts). */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export type Cost = {
  readonly cpuMs: number;
  /** The growth of the resident memory at its peak, in MB. */
  readonly peakMb: number;
  /** The longest answer to /healthz while the case ran, at most the processor time of the engine: any longer wait is one for the machine. */
  readonly pauseMs: number;
};

/** The unit of processor times in /proc, on every platform that Node runs on. */
const TICK_MS = 10;
const PROBE_MS = 10;
/** The probes whose mean cost is taken. */
const MEASURED_PROBES = 200;

export type Process = { readonly url: string; readonly pid: number };

/** Returns the processor time of one probe. A case that waits for a minute on Postgres meets thousands of them. */
export async function probeCpuMs({ url, pid }: Process): Promise<number> {
  await probe(url);
  const before = cpuMs(pid);
  for (let i = 0; i < MEASURED_PROBES; i++) {
    await probe(url);
    await sleep(PROBE_MS);
  }
  return (cpuMs(pid) - before) / MEASURED_PROBES;
}

/** Returns the time of an answer to /healthz. */
async function probe(url: string): Promise<number> {
  const began = performance.now();
  await fetch(`${url}/healthz`).then((response) => response.text());
  return performance.now() - began;
}

export async function measured(
  { url, pid }: Process,
  eachProbeCpuMs: number,
  run: () => Promise<void>,
): Promise<Cost> {
  // Writing 5 sets the peak to what is resident now. proc(5), "clear_refs".
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = { cpuMs: cpuMs(pid), mb: memoryMb(pid, 'VmHWM') };
  let isOver = false;
  let pauseMs = 0;
  let probes = 0;
  const probing = (async () => {
    while (!isOver) {
      pauseMs = Math.max(pauseMs, await probe(url));
      probes++;
      await sleep(PROBE_MS);
    }
  })();
  try {
    await run();
  } finally {
    isOver = true;
    await probing;
  }
  const usedMs = cpuMs(pid) - before.cpuMs;
  return {
    cpuMs: Math.max(0, Math.round(usedMs - probes * eachProbeCpuMs)),
    peakMb: Math.max(0, memoryMb(pid, 'VmHWM') - before.mb),
    pauseMs: Math.min(pauseMs, usedMs + TICK_MS),
  };
}

function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the process, in parentheses, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function memoryMb(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${name}:\\s*(\\d+) kB`).exec(status)?.[1] ?? 0) / 1024;
}
