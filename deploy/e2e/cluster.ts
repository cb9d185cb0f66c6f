/** Runs kubectl and helm on the cluster of KUBECONFIG, and waits for conditions, with a time limit that only a broken cluster exceeds.
 *  Not here: installing (release.ts), requests (door.ts). */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** A limit that no step reaches, even on a busy machine. */
export const PATIENCE_SECONDS = 600;
const REPORT_MS = 15_000;

// biome-ignore lint/suspicious/noExplicitAny: kubectl prints objects of any kind
export type Printed = any;

export async function run(command: string, args: readonly string[], input = ''): Promise<string> {
  const running = promisify(execFile)(command, args, { maxBuffer: 64 * 1024 * 1024 });
  // A command that ends without reading its input has said why in its status.
  running.child.stdin?.on('error', () => {}).end(input);
  using _ = reportWhile(() => `${command} ${args.join(' ')}`);
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

export async function waitFor(
  namespace: string,
  condition: string,
  ...what: readonly string[]
): Promise<void> {
  const wait = ['wait', `--for=${condition}`, ...what, `--timeout=${PATIENCE_SECONDS}s`];
  try {
    await kubectl('-n', namespace, ...wait);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${await stateOf(namespace, what)}`);
  }
}

/** Returns what explains why a condition does not come about: pods, the status of the objects, and what the programs logged last. */
async function stateOf(namespace: string, what: readonly string[]): Promise<string> {
  const commands = [
    ['get', 'pods', '-o', 'wide'],
    [
      'get',
      ...what,
      '-o',
      'jsonpath={range .items[*]}{.kind} {.metadata.name} {.status.conditions}{"\\n"}{end}{.status}',
    ],
    ...['operator', 'engine'].map((name) => ['logs', `deployment/pergola-${name}`, '--tail=30']),
  ];
  const texts = commands.map((args) =>
    kubectl('-n', namespace, ...args).catch((error: Error) => error.message),
  );
  return (await Promise.all(texts)).join('\n');
}

/** Prints the awaited condition from time to time, so that `make e2e` shows its progress. */
function reportWhile(what: () => string): Disposable {
  const began = Date.now();
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - began) / 1000);
    process.stderr.write(`  … ${seconds} s  ${what().replaceAll(/\s+/g, ' ').slice(0, 300)}\n`);
  }, REPORT_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Waits until the condition holds, and checks it four times a second. `holds` may throw; a timeout reports the last error. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE_SECONDS * 1000;
  let last: unknown = 'the condition does not hold';
  using _ = reportWhile(() => `${what}: ${last instanceof Error ? last.message : last}`);
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
