/** Bytes of a socket, in pieces of any size → whole backend messages → rows and errors. A message within one piece is
 *  read in place, and not kept. Any other message is collected in a buffer of its final size, so that a row of 16 MB is copied
 *  once; before that, `accepts` decides whether it is collected or skipped. PostgreSQL manual, "Message Formats".
 *  Not here: which statement a message belongs to (connection.ts). */
import pg from 'pg';
import type { Column } from './statement.ts';

/** Receives a message: its type, and the position of its body. The bytes are valid until it returns; if `isKept`, always. */
type ReceiveMessage = (type: number, bytes: Buffer, start: number, end: number, isKept: boolean) => void;

/** Decides, by type and size, whether a message that has to be collected is kept. A message that is not kept is not received. */
export type AcceptMessage = (type: number, size: number) => boolean;

/** The size of type and length. */
const HEADER = 5;
/** Postgres allocates at most this much for one message: MaxAllocSize. */
const MAX_MESSAGE = 0x3fffffff + HEADER;

const NOTHING: Buffer = Buffer.alloc(0);

export class Decoder {
  readonly #receive: ReceiveMessage;
  readonly #accepts: AcceptMessage;
  /** The beginning of an incomplete header. */
  #before = NOTHING;
  /** An incomplete message, and the number of its bytes that have arrived. */
  #message: Buffer | null = null;
  #have = 0;
  /** The bytes that are still to come of a message that is skipped. */
  #skipped = 0;

  constructor(receive: ReceiveMessage, accepts: AcceptMessage = () => true) {
    this.#receive = receive;
    this.#accepts = accepts;
  }

  /** Decodes a piece. Raises when the bytes do not follow the protocol; the connection is unusable then. */
  push(piece: Buffer): void {
    let bytes = piece;
    if (this.#before.length > 0) {
      bytes = Buffer.concat([this.#before, piece]);
      this.#before = NOTHING;
    }
    let at = this.#message ? this.#complete(this.#message, bytes) : this.#skip(bytes);
    while (bytes.length - at >= HEADER) {
      const end = at + 1 + lengthAt(bytes, at + 1);
      if (end > bytes.length) {
        this.#begin(bytes.subarray(at), end - at);
        return;
      }
      this.#receive(bytes[at]!, bytes, at + HEADER, end, false);
      at = end;
    }
    if (at < bytes.length) this.#before = Buffer.from(bytes.subarray(at));
  }

  #begin(first: Buffer, size: number): void {
    if (!this.#accepts(first[0]!, size)) {
      this.#skipped = size - first.length;
      return;
    }
    this.#message = Buffer.allocUnsafeSlow(size);
    this.#have = first.copy(this.#message);
  }

  /** Returns the number of bytes that belonged to a skipped message. */
  #skip(bytes: Buffer): number {
    const skipped = Math.min(this.#skipped, bytes.length);
    this.#skipped -= skipped;
    return skipped;
  }

  /** Returns the number of bytes that belonged to the incomplete message. */
  #complete(message: Buffer, bytes: Buffer): number {
    const copied = bytes.copy(message, this.#have);
    this.#have += copied;
    if (this.#have === message.length) {
      this.#message = null;
      this.#receive(message[0]!, message, HEADER, message.length, true);
    }
    return copied;
  }
}

function lengthAt(bytes: Buffer, at: number): number {
  const length = bytes.readInt32BE(at);
  if (length < 4 || length > MAX_MESSAGE) throw new Error(`no message is ${length} bytes long`);
  return length;
}

/** Longer columns stay bytes, because they are only passed on. Decoding, joining and encoding them again makes garbage: a tenth of the
 *  engine's time for a response of 5 kB, half of it at 20 kB and nine tenths at 450 kB. Shorter columns are sent as text together with
 *  the headers. */
export const MOST_TEXT = 2048;

/** Reads a DataRow: a count, then length and bytes of each column. Long columns are parts of the bytes if these are kept. */
export function rowAt(bytes: Buffer, start: number, isKept: boolean): Column[] {
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
    if (length <= MOST_TEXT) row.push(bytes.toString('utf8', at, end));
    else row.push(isKept ? bytes.subarray(at, end) : Buffer.from(bytes.subarray(at, end)));
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

const MISSING_ROWS = Buffer.from('\0MQuery could not find the intermediate result file ');

/** True for the warning with which Citus continues although it has lost the rows of a CTE. The rows of the statement are wrong then. */
export function saysRowsAreMissing(bytes: Buffer, start: number, end: number): boolean {
  return bytes.subarray(start, end).includes(MISSING_ROWS);
}

/** Reads an ErrorResponse into the error class of the driver, so that callers see one kind of error. */
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

/** Returns the failure in place of an error that is too long to be kept. */
export function tooLong(bytes: number): pg.DatabaseError {
  const failure = new pg.DatabaseError('the error of the database is too long', bytes, 'error');
  failure.code = PROGRAM_LIMIT_EXCEEDED;
  return failure;
}

const PROGRAM_LIMIT_EXCEEDED = '54000';
