/** The only module that composes SQL text. It has three verbs: syntax (the literal parts of a sql`…` template), identifier
 *  (`id`), parameter (`param`); `authored` and `catalogued` add SQL from an administrator's native query and from the database
 *  itself. A string cannot enter a statement in any other way, so no value of a user becomes text. Fragments are immutable and
 *  nest. `compile` numbers the parameters; equal leaves share a number. Out: Statement {text, parameters}. Not here: values
 *  (execute/bind.ts), any grammar (its siblings). */
import { scalarOf } from '../catalog/scalars.ts';
import type { PgType } from '../catalog/types.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { Leaf } from '../resolve/predicate.ts';

type Part =
  | { readonly kind: 'syntax'; readonly text: string }
  | { readonly kind: 'authored'; readonly text: string }
  | { readonly kind: 'parameter'; readonly leaf: Leaf }
  | Fragment;

export class Fragment {
  readonly kind = 'fragment';
  /** The parts; nested fragments stay whole until `compile`, so deep ones are not copied at every level. */
  readonly parts: readonly Part[];
  constructor(parts: readonly Part[]) {
    this.parts = parts;
  }
}

export type Statement = {
  readonly text: string;
  /** The parameters, `$1` first. */
  readonly parameters: readonly Leaf[];
  /** True when the statement contains SQL of an administrator, which runs in a read-only transaction. */
  readonly isAuthored: boolean;
};

/** Composes syntax and fragments: sql`select ${id('a')} from ${table(name)}`. Only fragments may be interpolated. */
export function sql(syntax: TemplateStringsArray, ...inserted: readonly Fragment[]): Fragment {
  const parts: Part[] = [];
  for (let i = 0; i < syntax.length; i++) {
    const text = syntax[i]!;
    if (text !== '') parts.push({ kind: 'syntax', text });
    const next = inserted[i];
    if (next && next.parts.length > 0) parts.push(next);
  }
  const [only] = parts;
  return parts.length === 1 && only?.kind === 'fragment' ? only : new Fragment(parts);
}

export const empty = new Fragment([]);

/** Returns a quoted identifier. A quote inside is doubled: PostgreSQL manual, "Identifiers and Key Words". */
export function id(name: string): Fragment {
  return syntax(quoted(name));
}

export function qualified({ schema, name }: QualifiedName): Fragment {
  return syntax(`${quoted(schema)}.${quoted(name)}`);
}

function quoted(name: string): string {
  if (name.includes('\0')) throw new RangeError('an identifier cannot contain a zero byte');
  return `"${name.includes('"') ? name.replaceAll('"', '""') : name}"`;
}

/** Returns a parameter, cast to its type: `$1::"pg_catalog"."int4"`. */
export function param(leaf: Leaf): Fragment {
  const given: Part = { kind: 'parameter', leaf };
  const { type } = leaf;
  // Values that come from a database are texts of Postgres and no GeoJSON.
  const isText = PRINTED.has(leaf.kind) && !type.element?.element;
  return isText || isCast(type)
    ? new Fragment([given, castTo(type)])
    : valueFrom(new Fragment([given]), type);
}

/** The leaves whose values a statement has returned. */
const PRINTED: ReadonlySet<Leaf['kind']> = new Set(['inserted', 'fetched']);

/** Returns a parameter that is a list, for `unnest`, and the column of the items in the list of a SELECT. `unnest` splits an array of arrays
 *  into their elements, so a list of arrays is sent as a list of their texts. */
export function unnestParam(leaf: Leaf, column: Fragment): { list: Fragment; items: Fragment } {
  const { element } = leaf.type;
  if (!element?.element) return { list: param(leaf), items: column };
  const given = new Fragment([{ kind: 'parameter', leaf }]);
  return { list: sql`${given}::text[]`, items: sql`${valueFrom(column, element)} ${column}` };
}

/** Converts text to a value of a type: a cast, except for GeoJSON, which some PostGIS types do not read. PostGIS manual,
 *  "ST_GeomFromGeoJSON". */
export function valueFrom(given: Fragment, type: PgType): Fragment {
  const { element } = type;
  if (isCast(type)) return new Fragment([given, castTo(type)]);
  if (element?.element) return listedArrays(given, element);
  if (!element) return fromGeojson(given, type);
  const each = id('given');
  const elements = sql`array(select ${fromGeojson(each, element)} from unnest(${given}::text[]) ${each})`;
  return sql`case when ${given}::text[] is not null then ${elements} end`;
}

/** True when a cast converts text to a value of the type. */
function isCast(type: PgType): boolean {
  const { element } = type;
  return !element?.element && scalarOf(element ?? type).input !== 'geojson';
}

type Syntax = Extract<Part, { kind: 'syntax' }>;

/** The casts by type. A statement has one for each value, up to tens of thousands. */
const casts = new WeakMap<PgType, Syntax>();

function castTo(type: PgType): Syntax {
  let cast = casts.get(type);
  if (!cast) {
    cast = { kind: 'syntax', text: `::${typeText(type)}` };
    casts.set(type, cast);
  }
  return cast;
}

/** Returns a list of arrays for `any` and `all`. The arrays are read from their texts: `any` over an array of arrays would
 *  compare their elements. */
function listedArrays(given: Fragment, type: PgType): Fragment {
  const each = id('given');
  return sql`select ${valueFrom(each, type)} from unnest(${given}::text[]) ${each}`;
}

function fromGeojson(given: Fragment, type: PgType): Fragment {
  const name = { schema: (type.base ?? type).schema, name: 'st_geomfromgeojson' };
  return sql`${qualified(name)}(${given}::text)::${typeName(type)}`;
}

export function typeName(type: PgType): Fragment {
  return syntax(typeText(type));
}

function typeText({ element, schema, name }: PgType): string {
  return element ? `${typeText(element)}[]` : `${quoted(schema)}.${quoted(name)}`;
}

/** Prints a non-negative integer (limit and offset): the one exception to "values are parameters". */
export function integer(value: number | string): Fragment {
  if (!/^\d{1,19}$/.test(String(value))) throw new RangeError(`not a non-negative integer: ${value}`);
  return syntax(String(value));
}

/** Returns text that the engine chose (JSON punctuation and aliases) as a string literal. Never pass a user's value: aliases
 *  are GraphQL names and keys are JSON, so neither contains a backslash. */
export function literal(text: string): Fragment {
  if (text.includes('\0') || text.includes('\\'))
    throw new RangeError('a literal holds no zero byte or backslash');
  return syntax(`'${text.replaceAll("'", "''")}'`);
}

/** Returns a name as a string literal, for any characters and any setting of `standard_conforming_strings`. PostgreSQL manual,
 *  "String Constants". */
export function nameText(name: string): Fragment {
  if (name.includes('\0')) throw new RangeError('a name cannot contain a zero byte');
  return syntax(`E'${name.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`);
}

/** Returns the body of a function between dollar quotes that do not occur in it. PostgreSQL manual, "Dollar-Quoted String
 *  Constants". */
export function dollarQuoted(body: Fragment): Fragment {
  const { text } = compile(body);
  let mark = '$body$';
  while (text.includes(mark)) mark = `$${mark.slice(1, -1)}_$`;
  return sql`${syntax(mark)}${body}${syntax(mark)}`;
}

/** Adds SQL that an administrator wrote into the metadata, never a user's. */
export function authored(text: string): Fragment {
  if (text.includes('\0')) throw new RangeError('SQL cannot contain a zero byte');
  return new Fragment([{ kind: 'authored', text }]);
}

/** Adds SQL that the database printed, such as an index definition. */
export function catalogued(text: string): Fragment {
  return syntax(text);
}

export function join(fragments: readonly Fragment[], separator: Fragment): Fragment {
  if (fragments.length === 1) return fragments[0]!;
  return new Fragment(fragments.flatMap((fragment, i) => (i === 0 ? [fragment] : [separator, fragment])));
}

export const comma = sql`, `;

/** Compiles a fragment to text and parameters. Leaves of equal value share one `$n`. */
export function compile(fragment: Fragment): Statement {
  const compiling = new Compiling();
  compiling.add(fragment);
  const { text, parameters, isAuthored } = compiling;
  return { text, parameters, isAuthored };
}

/** Compiles a statement that answers for many sets of values at once: every parameter is a list of texts, the first column is
 *  the index of the set, from 1, and the other columns are those of the statement. PostgreSQL manual, "LATERAL Subqueries". */
export function compileForMany(fragment: Fragment): string {
  const compiling = new Compiling((number) => `"each"."${number}"`);
  compiling.add(fragment);
  const numbers = compiling.parameters.map((_, i) => i + 1);
  const lists = numbers.map((number) => `$${number}::text[]`).join(', ');
  const columns = [...numbers, 'turn'].map((name) => `"${name}"`).join(', ');
  const each = `unnest(${lists}) with ordinality as "each"(${columns})`;
  return `select "each"."turn", "answer".* from ${each} left join lateral (${compiling.text}) "answer" on true`;
}

class Compiling {
  text = '';
  readonly parameters: Leaf[] = [];
  isAuthored = false;
  readonly #numbers = new Map<string, number>();
  readonly #reference: (number: number) => string;

  constructor(reference = (number: number) => `$${number}`) {
    this.#reference = reference;
  }

  add({ parts }: Fragment): void {
    for (const part of parts) {
      if (part.kind === 'fragment') this.add(part);
      else if (part.kind === 'parameter') this.text += this.#reference(this.#numberOf(part.leaf));
      else {
        this.text += part.text;
        this.isAuthored ||= part.kind === 'authored';
      }
    }
  }

  #numberOf(leaf: Leaf): number {
    const key = keyOf(leaf);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.parameters.push(leaf);
    this.#numbers.set(key, number);
    return number;
  }
}

/** Returns a text that equal leaves have in common. The usual leaf is a path and a type, which has one name in a database. */
function keyOf(leaf: Leaf): string {
  if (leaf.kind === 'inserted') return `${leaf.step} ${leaf.kept}${castTo(leaf.type).text}`;
  if (leaf.kind === 'list' && !leaf.pattern)
    return `[${leaf.items.map(keyOf).join()}]${castTo(leaf.type).text}`;
  if (leaf.kind !== 'variable' || leaf.within || leaf.meaning || leaf.pattern) return JSON.stringify(leaf);
  return JSON.stringify(leaf.path) + castTo(leaf.type).text;
}

function syntax(text: string): Fragment {
  return new Fragment([{ kind: 'syntax', text }]);
}
