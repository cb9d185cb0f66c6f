/** Settings with which a long-running process keeps little memory. A process has them only from its start, so `pergola serve` replaces
 *  itself by a process that has them. The image sets them for all commands (deploy/Dockerfile), which saves that step.
 *  Plain JavaScript, like pergola.mjs. Not here: the limit of the heap in larger containers, which Node derives from their memory. */

/** Few arenas, and a fixed threshold: malloc returns the memory of large buffers to the kernel. The default threshold grows with the
 *  largest buffer. */
const MALLOC = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };
/** The default is 16 MB, of which V8 keeps up to three. */
const SEMI_SPACE = '--max-semi-space-size=4';
/** Node gives the heap half of the memory of the container, but 256 MB at least: more than there is in a small one. There it takes this share. */
const SMALL_HEAP_SHARE = 0.55;
const MIB = 2 ** 20;
const SMALL = 512 * MIB;

/** Replaces this process, with the same id, by one that has the settings. Returns when it has them, and where a process cannot be
 *  replaced: outside Linux, and with an IPC channel, which would be lost. */
export function keepMemorySmall() {
  const { env, platform, execve, execPath, execArgv, argv, connected } = process;
  if (platform !== 'linux' || execve === undefined || connected) return;
  const isSet = Object.keys(MALLOC).some((name) => name in env);
  const given = [env.NODE_OPTIONS, ...execArgv].join(' ');
  const semiSpace = isSet || given.includes('max-semi-space-size') ? [] : [SEMI_SPACE];
  const flags = [...semiSpace, ...heapFlags(given)];
  if (isSet && flags.length === 0) return;
  execve(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)], { ...env, ...MALLOC });
}

/** Returns the limit of the heap for a small container, unless one is given. */
function heapFlags(given) {
  const bytes = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  if (bytes >= SMALL || /max-(old-space|heap)-size/.test(given)) return [];
  return [`--max-old-space-size=${Math.floor((bytes / MIB) * SMALL_HEAP_SHARE)}`];
}
