/** The engine process of a fuzz run, with the errors it reports. Not here: the requests (run.ts). */
import { type ChildProcess, fork } from 'node:child_process';
import type { FromChild } from './engine-child.ts';

const CHILD = new URL('./engine-child.ts', import.meta.url);
export const ADMIN_SECRET = 'fuzz';

export class Subject {
  readonly url: string;
  readonly #child: ChildProcess;
  #unexpected: string[] = [];

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

  /** Returns the memory in MB after a garbage collection. */
  memoryMb(): Promise<number> {
    return new Promise((resolve) => {
      const listen = (message: FromChild) => {
        if (message.kind !== 'memory') return;
        this.#child.off('message', listen);
        resolve(message.bytes / 2 ** 20);
      };
      this.#child.on('message', listen);
      this.#child.send('memory');
    });
  }

  async stop(): Promise<void> {
    if (!this.isAlive) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await exited;
  }
}
