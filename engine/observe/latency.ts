/** Quantiles of the time of operations, estimated from the buckets of their histogram, as `histogram_quantile` of Prometheus does: evenly within
 *  a bucket, and at most the last limit. Pure. Reference: Prometheus, "Query functions". */

/** Milliseconds within which this share of the queries and mutations was answered. */
export type Latency = { readonly p50_ms: number; readonly p95_ms: number; readonly p99_ms: number };

const BUCKET = 'pergola_graphql_execution_time_seconds_bucket ';

/** Returns null when the counts have no operation. `counted` are counts by series, as last-hour.ts has them. */
export function latencyOf(counted: ReadonlyMap<string, number>): Latency | null {
  const buckets = bucketsOf(counted);
  const total = buckets.at(-1)?.count ?? 0;
  if (total === 0) return null;
  const quantile = (share: number) => {
    const rank = share * total;
    const i = buckets.findIndex(({ count }) => count >= rank);
    const [from, to] = [buckets[i - 1] ?? { limit: 0, count: 0 }, buckets[i]!];
    if (to.limit === Number.POSITIVE_INFINITY) return ms(from.limit);
    return ms(from.limit + ((to.limit - from.limit) * (rank - from.count)) / (to.count - from.count));
  };
  return { p50_ms: quantile(0.5), p95_ms: quantile(0.95), p99_ms: quantile(0.99) };
}

/** Returns the sum of several counts, by series. */
export function sumOf(all: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const counted of all) {
    for (const [series, value] of counted) sums.set(series, (sums.get(series) ?? 0) + value);
  }
  return sums;
}

/** Returns the cumulative counts of all types of operations, by the limit of the bucket in seconds, in order. */
function bucketsOf(counted: ReadonlyMap<string, number>) {
  const counts = new Map<number, number>();
  for (const [series, value] of counted) {
    if (!series.startsWith(BUCKET)) continue;
    const { le } = JSON.parse(series.slice(BUCKET.length)) as { readonly le: number | string };
    const limit = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
    counts.set(limit, (counts.get(limit) ?? 0) + value);
  }
  return [...counts].sort(([a], [b]) => a - b).map(([limit, count]) => ({ limit, count }));
}

function ms(seconds: number): number {
  return Math.round(seconds * 100_000) / 100;
}
