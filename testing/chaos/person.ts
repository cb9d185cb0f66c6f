/** Acts as an administrator who changes metadata by hand while the operator works: has tables, permissions, a query collection and an
 *  event trigger without custom resources, and keeps changing some of them. In: a function that calls /v1/metadata. Out: whether these
 *  objects are unchanged, byte by byte and in order. Not here: what happens to the operator (preload.mjs). */
import { setTimeout as sleep } from 'node:timers/promises';

export type Ask = (
  type: string,
  args: unknown,
) => Promise<{ readonly status: number; readonly body: unknown }>;

/** The tables of the administrator: the first two stay unchanged, the third keeps changing. */
export const PERSON_SCHEMA = `
create table mine (id int primary key, owner text, note text);
create table mine_too (id int primary key, mine_id int references mine, note text);
create table restless (id int primary key, note text);
`;

/** The names of these tables and collections. */
export const THEIRS = ['mine', 'mine_too', 'restless', 'notebook', 'scraps'];
const PAUSE_MS = 150;

type Document = {
  readonly sources: readonly { readonly tables: readonly { readonly table: { readonly name: string } }[] }[];
  readonly query_collections?: readonly { readonly name: string }[];
};

export class Person {
  readonly #ask: Ask;
  #theirs = '';
  #restless: Promise<void> | undefined;
  #isTired = false;
  /** The number of changes that succeeded. */
  done = 0;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async arrive(): Promise<void> {
    const source = 'default';
    await this.#do('pg_track_table', { source, table: 'mine', configuration: { custom_name: 'theirs' } });
    await this.#do('pg_track_table', { source, table: 'mine_too' });
    await this.#do('pg_create_object_relationship', {
      source,
      table: 'mine_too',
      name: 'parent',
      using: { foreign_key_constraint_on: 'mine_id' },
    });
    const permission = { filter: { note: { _like: '%a%' }, id: { _gt: 3 } }, columns: ['note', 'id'] };
    await this.#do('pg_create_select_permission', { source, table: 'mine', role: 'guest', permission });
    await this.#do('create_query_collection', {
      name: 'notebook',
      definition: { queries: [{ name: 'notes', query: 'query notes {\n  theirs { note }\n}' }] },
    });
    await this.#do('pg_create_event_trigger', {
      source,
      name: 'their_event',
      table: { schema: 'public', name: 'mine' },
      webhook: 'http://127.0.0.1:9/nobody',
      insert: { columns: '*' },
    });
    await this.#settle();
    this.#theirs = await this.#look();
  }

  /** Changes metadata until `rest` is called. */
  hammer(): void {
    this.#isTired = false;
    this.#restless = this.#goOn();
  }

  async rest(): Promise<void> {
    this.#isTired = true;
    await this.#restless;
    await this.#settle();
  }

  /** Returns the objects as they are now and as they were. */
  async compare(): Promise<{ readonly now: string; readonly before: string }> {
    return { now: await this.#look(), before: this.#theirs };
  }

  async #goOn(): Promise<void> {
    for (let turn = 0; !this.#isTired; turn++) {
      // The engine may be unreachable; the next change is tried regardless.
      await this.#fidget(turn).catch(() => {});
      await sleep(PAUSE_MS);
    }
  }

  async #fidget(turn: number): Promise<void> {
    const source = 'default';
    const table = 'restless';
    const acts = [
      () => this.#ask('pg_untrack_table', { source, table, cascade: true }),
      () => this.#ask('pg_track_table', { source, table }),
      () =>
        this.#ask('pg_set_table_customization', {
          source,
          table,
          configuration: { custom_name: `restless_${turn}` },
        }),
      () => this.#ask('add_query_to_collection', { collection_name: 'scraps', ...scrap(turn) }),
      () => this.#ask('drop_query_collection', { collection: 'scraps', cascade: true }),
      () => this.#ask('create_query_collection', { name: 'scraps', definition: { queries: [] } }),
    ];
    const { status } = await acts[turn % acts.length]!();
    if (status === 200) this.done++;
  }

  /** Brings the table and the collection that keep changing into their final form. */
  async #settle(): Promise<void> {
    await this.#ask('pg_untrack_table', { source: 'default', table: 'restless', cascade: true });
    await this.#ask('drop_query_collection', { collection: 'scraps', cascade: true });
    await this.#do('pg_track_table', { source: 'default', table: 'restless' });
    await this.#do('create_query_collection', { name: 'scraps', definition: { queries: [] } });
  }

  async #look(): Promise<string> {
    const document = (await this.#do('export_metadata', {})) as Document;
    const tables = document.sources.flatMap((source) => source.tables);
    return JSON.stringify({
      tables: tables.filter(({ table }) => THEIRS.includes(table.name)),
      collections: document.query_collections?.filter(({ name }) => THEIRS.includes(name)),
    });
  }

  async #do(type: string, args: unknown): Promise<unknown> {
    const { status, body } = await this.#ask(type, args);
    if (status !== 200) throw new Error(`${type}: ${status} ${JSON.stringify(body)}`);
    return body;
  }
}

function scrap(turn: number): object {
  return { query_name: `scrap${turn}`, query: `query scrap${turn} { theirs { id } }` };
}
