/** Observes writes of other replicas. LISTEN on a separate connection reports them immediately; polling every `pollIntervalMs`
 *  covers connections that broke silently and poolers that do not support LISTEN. Out: calls of `onChange` with the versions in
 *  the database, at least once for every change and sometimes more often, so the receiver compares them with its own.
 *  Not here: reactions to a change (state/state.ts). PostgreSQL manual, "LISTEN". */

import type pg from 'pg';
import { connectTo, optionAddress } from '../database/connect.ts';
import { thrownMessage } from '../errors/engine-error.ts';
import type { Versions } from './document.ts';
import { CHANNEL, parseVersions, type Store } from './store.ts';

type MetadataWatchOptions = {
  readonly url: string;
  readonly store: Pick<Store, 'versions' | 'origin'>;
  /** The polling interval; 0 disables polling. */
  readonly pollIntervalMs: number;
  readonly onChange: (versions: Versions) => void;
  readonly onInterruption: (reason: string) => void;
  /** The first pause before reconnecting. It doubles up to 5 s. Default 100. */
  readonly retryMs?: number;
};

export type MetadataWatch = { readonly close: () => Promise<void> };

const LONGEST_PAUSE_MS = 5_000;
/** The timeout applies to a database that does not answer at all. */
const PURPOSE = { applicationName: 'pergola watch', timeoutMs: 10_000 };

/** Starts watching. Resolves once LISTEN is active or has failed once, in which case polling covers it. */
export async function watchMetadata(options: MetadataWatchOptions): Promise<MetadataWatch> {
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

function startPolling(options: MetadataWatchOptions): NodeJS.Timeout {
  let isPolling = false;
  const timer = setInterval(async () => {
    if (isPolling) return;
    isPolling = true;
    await reportVersions(options).finally(() => {
      isPolling = false;
    });
  }, options.pollIntervalMs);
  return timer.unref();
}

async function reportVersions(options: MetadataWatchOptions): Promise<void> {
  try {
    options.onChange(await options.store.versions());
  } catch (error) {
    options.onInterruption(thrownMessage(error));
  }
}

/** Keeps the LISTEN connection open and replaces it when it breaks. */
class Listener {
  readonly #options: MetadataWatchOptions;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs: number;
  #isClosed = false;

  constructor(options: MetadataWatchOptions) {
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
      // A write may have happened while no connection listened.
      await reportVersions(this.#options);
    } catch (error) {
      this.#reconnect(client, thrownMessage(error));
    }
  }

  #follow(client: pg.Client): void {
    client.on('error', (error) => this.#reconnect(client, error.message));
    client.on('end', () => this.#reconnect(client, 'the connection ended'));
    client.on('notification', (message) => {
      if (message.channel === CHANNEL) this.#receive(message.payload ?? '');
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#client?.end().catch(() => {});
  }

  #receive(payload: string): void {
    const versions = parseVersions(payload);
    const isOurs = payload.endsWith(this.#options.store.origin);
    if (versions && !isOurs) this.#options.onChange(versions);
  }

  /** Reconnects once per broken client, which emits both `error` and `end`. */
  #reconnect(client: pg.Client | undefined, reason: string): void {
    if (this.#isClosed || this.#client !== client) return;
    this.#client = undefined;
    this.#options.onInterruption(reason);
    client?.end().catch(() => {});
    this.#timer = setTimeout(() => void this.connect(), this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }
}
