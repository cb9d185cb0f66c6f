/** Measures how much processor time a computation takes, for tests whose limit must hold beside other processes as well. In: a function.
 *  Out: milliseconds of this process. Not here: time that another process spends, such as Postgres. */

/** Returns the processor time, in milliseconds, that this process spends while `work` runs. */
export function cpuMilliseconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
