/** The processor time of other processes, from /proc. In: process numbers. Out: milliseconds. Not here: the time of this process (../cpu-time.ts). */
import { readdirSync, readFileSync } from 'node:fs';

/** The length of a tick of /proc/PID/stat, which Linux has on every machine. */
const MILLISECONDS_OF_TICK = 10;

/** The fields of /proc/PID/stat behind the name of the program: state, parent, …; those of processor time are 11 to 14. */
function fieldsOf(pid: number): readonly string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program is in parentheses and may contain spaces.
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

export function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => Number(fieldsOf(pid)?.[1]) === parent);
}

/** Returns the processor time of a process, of its children, and of those children that have ended. */
export function processorTimeOf(pid: number): number {
  const own = ticksOf(pid, [11, 12, 13, 14]);
  const children = childrenOf(pid).map((child) => ticksOf(child, [11, 12]));
  return MILLISECONDS_OF_TICK * children.reduce((sum, each) => sum + each, own);
}

function ticksOf(pid: number, indices: readonly number[]): number {
  const fields = fieldsOf(pid);
  return fields ? indices.reduce((sum, index) => sum + Number(fields[index]), 0) : 0;
}
