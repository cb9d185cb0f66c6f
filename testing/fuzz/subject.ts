/** The engine process of a fuzz run, with the errors it reports. Not here: the requests (run.ts). */
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FromChild } from './engine-child.ts';

const CHILD = new URL('./engine-child.ts', import.meta.url);
export const ADMIN_SECRET = 'fuzz';
/** The time limit of a collection. It is generous, because the machine may be busy. */
const MOST_MS = 60_000;
/** The time in which a process answers whose event loop runs. */
const LOOP_MS = 5000;

export class Subject {
  readonly url: string;
  readonly #child: ChildProcess;
  #unexpected: string[] = [];
  #hanging: Promise<string> | undefined;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
    child.on('message', (message: FromChild) => {
      if (message.kind === 'unexpected') this.#unexpected.push(message.error);
    });
  }

  static async start(databaseUrl: string): Promise<Subject> {
    const child = fork(CHILD, [databaseUrl, ADMIN_SECRET], { execArgv: ['--expose-gc'] });
    const url = await new Promise<string>((resolve, reject) => {
      child.once('exit', () => reject(new Error('the engine did not start')));
      child.on('message', (message: FromChild) => {
        if (message.kind === 'ready') resolve(message.url);
      });
    });
    return new Subject(child, url);
  }

  /** Returns the problems since the last call; the last possible one is that the process has ended. */
  takeProblems(): readonly string[] {
    const taken = this.#unexpected;
    this.#unexpected = [];
    return this.isAlive
      ? taken
      : [...taken, `the engine has ended: ${this.#child.exitCode ?? this.#child.signalCode}`];
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Returns the memory in MB after a garbage collection. Throws when the process does not answer in time. */
  async memoryMb(): Promise<number> {
    const memoryMb = await this.#collected(MOST_MS);
    if (memoryMb === null) throw new Error('no collection in time');
    return memoryMb;
  }

  /** Returns the memory in MB after a garbage collection; null when there is no answer in time. */
  #collected(mostMs: number): Promise<number | null> {
    const collected = new Promise<number>((resolve) => {
      const listen = (message: FromChild) => {
        if (message.kind !== 'memory') return;
        this.#child.off('message', listen);
        resolve(message.bytes / 2 ** 20);
      };
      this.#child.on('message', listen);
      this.#child.send('memory');
    });
    return Promise.race([collected, sleep(mostMs, null, { ref: false })]);
  }

  /** Ends a process that does not answer. Returns whether its event loop still runs, which means that something is waited for. */
  stopHanging(): Promise<string> {
    this.#hanging ??= this.#stopWithReason();
    return this.#hanging;
  }

  async #stopWithReason(): Promise<string> {
    const memoryMb = await this.#collected(LOOP_MS);
    await this.stop();
    return memoryMb === null ? 'is busy: its event loop does not run' : 'waits: its event loop runs';
  }

  async stop(): Promise<void> {
    if (!this.isAlive) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await exited;
  }
}
