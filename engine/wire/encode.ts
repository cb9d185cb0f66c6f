/** Statements → frontend messages of PostgreSQL's extended query protocol, collected until they are sent: one write
 *  for Parse, Bind, Execute and Sync, and for several statements of one turn. A value is sent as length and bytes,
 *  never as part of a statement. PostgreSQL manual, "Message Formats".
 *  Not here: when messages are sent (connection.ts). */
import type { NamedStatement, Value } from './statement.ts';

const FIRST_SIZE = 4096;
/** A larger buffer is replaced after it has been sent. */
const MAX_KEPT = 1 << 20;

/** Execute of the unnamed portal without a row limit, then Sync. */
const EXECUTE_SYNC = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4]);
const EXECUTE = EXECUTE_SYNC.subarray(0, 10);

export class Outbox {
  #bytes = Buffer.allocUnsafeSlow(FIRST_SIZE);
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Returns everything written since the last call, in order. */
  take(): Buffer {
    const taken = Buffer.allocUnsafe(this.#size);
    this.#bytes.copy(taken, 0, 0, this.#size);
    this.#size = 0;
    if (this.#bytes.length > MAX_KEPT) this.#bytes = Buffer.allocUnsafeSlow(FIRST_SIZE);
    return taken;
  }

  /** Writes Close before Parse: closing a name that does not exist is allowed, parsing one that exists is an error. */
  prepare({ name, text }: NamedStatement): void {
    if (name !== '') this.#message(0x43, () => this.#terminated(`S${name}`));
    this.#message(0x50, () => {
      this.#terminated(name);
      this.#terminated(text);
      this.#int16(0);
    });
  }

  close(name: string): void {
    this.#message(0x43, () => this.#terminated(`S${name}`));
  }

  /** Writes a statement that runs in the transaction of the next one. */
  precede(text: string): void {
    this.prepare({ name: '', text });
    this.#execute('', [], EXECUTE);
  }

  /** Writes Bind to the unnamed portal, Execute and Sync. */
  run(name: string, values: readonly Value[]): void {
    this.#execute(name, values, EXECUTE_SYNC);
  }

  #execute(name: string, values: readonly Value[], execute: Buffer): void {
    this.#reserve(16);
    const start = this.#begin(0x42);
    this.#bytes[this.#size++] = 0;
    this.#terminated(name);
    this.#reserve(4);
    this.#int16(0);
    this.#int16(values.length);
    for (const value of values) this.#value(value);
    this.#reserve(2 + execute.length);
    this.#int16(0);
    this.#finish(start);
    this.#bytes.set(execute, this.#size);
    this.#size += execute.length;
  }

  /** Writes a query of the simple protocol, for BEGIN, COMMIT and ROLLBACK. */
  query(text: string): void {
    this.#message(0x51, () => this.#terminated(text));
  }

  #message(type: number, body: () => void): void {
    this.#reserve(16);
    const start = this.#begin(type);
    body();
    this.#finish(start);
  }

  /** Writes the type of a message and returns the position of its length. */
  #begin(type: number): number {
    this.#bytes[this.#size] = type;
    this.#size += 5;
    return this.#size - 4;
  }

  #finish(start: number): void {
    this.#bytes.writeInt32BE(this.#size - start, start);
  }

  #value(value: Value): void {
    const flat = Array.isArray(value) ? arrayLiteral(value) : (value as string | Buffer | null);
    const most = flat === null ? 0 : typeof flat === 'string' ? mostBytesOf(flat) : flat.length;
    this.#reserve(4 + most);
    const start = this.#size;
    this.#size += 4;
    if (flat === null) {
      this.#bytes.writeInt32BE(-1, start);
      return;
    }
    this.#size +=
      typeof flat === 'string' ? this.#bytes.write(flat, start + 4) : flat.copy(this.#bytes, start + 4);
    this.#bytes.writeInt32BE(this.#size - start - 4, start);
  }

  #terminated(text: string): void {
    this.#reserve(text.length * 3 + 3);
    this.#size += this.#bytes.write(text, this.#size);
    this.#bytes[this.#size++] = 0;
  }

  #int16(value: number): void {
    this.#reserve(2);
    this.#bytes[this.#size++] = value >> 8;
    this.#bytes[this.#size++] = value & 0xff;
  }

  #reserve(size: number): void {
    const needed = this.#size + size;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#size);
    this.#bytes = larger;
  }
}

/** Returns the bytes of a text, or of a short one as many as they may be, which takes less time. */
function mostBytesOf(text: string): number {
  return text.length < FIRST_SIZE ? text.length * 3 : Buffer.byteLength(text);
}

/** Returns an array literal: `{"a","b",NULL}`. Every element is quoted, so that none is read as syntax. PostgreSQL
 *  manual, "Array Value Input". */
export function arrayLiteral(values: readonly Value[], delimiter: ',' | ';' = ','): string {
  if (values.length > 0 && values.every(isPlain)) return `{"${values.join(`"${delimiter}"`)}"}`;
  let text = '{';
  for (const value of values) {
    if (text.length > 1) text += delimiter;
    if (value === null) text += 'NULL';
    else if (Array.isArray(value)) text += arrayLiteral(value, delimiter);
    else text += `"${escaped(String(value))}"`;
  }
  return `${text}}`;
}

/** True for a text with nothing to escape. */
function isPlain(value: Value): boolean {
  return typeof value === 'string' && !value.includes('"') && !value.includes('\\');
}

function escaped(text: string): string {
  return isPlain(text) ? text : text.replace(/[\\"]/g, '\\$&');
}
