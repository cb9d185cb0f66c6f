/** Walks JSON bytes without building values: finds the members of objects, and validates the whole text. Text that is copied into a
 *  response has to be valid JSON, or the response would not be. Raises NotJson.
 *  Source: RFC 8259. Not here: the meaning of members (remote/answer.ts). */
import { isUtf8 } from 'node:buffer';

export class NotJson extends Error {}

/** Deeper values are rejected before the stack overflows. */
const MOST_LEVELS = 1000;

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const [PLUS, MINUS, POINT, ZERO, CAPITAL_E, SMALL_E] = [0x2b, 0x2d, 0x2e, 0x30, 0x45, 0x65];
const LITERALS = new Map([
  [0x74, 'true'],
  [0x66, 'false'],
  [0x6e, 'null'],
]);

/** A key as it was read, and its place. */
type Key = { readonly start: number; readonly length: number; readonly text: string };

/** A power of two. */
const KEY_SLOTS = 64;

export class JsonScanner {
  readonly bytes: Buffer;
  /** The position of the next byte. */
  at = 0;
  #level = 0;
  /** The keys that were read last, by a hash of their bytes. */
  readonly #keys: (Key | undefined)[] = [];

  /** Raises NotJson for bytes that are not UTF-8. */
  constructor(bytes: Buffer) {
    if (!isUtf8(bytes)) throw new NotJson('it is not UTF-8');
    this.bytes = bytes;
  }

  /** Returns the next byte that is not white space, or -1 at the end. */
  peek(): number {
    while (isSpace(this.bytes[this.at]!)) this.at++;
    return this.bytes[this.at] ?? -1;
  }

  /** Moves to the end of a value. */
  skip(): void {
    const byte = this.peek();
    if (byte === QUOTE) this.#string();
    else if (byte === OPEN_BRACE) this.#list(OPEN_BRACE, CLOSE_BRACE, this.#skipMember);
    else if (byte === OPEN_BRACKET) this.#list(OPEN_BRACKET, CLOSE_BRACKET, this.#skipItem);
    else if (LITERALS.has(byte)) this.#literal(LITERALS.get(byte)!);
    else this.#number();
  }

  readonly #skipItem = (): void => this.skip();
  /** Skips a member without decoding its key: in large skipped values, decoding keys would be most of the work. */
  readonly #skipMember = (): void => {
    if (this.peek() !== QUOTE) this.#refuse();
    this.#string();
    this.#expect(COLON);
    this.skip();
  };

  /** Reads an object. `read` is called with each key and must move past its value. */
  members(read: (key: string) => void): void {
    this.#list(OPEN_BRACE, CLOSE_BRACE, () => {
      if (this.peek() !== QUOTE) this.#refuse();
      const key = this.#key();
      this.#expect(COLON);
      read(key);
    });
  }

  items(read: () => void): void {
    this.#list(OPEN_BRACKET, CLOSE_BRACKET, read);
  }

  /** Returns the value of a string. */
  text(): string {
    const start = this.at;
    return this.#decoded(start, this.#string());
  }

  /** Returns the value of the string that ends here. */
  #decoded(start: number, isPlain: boolean): string {
    const written = this.bytes.toString('utf8', start, this.at);
    return isPlain ? written.slice(1, -1) : (JSON.parse(written) as string);
  }

  /** Returns a key. The objects of a list have the same keys, and decoding each again would be most of the work. */
  #key(): string {
    const { bytes } = this;
    const start = this.at;
    const isPlain = this.#string();
    const length = this.at - start;
    let hash = length;
    for (let i = start; i < this.at; i++) hash = (hash * 31 + bytes[i]!) | 0;
    const slot = hash & (KEY_SLOTS - 1);
    const known = this.#keys[slot];
    if (known?.length === length && this.#isSame(known.start, start, length)) return known.text;
    const text = this.#decoded(start, isPlain);
    this.#keys[slot] = { start, length, text };
    return text;
  }

  #isSame(one: number, other: number, length: number): boolean {
    const { bytes } = this;
    for (let i = 0; i < length; i++) if (bytes[one + i] !== bytes[other + i]) return false;
    return true;
  }

  /** Raises NotJson unless only white space is left. */
  end(): void {
    if (this.peek() !== -1) this.#refuse();
  }

  #list(open: number, close: number, read: () => void): void {
    if (++this.#level > MOST_LEVELS) throw new NotJson('it is nested too deeply');
    this.#expect(open);
    if (this.peek() === close) this.at++;
    else {
      for (;;) {
        read();
        const byte = this.peek();
        this.at++;
        if (byte === close) break;
        if (byte !== COMMA) this.#refuse();
      }
    }
    this.#level--;
  }

  #expect(byte: number): void {
    if (this.peek() !== byte) this.#refuse();
    this.at++;
  }

  /** Returns true for a string without escapes. */
  #string(): boolean {
    const { bytes } = this;
    let at = this.at + 1;
    let isPlain = true;
    for (; ; at++) {
      const byte = bytes[at]!;
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) {
        isPlain = false;
        at += this.#escape(at + 1);
      } else if (!(byte >= 0x20)) this.#refuse();
    }
    this.at = at + 1;
    return isPlain;
  }

  /** Returns the length of an escape without its backslash. */
  #escape(at: number): number {
    const text = this.bytes.toString('latin1', at, at + 5);
    const match = /^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(text);
    return match ? match[0].length : this.#refuse();
  }

  #literal(word: string): void {
    for (let i = 0; i < word.length; i++) {
      if (this.bytes[this.at + i] !== word.charCodeAt(i)) this.#refuse();
    }
    this.at += word.length;
  }

  /** Without a regular expression, which would need a string of each number. RFC 8259, 6. */
  #number(): void {
    const { bytes } = this;
    let at = bytes[this.at] === MINUS ? this.at + 1 : this.at;
    at = bytes[at] === ZERO ? at + 1 : this.#digits(at);
    if (bytes[at] === POINT) at = this.#digits(at + 1);
    if (bytes[at] === SMALL_E || bytes[at] === CAPITAL_E) {
      const isSigned = bytes[at + 1] === PLUS || bytes[at + 1] === MINUS;
      at = this.#digits(isSigned ? at + 2 : at + 1);
    }
    this.at = at;
  }

  /** Returns the position after one or more digits. */
  #digits(start: number): number {
    let at = start;
    while (isDigit(this.bytes[at]!)) at++;
    return at > start ? at : this.#refuse();
  }

  #refuse(): never {
    throw new NotJson(`what stands at byte ${this.at} does not belong there`);
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= 0x39;
}
