/** The page a hostile request is written on: values as literals or variables, and the words around them. Half of the pages fit
 *  the schema and are hostile in their values alone, so that they are run. In: choices. Out: text, and the variables it uses.
 *  Not here: what is asked (hostile-request.ts). */

import type { Choices } from './choices.ts';
import { hostileJson, hostileText } from './hostile.ts';
import { SHADE_TYPE, SHADES } from './hostile-functions.ts';
import type { HostileColumn } from './hostile-types.ts';

/** Values that get as far as they can. */
const PLAIN: Readonly<Record<string, unknown>> = {
  bigint: '12',
  numeric: '1.5',
  float8: 0.5,
  uuid: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
  timestamptz: '2024-02-29',
};
/** Writes a request, and keeps the variables it uses. */
export class Page {
  readonly variables: Record<string, unknown> = {};
  readonly types: string[] = [];
  readonly choices: Choices;
  readonly marker: string;
  /** Hostile in its values alone: it gets past the schema. */
  readonly isFitting: boolean;

  constructor(choices: Choices, marker: string) {
    this.choices = choices;
    this.marker = marker;
    this.isFitting = choices.chance(55);
  }

  /** A word of GraphQL, or something else. */
  word(word: string): string {
    return this.isFitting ? word : this.choices.of([word, literal(this.text())]);
  }

  /** Those that values of can be given. */
  columns(columns: readonly HostileColumn[]): readonly HostileColumn[] {
    return this.isFitting ? columns.filter(({ scalar }) => scalar !== null) : columns;
  }

  text(): string {
    return hostileText(this.choices, this.marker);
  }

  /** As a literal, or as a variable of that type, or of a wrong one. */
  value(type: string | null, value: unknown = this.#suited(type)): string {
    const mustVary = this.isFitting && /jsonb|_enum/.test(type ?? '');
    if (!mustVary && this.choices.chance(45)) return literal(value);
    const name = `v${this.types.length}`;
    const declared =
      this.isFitting || this.choices.chance(90)
        ? (type ?? 'String')
        : this.choices.of(['Int', 'jsonb', '[uuid!]']);
    this.types.push(`$${name}: ${declared}`);
    this.variables[name] = value;
    return `$${name}`;
  }

  /** Mostly what gets through the first check. */
  #suited(type: string | null): unknown {
    if (!this.isFitting && this.choices.chance(25)) return hostileJson(this.choices, this.marker);
    if (this.isFitting && type?.includes(SHADE_TYPE)) return this.choices.of(SHADES);
    const plain = PLAIN[type ?? ''];
    if (plain !== undefined && this.choices.chance(this.isFitting ? 85 : 20)) return plain;
    if (type?.startsWith('[')) return this.choices.times(this.choices.below(3), () => this.text());
    if (type === 'Int') return this.choices.below(3);
    if (type === 'Boolean') return this.choices.chance(50);
    if (type === SHADE_TYPE && this.choices.chance(60)) return this.choices.of(SHADES);
    if (type === 'jsonb') return hostileJson(this.choices, this.marker);
    return this.text();
  }
}

/** A GraphQL literal; object keys that are no names are left as they are, to be refused. */
export function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, item]) => `${name}: ${literal(item)}`)}}`;
}
