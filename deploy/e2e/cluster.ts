/** The cluster KUBECONFIG points at, through kubectl and helm, and patience: everything waits for a condition, with a limit that only a
 *  cluster that does not get there reaches. Not here: what is installed (release.ts), what is asked of it (door.ts). */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Longer than anything takes on a busy machine. */
export const PATIENCE_SECONDS = 300;
const TELL_MS = 15_000;

// biome-ignore lint/suspicious/noExplicitAny: whatever kubectl prints; a test knows
export type Printed = any;

export async function run(command: string, args: readonly string[], input = ''): Promise<string> {
  const running = promisify(execFile)(command, args, { maxBuffer: 64 * 1024 * 1024 });
  running.child.stdin?.end(input);
  using _ = tellWhile(() => `${command} ${args.join(' ')}`);
  try {
    return (await running).stdout;
  } catch (error) {
    const { stderr, stdout } = error as { stderr: string; stdout: string };
    throw new Error(`${command} ${args.join(' ')}\n${stderr}${stdout}`);
  }
}

export function kubectl(...args: readonly string[]): Promise<string> {
  return run('kubectl', args);
}

export async function get(...args: readonly string[]): Promise<Printed> {
  return JSON.parse(await kubectl('get', ...args, '-o', 'json'));
}

export function apply(manifest: string, ...args: readonly string[]): Promise<string> {
  return run('kubectl', ['apply', '-f', '-', ...args], manifest);
}

export function waitFor(namespace: string, condition: string, ...what: readonly string[]): Promise<string> {
  return kubectl('-n', namespace, 'wait', `--for=${condition}`, ...what, `--timeout=${PATIENCE_SECONDS}s`);
}

/** Says what is waited for, now and then, to whoever watches: `make e2e` is no black box. */
function tellWhile(what: () => string): Disposable {
  const began = Date.now();
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - began) / 1000);
    process.stderr.write(`  … ${seconds} s  ${what().replaceAll(/\s+/g, ' ').slice(0, 300)}\n`);
  }, TELL_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Until it holds, asked four times a second; `holds` may throw meanwhile, and what it threw last is told. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE_SECONDS * 1000;
  let last: unknown = 'it was asked in vain';
  using _ = tellWhile(() => `${what}: ${last instanceof Error ? last.message : last}`);
  while (Date.now() < end) {
    try {
      if (await holds()) return;
    } catch (error) {
      last = error;
    }
    await sleep(250);
  }
  throw new Error(`${what}: not within ${PATIENCE_SECONDS} s`, { cause: last });
}
