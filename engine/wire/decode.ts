/** The bytes a socket brings, in pieces of any size → whole backend messages → rows and failures.
 *  A message that lies in one piece is read where it lies; one that does not is gathered in a buffer of its final size, so
 *  that a row of 16 MB is copied once. PostgreSQL manual, "Message Formats".
 *  Not here: which statement a message belongs to (connection.ts). */
import pg from 'pg';
import type { Column } from './statement.ts';

/** A message's type, and where its body stands. The bytes may be kept: nobody writes to them again. */
export type Receive = (type: number, bytes: Buffer, start: number, end: number) => void;

/** Type and length. */
const HEADER = 5;
/** Postgres allocates no more for one message: MaxAllocSize. */
const LONGEST = 0x3fffffff + HEADER;

const NOTHING: Buffer = Buffer.alloc(0);

export class Decoder {
  readonly #receive: Receive;
  /** The beginning of a header. */
  #before = NOTHING;
  /** A message in the making, and how much of it has come. */
  #message: Buffer | null = null;
  #have = 0;

  constructor(receive: Receive) {
    this.#receive = receive;
  }

  /** Raises when the bytes are no protocol; nothing after can be read then. */
  push(piece: Buffer): void {
    let bytes = piece;
    if (this.#before.length > 0) {
      bytes = Buffer.concat([this.#before, piece]);
      this.#before = NOTHING;
    }
    let at = this.#message ? this.#complete(this.#message, bytes) : 0;
    while (bytes.length - at >= HEADER) {
      const end = at + 1 + lengthAt(bytes, at + 1);
      if (end > bytes.length) {
        this.#begin(bytes.subarray(at), end - at);
        return;
      }
      this.#receive(bytes[at]!, bytes, at + HEADER, end);
      at = end;
    }
    if (at < bytes.length) this.#before = bytes.subarray(at);
  }

  #begin(first: Buffer, size: number): void {
    this.#message = Buffer.allocUnsafeSlow(size);
    this.#have = first.copy(this.#message);
  }

  /** How much of `bytes` belonged to the message in the making. */
  #complete(message: Buffer, bytes: Buffer): number {
    const copied = bytes.copy(message, this.#have);
    this.#have += copied;
    if (this.#have === message.length) {
      this.#message = null;
      this.#receive(message[0]!, message, HEADER, message.length);
    }
    return copied;
  }
}

function lengthAt(bytes: Buffer, at: number): number {
  const length = bytes.readInt32BE(at);
  if (length < 4 || length > LONGEST) throw new Error(`no message is ${length} bytes long`);
  return length;
}

/** Longer columns stay bytes: they are only passed on. To decode, join and encode them again costs nothing more at 4 kB,
 *  the half of a response's time at 20 kB and nine tenths at 450 kB. Shorter ones go out as text with the headers. */
export const MOST_TEXT = 8192;

/** DataRow: a count, then length and bytes of each column. */
export function rowAt(bytes: Buffer, start: number): Column[] {
  const row: Column[] = [];
  let at = start + 2;
  for (let rest = bytes.readUInt16BE(start); rest > 0; rest--) {
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length < 0) {
      row.push(null);
      continue;
    }
    const end = at + length;
    row.push(length > MOST_TEXT ? bytes.subarray(at, end) : bytes.toString('utf8', at, end));
    at = end;
  }
  return row;
}

/** Field codes of ErrorResponse → names. PostgreSQL manual, "Error and Notice Message Fields". */
const FAILURE_FIELDS = {
  S: 'severity',
  C: 'code',
  D: 'detail',
  H: 'hint',
  P: 'position',
  p: 'internalPosition',
  q: 'internalQuery',
  W: 'where',
  s: 'schema',
  t: 'table',
  c: 'column',
  d: 'dataType',
  n: 'constraint',
  F: 'file',
  L: 'line',
  R: 'routine',
} as const satisfies Readonly<Record<string, keyof pg.DatabaseError>>;

/** ErrorResponse, as the error the driver raises for it: whoever reads failures need not know which way they came. */
export function failureAt(bytes: Buffer, start: number, end: number): pg.DatabaseError {
  const fields = bytes
    .toString('utf8', start, end)
    .split('\0')
    .filter((field) => field !== '');
  const message = fields.find((field) => field.startsWith('M'))?.slice(1) ?? 'unknown failure';
  const failure = new pg.DatabaseError(message, end - start, 'error');
  for (const field of fields) {
    const name = FAILURE_FIELDS[field[0] as keyof typeof FAILURE_FIELDS];
    if (name !== undefined) failure[name] = field.slice(1);
  }
  return failure;
}
