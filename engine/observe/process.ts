/** What the process says about itself: CPU, memory, file descriptors, and how late its event loop is. Under the names
 *  dashboards for Node.js already know. Not here: how it is printed (registry.ts). */
import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Collector, Sample } from './registry.ts';

/** Milliseconds between two looks at the event loop. */
const RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;

/** The event loop is watched from here on; each look begins anew. */
export function processCollector(): Collector {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let seen = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, seen);
    seen = now;
    const lags = Object.entries({
      mean: delay.mean,
      p50: delay.percentile(50),
      p99: delay.percentile(99),
      max: delay.max,
    });
    delay.reset();
    return [
      ...memoryAndTime(),
      ...lags.map(([quantile, lag]): Sample => {
        // The timer that measures is late by its own interval.
        const seconds = Math.max(0, lag / NANOSECONDS - RESOLUTION_MS / 1000);
        return sample('nodejs_eventloop_lag_seconds', Number.isFinite(seconds) ? seconds : 0, quantile);
      }),
      sample('nodejs_eventloop_utilization', utilization),
    ];
  };
}

function memoryAndTime(): readonly Sample[] {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  const descriptors = openDescriptors();
  return [
    sample('process_cpu_seconds_total', (user + system) / 1e6),
    sample('process_resident_memory_bytes', rss),
    sample('process_start_time_seconds', performance.timeOrigin / 1000),
    ...(descriptors === null ? [] : [sample('process_open_fds', descriptors)]),
    sample('nodejs_heap_size_used_bytes', heapUsed),
    sample('nodejs_heap_size_total_bytes', heapTotal),
    sample('nodejs_external_memory_bytes', external),
  ];
}

function sample(name: Sample['name'], value: number, ...labels: readonly string[]): Sample {
  return { name, labels, value };
}

/** Linux tells, others do not. */
function openDescriptors(): number | null {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return null;
  }
}
