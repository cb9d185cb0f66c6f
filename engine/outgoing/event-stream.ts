/** Server-sent events out of the bytes of a response, as they come: an event is given out when the blank line after it is there.
 *  Its data stays bytes. Comments, ids and retry times are skipped: whoever lost a stream begins anew.
 *  Not here: the request (http-client.ts), what events mean (remote/event-stream.ts). Pure.
 *  WHATWG HTML, "Server-sent events", 9.2.6. */

export type ServerEvent = { readonly type: string; readonly data: Buffer };

const [LF, CR] = [10, 13];

export class EventStream {
  /** Of a line whose end has not come. */
  #held: Buffer[] = [];
  #type = '';
  #data: Buffer[] = [];
  /** The last line ended with a CR that may be half of a CRLF. */
  #mayBeHalf = false;

  /** Of what waits for the rest of its event. */
  get heldBytes(): number {
    return [...this.#held, ...this.#data].reduce((sum, { length }) => sum + length, 0);
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
    const bytes = this.#mayBeHalf && chunk[0] === LF ? chunk.subarray(1) : chunk;
    const end = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1;
    if (bytes.length > 0) this.#mayBeHalf = end === bytes.length && bytes[end - 1] === CR;
    if (end === 0) {
      this.#held.push(bytes);
      return [];
    }
    const whole = Buffer.concat([...this.#held, bytes.subarray(0, end)]);
    this.#held = [bytes.subarray(end)];
    return linesIn(whole);
  }

  #field(line: Buffer): void {
    const colon = line.indexOf(':');
    const name = line.toString('utf8', 0, colon < 0 ? line.length : colon);
    const start = line[colon + 1] === SPACE ? colon + 2 : colon + 1;
    const value = colon < 0 ? NOTHING : line.subarray(start);
    if (name === 'data') this.#data.push(value);
    if (name === 'event') this.#type = value.toString();
  }

  #event(): ServerEvent {
    const data = Buffer.concat(this.#data.flatMap((line, i) => (i === 0 ? [line] : [NEXT_LINE, line])));
    const event = { type: this.#type || 'message', data };
    this.#type = '';
    this.#data = [];
    return event;
  }
}

const SPACE = 32;
const NOTHING = Buffer.alloc(0);
const NEXT_LINE = Buffer.from('\n');

/** Each ends with CR, LF or both. */
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
