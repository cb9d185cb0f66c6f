/** How GraphQL calls what is in a world, from the words of the guide on names; shares nothing with engine/resolve.
 *  In: names in Postgres, and those chosen by hand (`called`). Out: names in GraphQL. Source: docs/guides/naming.md. */
import type { Column, Relationship, Table } from './world-types.ts';

export type Convention = 'default' | 'graphql-default';
type Called = Pick<Table, 'name' | 'called'>;

export class Names {
  readonly convention: Convention;

  constructor(convention: Convention) {
    this.convention = convention;
  }

  /** A field, an argument or an operator that everything has: `order_by`, `orderBy`. */
  word(word: string): string {
    return this.#isDefault ? word : camel(word);
  }

  /** A value of an enum that is nobody's name. */
  value(word: string): string {
    return this.#isDefault ? word : word.toUpperCase();
  }

  column({ name, called }: Column): string {
    return called ?? this.word(name);
  }

  /** `author`, `insert_author_one`. */
  root({ name, called }: Called, before = '', after = ''): string {
    if (this.#isDefault) return [before, called ?? name, after].filter((part) => part !== '').join('_');
    const own = called ?? camel(name);
    return (before === '' ? own : before + upperFirst(own)) + upperFirst(camel(after));
  }

  /** `author`, `author_bool_exp`. */
  type({ name, called }: Called, suffix = ''): string {
    if (this.#isDefault) return [called ?? name, suffix].filter((part) => part !== '').join('_');
    return (called ?? upperFirst(camel(name))) + upperFirst(camel(suffix));
  }

  /** A relationship's own name is kept. */
  aggregate({ name }: Relationship): string {
    return this.#isDefault ? `${name}_aggregate` : `${name}Aggregate`;
  }

  get #isDefault(): boolean {
    return this.convention === 'default';
  }
}

/** An underscore in front stays. */
function camel(text: string): string {
  return text.replaceAll(/(?<=.)_(.)/g, (_, next: string) => next.toUpperCase());
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
