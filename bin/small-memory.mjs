/** Settings with which a long-running process keeps little memory. A process has them only from its start, so `pergola serve` replaces
 *  itself by a process that has them. The image sets them for all commands (deploy/Dockerfile), which saves that step.
 *  Plain JavaScript, like pergola.mjs. Not here: the limit of the heap, which Node derives from the memory of the container. */

/** Few arenas, and a fixed threshold: malloc returns the memory of large buffers to the kernel. The default threshold grows with the
 *  largest buffer. */
const MALLOC = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };
/** The default is 16 MB, of which V8 keeps up to three. */
const SEMI_SPACE = '--max-semi-space-size=4';

/** Replaces this process, with the same id, by one that has the settings. Returns when it has them, and where a process cannot be
 *  replaced: outside Linux, and with an IPC channel, which would be lost. */
export function keepMemorySmall() {
  const { env, platform, execve, execPath, execArgv, argv, connected } = process;
  const isSet = Object.keys(MALLOC).some((name) => name in env);
  if (isSet || platform !== 'linux' || execve === undefined || connected) return;
  const flags = env.NODE_OPTIONS?.includes('max-semi-space-size') ? [] : [SEMI_SPACE];
  execve(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)], { ...env, ...MALLOC });
}
