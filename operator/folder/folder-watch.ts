/** Notices changes of files. Files are watched and also polled twice a second: editors that rename, mounts and network file systems do not
 *  always send notifications. In: folders and files, and which files below the folders are wanted.
 *  Not here: reading them (read-folder.ts). */
import { watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { filesIn } from './read-folder.ts';

const SETTLE_MS = 80;
/** The time after which a loop looks again without a notification. */
export const LOOK_MS = 500;

/** Detects changes of the inputs, and of the wanted files below them, since the last `markSeen`. */
export class FolderWatch {
  readonly #inputs: readonly string[];
  readonly #isWanted: (file: string) => boolean;
  readonly #watchers: readonly { close(): void }[];
  #seen = '';
  #wake: () => void = () => {};

  constructor(inputs: readonly string[], isWanted: (file: string) => boolean) {
    this.#inputs = inputs;
    this.#isWanted = isWanted;
    this.#watchers = inputs.flatMap((input) => this.#open(input) ?? []);
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
  }

  async markSeen(): Promise<void> {
    this.#seen = await this.#fingerprint();
  }

  /** Waits for a burst of changes to end, so that a half-written file is not read. */
  async hasChanged(): Promise<boolean> {
    let now = await this.#fingerprint();
    if (now === this.#seen) return false;
    for (;;) {
      await sleep(SETTLE_MS);
      const later = await this.#fingerprint();
      if (later === now) return true;
      now = later;
    }
  }

  /** Resolves at the next change notification, or after `ms` milliseconds. */
  async next(ms: number, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    const slept = sleep(ms, undefined, { signal: AbortSignal.any([signal, waiting.signal]) }).catch(() => {});
    await Promise.race([woken, slept]);
    waiting.abort();
  }

  #open(input: string): { close(): void } | undefined {
    try {
      const watcher = watch(input, { recursive: true }, () => this.#wake());
      watcher.on('error', () => {});
      return watcher;
    } catch {
      // Some file systems have no notifications; polling is enough.
      return undefined;
    }
  }

  async #fingerprint(): Promise<string> {
    const found = await Promise.all(
      this.#inputs.map((input) => filesIn(input, this.#isWanted).catch(() => [input])),
    );
    const files = found.flat();
    const states = await Promise.all(
      files.map(async (file) => {
        const found = await stat(file).catch(() => undefined);
        return `${file} ${found?.mtimeMs} ${found?.size} ${found?.ino}`;
      }),
    );
    return states.join('\n');
  }
}
