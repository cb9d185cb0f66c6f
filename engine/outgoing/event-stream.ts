/** Server-sent events from the bytes of a response: an event is returned when the blank line after it has arrived.
 *  Its data stays bytes. Comments, ids and retry times are ignored, because a lost stream starts again. Pure.
 *  Not here: the request (http-client.ts), what events mean (remote/event-stream.ts). WHATWG HTML, "Server-sent
 *  events", 9.2.6. */

export type ServerEvent = { readonly type: string; readonly data: Buffer };

const [LF, CR] = [10, 13];

export class EventStream {
  /** The pieces of an incomplete line. */
  #incompleteLine: Buffer[] = [];
  #type = '';
  #data: Buffer[] = [];
  /** True when the last line ended with a CR that may be half of a CRLF. */
  #mayEndInHalfCrlf = false;

  /** The memory of the pieces, in bytes. */
  #incompleteBytes = 0;
  #dataBytes = 0;

  /** The memory of an incomplete event, in bytes. */
  get heldBytes(): number {
    return this.#incompleteBytes + this.#dataBytes;
  }

  read(chunk: Buffer): readonly ServerEvent[] {
    const events: ServerEvent[] = [];
    for (const line of this.#lines(chunk)) {
      if (line.length > 0) this.#field(line);
      else if (this.#type !== '' || this.#data.length > 0) events.push(this.#event());
    }
    return events;
  }

  #lines(chunk: Buffer): readonly Buffer[] {
    const bytes = this.#mayEndInHalfCrlf && chunk[0] === LF ? chunk.subarray(1) : chunk;
    const end = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1;
    if (bytes.length > 0) this.#mayEndInHalfCrlf = end === bytes.length && bytes[end - 1] === CR;
    if (bytes.length === 0) return [];
    if (end === 0) {
      this.#incompleteLine.push(bytes);
      this.#incompleteBytes += memoryOf(bytes);
      return [];
    }
    const whole = Buffer.concat([...this.#incompleteLine, bytes.subarray(0, end)]);
    const rest = bytes.subarray(end);
    this.#incompleteLine = rest.length === 0 ? [] : [rest];
    this.#incompleteBytes = rest.length === 0 ? 0 : memoryOf(rest);
    return linesIn(whole);
  }

  #field(line: Buffer): void {
    const colon = line.indexOf(':');
    const name = line.toString('utf8', 0, colon < 0 ? line.length : colon);
    const start = line[colon + 1] === SPACE ? colon + 2 : colon + 1;
    const value = colon < 0 ? NOTHING : line.subarray(start);
    if (name === 'data') {
      this.#data.push(value);
      this.#dataBytes += memoryOf(value);
    }
    if (name === 'event') this.#type = value.toString();
  }

  #event(): ServerEvent {
    const data = Buffer.concat(this.#data.flatMap((line, i) => (i === 0 ? [line] : [NEXT_LINE, line])));
    const event = { type: this.#type || 'message', data };
    this.#type = '';
    this.#data = [];
    this.#dataBytes = 0;
    return event;
  }
}

/** The memory of a piece beside its bytes. */
const PIECE_BYTES = 100;
const memoryOf = (piece: Buffer): number => PIECE_BYTES + piece.length;
const SPACE = 32;
const NOTHING = Buffer.alloc(0);
const NEXT_LINE = Buffer.from('\n');

/** Splits lines that end with CR, LF or both. */
function linesIn(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const lf = bytes.indexOf(LF, start);
    const cr = bytes.subarray(start, lf < 0 ? bytes.length : lf).indexOf(CR);
    const end = cr < 0 ? lf : start + cr;
    lines.push(bytes.subarray(start, end));
    start = bytes[end] === CR && bytes[end + 1] === LF ? end + 2 : end + 1;
  }
  return lines;
}
