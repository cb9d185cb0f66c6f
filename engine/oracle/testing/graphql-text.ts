/** Argument values → the text of a GraphQL request and its variables. A whole argument, or a scalar in it, may become a
 *  variable instead of a literal, as the choices say. Not here: what is asked for (request.ts). */
import type { Choices } from './choices.ts';
import type { Names } from './names.ts';

/** A scalar (or list of scalars) that may be sent as a variable of that GraphQL type; null: as a literal only. */
export class Typed {
  readonly json: unknown;
  readonly type: string | null;
  constructor(json: unknown, type: string | null) {
    this.json = json;
    this.type = type;
  }
  toJSON(): unknown {
    return this.json instanceof Word ? this.json.word : this.json;
  }
}

/** A value of an enum, which has no quotes in a literal. */
export class Word {
  readonly word: string;
  constructor(word: string) {
    this.word = word;
  }
  toJSON(): string {
    return this.word;
  }
}

export type Argument = {
  readonly name: string;
  /** GraphQL type; null: as a literal only. */
  readonly type: string | null;
  readonly value: unknown;
};

/** Writes arguments and remembers the variables it made of them. */
export class Writer {
  readonly variables: Record<string, unknown> = {};
  readonly #types: string[] = [];
  readonly #choices: Choices;
  readonly names: Names;

  constructor(choices: Choices, names: Names) {
    this.#choices = choices;
    this.names = names;
  }

  /** `($v0: Int)`, or nothing. */
  get declarations(): string {
    return this.#types.length === 0 ? '' : `(${this.#types.join(', ')})`;
  }

  /** `(where: {…}, limit: $v0)`, or nothing. */
  arguments(given: readonly Argument[]): string {
    if (given.length === 0) return '';
    const parts = given.map(({ name, type, value }) => {
      const isVariable = this.#choices.chance(25) && type !== null;
      return `${name}: ${isVariable ? this.#variable(value, type) : this.#literal(value)}`;
    });
    return `(${parts.join(', ')})`;
  }

  #variable(value: unknown, type: string): string {
    const name = `v${this.#types.length}`;
    this.#types.push(`$${name}: ${type}`);
    this.variables[name] = JSON.parse(JSON.stringify(value));
    return `$${name}`;
  }

  #literal(value: unknown): string {
    if (value instanceof Word) return value.word;
    if (value instanceof Typed) {
      const isVariable = value.type !== null && this.#choices.chance(25);
      return isVariable ? this.#variable(value.json, `${value.type}!`) : this.#literal(value.json);
    }
    if (Array.isArray(value)) return `[${value.map((item) => this.#literal(item)).join(', ')}]`;
    if (typeof value === 'object' && value !== null) {
      return `{${Object.entries(value).map(([name, item]) => `${name}: ${this.#literal(item)}`)}}`;
    }
    return JSON.stringify(value);
  }
}
