/** The named values and secret files that metadata refers to, as this replica knows them now. State: the values that were loaded last.
 *  In: sealed rows of the database, keys. Out: the text that a reference stands for, or why there is none.
 *  A text never leaves but to the code that sends it or connects with it: no method lists texts.
 *  Not here: reading and writing the rows (store/values.ts), when they are read (state/state.ts), which values an object may name
 *  (resolve/environment-variables.ts). Reference: docs/adr/0017-named-values.md. */
import { FILE_AGE_MS, parseReference } from '../metadata/references.ts';
import type { ReferenceReader } from '../resolve/environment-variables.ts';
import { unseal, type ValueKey } from './seal.ts';
import { isBelow, secretFile } from './secret-file.ts';

/** A named value as it is stored. `sealed` is encrypted under the key with the ID. */
export type SealedValue = {
  readonly name: string;
  readonly version: number;
  readonly keyId: string;
  readonly sealed: Buffer;
};

/** `usable`: the value is known. `key_missing`: it is encrypted under a key that the engine does not have. `damaged`: the engine has the
 *  key, and the value does not open with it. */
export type ValueStatus = 'usable' | 'key_missing' | 'damaged';

type KnownValue = {
  readonly version: number;
  readonly keyId: string;
  readonly status: ValueStatus;
  readonly text: string | undefined;
};

const MOST_FILES = 1000;
/** The most files that are tried again, because that happens several times a second. */
const MOST_UNREADABLE = 200;

export class NamedValues implements ReferenceReader {
  readonly #keys: () => readonly ValueKey[];
  readonly #folders: readonly string[];
  #values: ReadonlyMap<string, KnownValue> = new Map();
  #identity = '';
  #version = 0;
  readonly #files = new Map<string, { readonly text: string | null; readonly untilMs: number }>();
  /** The paths of files that metadata names and that could not be read. */
  readonly #unreadable = new Set<string>();
  /** How often such files have become readable. */
  #appearances = 0;

  /** `folders` are those of --dynamic-secrets-path. */
  constructor(keys: () => readonly ValueKey[], folders: readonly string[] = []) {
    this.#keys = keys;
    this.#folders = folders;
  }

  /** The version of the stored values that were loaded last; 0 before the first load. */
  get version(): number {
    return this.#version;
  }

  /** A text that changes when another set of names becomes readable. */
  get identity(): string {
    return `${this.#appearances}\n${this.#identity}`;
  }

  /** The keys now: the first one encrypts. */
  get keys(): readonly ValueKey[] {
    return this.#keys();
  }

  /** Replaces the values by the rows. Returns the references whose text may have changed. */
  load(version: number, rows: readonly SealedValue[]): ReadonlySet<string> {
    const keys = new Map(this.#keys().map((key) => [key.id, key]));
    const next = new Map(rows.map((row) => [row.name, this.#opened(row, keys.get(row.keyId))]));
    const names = new Set([...this.#values.keys(), ...next.keys()]);
    const changed = [...names].filter((name) => {
      const [before, after] = [this.#values.get(name), next.get(name)];
      return before?.version !== after?.version || before?.status !== after?.status;
    });
    this.#values = next;
    this.#version = version;
    const usable = [...next].filter(([, { status }]) => status === 'usable').map(([name]) => name);
    this.#identity = usable.sort().join('\n');
    return new Set(changed.map((name) => `value:${name}`));
  }

  /** A value that did not change is not decrypted again. */
  #opened({ name, version, keyId, sealed }: SealedValue, key: ValueKey | undefined): KnownValue {
    const known = this.#values.get(name);
    if (known?.version === version && known.status === 'usable') return { ...known, keyId };
    if (key === undefined) return { version, keyId, status: 'key_missing', text: undefined };
    const text = unseal(name, sealed, key);
    return { version, keyId, status: text === undefined ? 'damaged' : 'usable', text };
  }

  read(reference: string): string | undefined {
    const { from, name } = parseReference(reference);
    if (from === 'value') return this.#values.get(name)?.text;
    return from === 'file' ? (this.#contentOf(name) ?? undefined) : undefined;
  }

  problemOf(reference: string): string | null {
    const { from, name } = parseReference(reference);
    if (from === 'value') return this.#problemOfValue(name);
    if (from !== 'file') return null;
    const file = `file ${JSON.stringify(name)}`;
    if (!isBelow(this.#folders, name)) return `${file} is not below a folder of --dynamic-secrets-path`;
    if (this.#contentOf(name) !== null) return null;
    if (this.#unreadable.size < MOST_UNREADABLE) this.#unreadable.add(name);
    return `${file} cannot be read`;
  }

  /** Tries the files again that could not be read: one may have been created, or was being written. Returns the references of those that
   *  can be read now. */
  retryFiles(): ReadonlySet<string> {
    const found = [...this.#unreadable].filter((path) => this.#contentOf(path) !== null);
    for (const path of found) this.#unreadable.delete(path);
    if (found.length > 0) this.#appearances++;
    return new Set(found.map((path) => `file:${path}`));
  }

  #problemOfValue(name: string): string | null {
    const value = `named value ${JSON.stringify(name)}`;
    const known = this.#values.get(name);
    if (!known && this.#keys().length === 0)
      return `${value} is not set, and the engine has no key for named values (--values-key)`;
    if (!known) return `${value} is not set`;
    if (known.status === 'usable') return null;
    if (known.status === 'damaged') return `${value} is damaged; set it again`;
    return `${value} is encrypted under key ${known.keyId}, which --values-key does not have; add the key or set the value again`;
  }

  /** Lists the names, without values. */
  list(): readonly {
    readonly name: string;
    readonly version: number;
    readonly keyId: string;
    readonly status: ValueStatus;
  }[] {
    return [...this.#values].map(([name, { version, keyId, status }]) => ({ name, version, keyId, status }));
  }

  /** The number of values with each status. */
  counts(): Readonly<Record<ValueStatus, number>> {
    const counts = { usable: 0, key_missing: 0, damaged: 0 };
    for (const { status } of this.#values.values()) counts[status]++;
    return counts;
  }

  #contentOf(path: string): string | null {
    const nowMs = performance.now();
    const known = this.#files.get(path);
    if (known && known.untilMs > nowMs) return known.text;
    const content = isBelow(this.#folders, path) ? secretFile(path, this.#folders) : null;
    const text = content === null || content.trim() === '' ? null : content.replace(/\r?\n$/, '');
    if (this.#files.size >= MOST_FILES) this.#files.clear();
    this.#files.set(path, { text, untilMs: nowMs + FILE_AGE_MS });
    return text;
  }
}
