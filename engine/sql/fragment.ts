/** The only place where SQL text is composed. Three verbs: syntax (the literal parts of a sql`…` template), identifier
 *  (`id`), parameter (`param`); and `authored` and `catalogued`, the SQL of an administrator's
 *  native query and of the database itself. A string can enter a statement
 *  in no other way, so no value of a user ever becomes text.
 *  Fragments are immutable and nest. `compile` numbers the parameters; equal leaves share a number.
 *  Out: Statement {text, parameters}. Not here: values (execute/bind.ts), any grammar (its siblings). */
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
  /** Fragments among them stay whole until all is compiled: what is deep inside is not copied at every level. */
  readonly parts: readonly Part[];
  constructor(parts: readonly Part[]) {
    this.parts = parts;
  }
}

export type Statement = {
  readonly text: string;
  /** `$1` first. */
  readonly parameters: readonly Leaf[];
  /** It holds SQL that somebody else wrote, for reading: to be run in a transaction that cannot write. */
  readonly isAuthored: boolean;
};

/** Syntax with fragments between: sql`select ${id('a')} from ${table(name)}`. Only fragments may be interpolated. */
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

/** A quoted identifier. PostgreSQL manual, "Identifiers and Key Words": a quote inside is doubled. */
export function id(name: string): Fragment {
  if (name.includes('\0')) throw new RangeError('an identifier cannot contain a zero byte');
  return syntax(`"${name.replaceAll('"', '""')}"`);
}

export function qualified(name: QualifiedName): Fragment {
  return sql`${id(name.schema)}.${id(name.name)}`;
}

/** A value, cast to its type: `$1::"pg_catalog"."int4"`. */
export function param(leaf: Leaf): Fragment {
  return valueFrom(new Fragment([{ kind: 'parameter', leaf }]), leaf.type);
}

/** Text as a value of a type: a cast, but for GeoJSON, which not every type of PostGIS is read from.
 *  PostGIS manual, "ST_GeomFromGeoJSON". */
export function valueFrom(given: Fragment, type: PgType): Fragment {
  const { element } = type;
  if (element?.element) return listedArrays(given, element);
  if (scalarOf(element ?? type).input !== 'geojson') return sql`${given}::${typeName(type)}`;
  if (!element) return fromGeojson(given, type);
  const each = id('given');
  return sql`array(select ${fromGeojson(each, element)} from unnest(${given}::text[]) ${each})`;
}

/** A list of arrays, for `any` and `all`: an array of them would be one of their elements, so it is read from their texts. */
function listedArrays(given: Fragment, type: PgType): Fragment {
  const each = id('given');
  return sql`select ${valueFrom(each, type)} from unnest(${given}::text[]) ${each}`;
}

function fromGeojson(given: Fragment, type: PgType): Fragment {
  const name = { schema: (type.base ?? type).schema, name: 'st_geomfromgeojson' };
  return sql`${qualified(name)}(${given}::text)::${typeName(type)}`;
}

export function typeName(type: PgType): Fragment {
  if (type.element) return sql`${typeName(type.element)}[]`;
  return sql`${id(type.schema)}.${id(type.name)}`;
}

/** A validated non-negative integer, printed: the one exception to "values are parameters" (limit and offset). */
export function integer(value: number | string): Fragment {
  if (!/^\d{1,19}$/.test(String(value))) throw new RangeError(`not a non-negative integer: ${value}`);
  return syntax(String(value));
}

/** Text the engine itself chose (JSON punctuation and aliases), as a string literal. Never a user's value:
 *  aliases are GraphQL names and keys are JSON, both free of backslashes that could matter. */
export function literal(text: string): Fragment {
  if (text.includes('\0') || text.includes('\\'))
    throw new RangeError('a literal holds no zero byte or backslash');
  return syntax(`'${text.replaceAll("'", "''")}'`);
}

/** A name as a string, whatever is in it and however the server reads backslashes. PostgreSQL manual, "String Constants". */
export function nameText(name: string): Fragment {
  if (name.includes('\0')) throw new RangeError('a name cannot contain a zero byte');
  return syntax(`E'${name.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`);
}

/** The body of a function, between marks that do not occur in it. PostgreSQL manual, "Dollar-Quoted String Constants". */
export function dollarQuoted(body: Fragment): Fragment {
  const { text } = compile(body);
  let mark = '$body$';
  while (text.includes(mark)) mark = `$${mark.slice(1, -1)}_$`;
  return sql`${syntax(mark)}${body}${syntax(mark)}`;
}

/** SQL an administrator has written into the metadata. Never a user's. */
export function authored(text: string): Fragment {
  if (text.includes('\0')) throw new RangeError('SQL cannot contain a zero byte');
  return new Fragment([{ kind: 'authored', text }]);
}

/** SQL the database has printed: of an index. */
export function catalogued(text: string): Fragment {
  return syntax(text);
}

export function join(fragments: readonly Fragment[], separator: Fragment): Fragment {
  if (fragments.length === 1) return fragments[0]!;
  return new Fragment(fragments.flatMap((fragment, i) => (i === 0 ? [fragment] : [separator, fragment])));
}

export const comma = sql`, `;

/** Text and parameters. Leaves that are equal in value share one `$n`. */
export function compile(fragment: Fragment): Statement {
  const compiling = new Compiling();
  compiling.add(fragment);
  const { text, parameters, isAuthored } = compiling;
  return { text, parameters, isAuthored };
}

/** The same statement for many at once, each with values of its own: every parameter is the list of its values' texts, the
 *  first column tells whose row it is, from 1 on, and the others are the statement's. PostgreSQL manual, "LATERAL
 *  Subqueries". */
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
    const key = JSON.stringify(leaf);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.parameters.push(leaf);
    this.#numbers.set(key, number);
    return number;
  }
}

function syntax(text: string): Fragment {
  return new Fragment([{ kind: 'syntax', text }]);
}
