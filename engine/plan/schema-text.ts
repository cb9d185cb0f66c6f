/** A text about a role's schema in the response of a plan: introspection, or the SDL of a subgraph. The plan holds what writes it; it is
 *  written in steps when the plan runs, because it takes seconds for the administrator of a large document.
 *  Not here: the writers (introspection.ts, federation.ts), when the steps run and which texts are kept (execute/schema-text.ts). */
import type { Steps } from '../metadata/steps.ts';
import type { Model } from '../resolve/types.ts';
import type { RoleSchema } from '../schema/role-schemas.ts';

/** The length from which a text is bytes, which need no encoding when they are sent. */
const LEAST_BYTES = 64_000;
/** The number of characters that are encoded at once. */
const PIECE = 64_000;

/** The fields are private, so that a plan prints without its schema. */
export class SchemaText {
  readonly #role: RoleSchema;
  readonly #write: (output: TextOutput) => Steps<void>;

  constructor(role: RoleSchema, write: (output: TextOutput) => Steps<void>) {
    this.#role = role;
    this.#write = write;
  }

  get model(): Model {
    return this.#role.model;
  }

  /** Returns the JSON text; long text as bytes. */
  *steps(): Steps<string | Buffer> {
    const output = new TextOutput();
    yield* this.#write(output);
    return yield* output.finish();
  }
}

/** Text that is encoded piece by piece. */
export class TextOutput {
  #text = '';
  #bytes = 0;
  readonly #pieces: Buffer[] = [];

  add(text: string): void {
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
