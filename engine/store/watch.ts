/** Notices what other replicas write. LISTEN on a connection of its own tells at once; polling every `pollIntervalMs`
 *  covers a connection that died silently and poolers that swallow LISTEN. Out: a call of `onChange` with the versions in
 *  the database, at least once for every change and sometimes more often: the receiver compares with its own.
 *  Not here: what a change means (admin/state.ts). PostgreSQL manual, "LISTEN". */
import type pg from 'pg';
import { connectTo, optionAddress } from '../database/connect.ts';
import { CHANNEL, parseVersions, type Store, type Versions } from './store.ts';

export type WatchOptions = {
  readonly url: string;
  readonly store: Pick<Store, 'versions' | 'origin'>;
  /** 0 never polls. */
  readonly pollIntervalMs: number;
  readonly onChange: (versions: Versions) => void;
  readonly onInterruption: (reason: string) => void;
  /** First pause before reconnecting; doubles up to 5 s. Default 100. */
  readonly retryMs?: number;
};

export type Watch = { readonly close: () => Promise<void> };

const LONGEST_PAUSE_MS = 5_000;
/** The time is for a database that says nothing at all. */
const PURPOSE = { applicationName: 'pergola watch', timeoutMs: 10_000 };

/** Starts watching; resolves when the first LISTEN stands or has failed once (polling then covers it). */
export async function watch(options: WatchOptions): Promise<Watch> {
  const listener = new Listener(options);
  await listener.connect();
  const poll = options.pollIntervalMs > 0 ? startPolling(options) : undefined;
  return {
    close: async () => {
      if (poll) clearInterval(poll);
      await listener.close();
    },
  };
}

function startPolling(options: WatchOptions): NodeJS.Timeout {
  let isAsking = false;
  const timer = setInterval(async () => {
    if (isAsking) return;
    isAsking = true;
    await tell(options).finally(() => {
      isAsking = false;
    });
  }, options.pollIntervalMs);
  return timer.unref();
}

async function tell(options: WatchOptions): Promise<void> {
  try {
    options.onChange(await options.store.versions());
  } catch (error) {
    options.onInterruption(error instanceof Error ? error.message : String(error));
  }
}

/** Holds the LISTEN connection and replaces it when it breaks. */
class Listener {
  readonly #options: WatchOptions;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs: number;
  #isClosed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#pauseMs = options.retryMs ?? 100;
  }

  async connect(): Promise<void> {
    let client: pg.Client | undefined;
    try {
      client = await connectTo(optionAddress(this.#options.url), PURPOSE);
      if (this.#isClosed) return await client.end();
      this.#client = client;
      this.#follow(client);
      await client.query(`listen ${CHANNEL}`);
      this.#pauseMs = this.#options.retryMs ?? 100;
      // Something may have been written while nobody listened.
      await tell(this.#options);
    } catch (error) {
      this.#reconnect(client, error instanceof Error ? error.message : String(error));
    }
  }

  #follow(client: pg.Client): void {
    client.on('error', (error) => this.#reconnect(client, error.message));
    client.on('end', () => this.#reconnect(client, 'the connection ended'));
    client.on('notification', (message) => {
      if (message.channel === CHANNEL) this.#heard(message.payload ?? '');
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#client?.end().catch(() => {});
  }

  #heard(payload: string): void {
    const versions = parseVersions(payload);
    const isOurs = payload.endsWith(this.#options.store.origin);
    if (versions && !isOurs) this.#options.onChange(versions);
  }

  /** Once per broken client: `error` and `end` both come for one. */
  #reconnect(client: pg.Client | undefined, reason: string): void {
    if (this.#isClosed || this.#client !== client) return;
    this.#client = undefined;
    this.#options.onInterruption(reason);
    client?.end().catch(() => {});
    this.#timer = setTimeout(() => void this.connect(), this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }
}
