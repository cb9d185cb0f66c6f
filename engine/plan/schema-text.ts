/** A text about a role's schema in the response of a plan: introspection, or the SDL of a subgraph. The plan holds what writes it; it is
 *  written in steps when the plan runs, because it takes seconds for the administrator of a large document.
 *  Not here: the writers (introspection.ts, federation.ts), when the steps run and which texts are kept (execute/schema-text.ts). */
import { fail, type PathStep } from '../errors/engine-error.ts';
import type { Steps } from '../metadata/steps.ts';
import type { Model } from '../resolve/model/model.ts';
import type { RoleSchema } from '../schema/role-schemas.ts';

/** The length from which a text is bytes, which need no encoding when they are sent. */
const LEAST_BYTES = 64_000;
/** The number of characters that are encoded at once. */
const PIECE = 64_000;

/** The fields are private, so that a plan prints without its schema. */
export class SchemaText {
  readonly #role: RoleSchema;
  readonly #write: (output: TextOutput) => Steps<void>;
  /** All texts of the request, which are limited together. */
  readonly #texts: ReadonlyMap<string, SchemaText>;
  /** The number of characters that were written; 0 before. */
  #length = 0;

  constructor(
    role: RoleSchema,
    texts: ReadonlyMap<string, SchemaText>,
    write: (output: TextOutput) => Steps<void>,
  ) {
    this.#role = role;
    this.#texts = texts;
    this.#write = write;
  }

  get model(): Model {
    return this.#role.model;
  }

  /** Returns the JSON text; long text as bytes. */
  *steps(): Steps<string | Buffer> {
    let others = 0;
    for (const text of this.#texts.values()) if (text !== this) others += text.#length;
    const output = new TextOutput(others);
    yield* this.#write(output);
    this.#length = output.length;
    return yield* output.finish();
  }
}

/** Text that is encoded piece by piece. */
export class TextOutput {
  /** The number of characters of the other texts. */
  readonly #others: number;
  #most = Number.POSITIVE_INFINITY;
  /** The path of errors. */
  #path: readonly PathStep[] = [];
  #length = 0;
  #text = '';
  #bytes = 0;
  readonly #pieces: Buffer[] = [];

  constructor(others = 0) {
    this.#others = others;
  }

  /** The number of characters that were added. */
  get length(): number {
    return this.#length;
  }

  /** Sets the limit of characters of this text and the others together, and the path of the field that has the text. */
  limit(most: number, path: readonly PathStep[]): void {
    this.#most = most;
    this.#path = path;
  }

  /** Adds text. Raises `introspectionTooLarge`. */
  add(text: string): void {
    this.#length += text.length;
    if (this.#others + this.#length > this.#most) {
      fail('introspectionTooLarge', { most: this.#most }, { path: this.#path });
    }
    this.#text += text;
    if (this.#text.length >= PIECE) this.#encode();
  }

  /** Returns all of it. */
  *finish(): Steps<string | Buffer> {
    if (this.#bytes + this.#text.length < LEAST_BYTES) return this.#text;
    this.#encode();
    const whole = Buffer.allocUnsafe(this.#bytes);
    let end = 0;
    for (const piece of this.#pieces) {
      end += piece.copy(whole, end);
      yield;
    }
    return whole;
  }

  #encode(): void {
    const piece = Buffer.from(this.#text);
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    this.#text = '';
  }
}
