/** Finds a type by its SQL name: `integer`, `double precision`, `varchar(20)`, `text[]`, `shop.colour`. Logical models and native
 *  queries name types in the metadata.
 *  A name without a schema is looked up in pg_catalog, then in `public`, then in any schema when only one has it.
 *  PostgreSQL manual, "Data Types", table of names and aliases. */
import { qualifiedKey } from '../metadata/schema/common.ts';
import { arrayOf, type Catalog, type PgType } from './types.ts';

/** The names of types in Postgres, by their names in the SQL standard. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['bigint', 'int8'],
  ['bit varying', 'varbit'],
  ['boolean', 'bool'],
  ['character', 'bpchar'],
  ['char', 'bpchar'],
  ['character varying', 'varchar'],
  ['dec', 'numeric'],
  ['decimal', 'numeric'],
  ['double precision', 'float8'],
  ['float', 'float8'],
  ['int', 'int4'],
  ['integer', 'int4'],
  ['real', 'float4'],
  ['smallint', 'int2'],
  ['time with time zone', 'timetz'],
  ['time without time zone', 'time'],
  ['timestamp with time zone', 'timestamptz'],
  ['timestamp without time zone', 'timestamp'],
]);

/** A length or precision, `varchar(20)` or `timestamp(3) with time zone`, which does not matter for reading values. */
const MODIFIER = /\s*\(\s*\d+\s*(,\s*-?\d+\s*)?\)/;

/** Returns the type; undefined when the database has none or several with the name. */
export function typeByName(text: string, { types }: Pick<Catalog, 'types'>): PgType | undefined {
  const [, name = '', brackets = ''] = /^\s*([\s\S]*?)\s*((?:\[\d*\]\s*)*)$/.exec(text) ?? [];
  const found = plainType(name, types);
  return found && brackets !== '' ? arrayOf(found) : found;
}

function plainType(text: string, types: Catalog['types']): PgType | undefined {
  const exact = lookUp(text, types);
  if (exact) return exact;
  const folded = text.replace(MODIFIER, '').replaceAll(/\s+/g, ' ').toLowerCase();
  return lookUp(ALIASES.get(folded) ?? folded, types);
}

function lookUp(text: string, types: Catalog['types']): PgType | undefined {
  if (ALIASES.has(text)) return undefined;
  const [first = '', ...rest] = text.split('.').map((part) => part.replaceAll('"', ''));
  if (rest.length > 0) return types.get(qualifiedKey({ schema: first, name: rest.join('.') }));
  for (const schema of ['pg_catalog', 'public']) {
    const found = types.get(qualifiedKey({ schema, name: first }));
    if (found) return found;
  }
  const named = [...types.values()].filter((type) => type.name === first);
  return named.length === 1 ? named[0] : undefined;
}
