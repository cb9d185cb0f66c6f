/** Sends requests into the cluster through kubectl's port-forward to one pod or service, which is reopened after its pod is deleted.
 *  Not here: a client inside the cluster (client.ts). */
import { type ChildProcess, spawn } from 'node:child_process';
import { until } from './cluster.ts';
import { ADMIN_SECRET } from './release.ts';

/** A port-forward whose connection is lost answers nothing. */
const MOST_MS = 60_000;

export type Answer = { readonly data?: unknown; readonly errors?: readonly { readonly message: string }[] };

export class Door {
  readonly #namespace: string;
  readonly #target: string;
  #forward: ChildProcess | undefined;
  #url: string | undefined;

  constructor(namespace: string, target: string) {
    this.#namespace = namespace;
    this.#target = target;
  }

  graphql(query: string, role: string, variables: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#post('/v1/graphql', { query }, { 'x-engine-role': role, ...variables }) as Promise<Answer>;
  }

  admin(type: string, args: unknown): Promise<unknown> {
    return this.#post('/v1/query', { type, args }, {});
  }

  metadata(type: string, args: unknown = {}, version = 1): Promise<unknown> {
    return this.#post('/v1/metadata', { type, args, version }, {});
  }

  close(): void {
    this.#forward?.kill();
    this.#url = undefined;
  }

  /** Sends a request, and retries it only if there was no response. */
  async #post(path: string, body: unknown, headers: Readonly<Record<string, string>>): Promise<unknown> {
    let answer: unknown;
    await until(`POST ${path} to ${this.#target}`, async () => {
      this.#url ??= await this.#open();
      const response = await fetch(this.#url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-engine-admin-secret': ADMIN_SECRET, ...headers },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(MOST_MS),
      }).catch((error: unknown) => {
        this.close();
        throw error;
      });
      answer = await response.json();
      return true;
    });
    return answer;
  }

  async #open(): Promise<string> {
    const forward = spawn('kubectl', ['-n', this.#namespace, 'port-forward', this.#target, ':8080'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#forward = forward;
    const line = await new Promise<string>((resolve, reject) => {
      forward.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()));
      forward.once('exit', () => reject(new Error('kubectl port-forward ended')));
    });
    return `http://${/127\.0\.0\.1:\d+/.exec(line)?.[0]}`;
  }
}
