/** A type's name as people write it → the type: `integer`, `double precision`, `varchar(20)`, `text[]`, `shop.colour`.
 *  For logical models and native queries, where metadata names types that no column declares.
 *  Without a schema a name is looked for in pg_catalog, then in `public`, then wherever there is only one of it.
 *  PostgreSQL manual, "Data Types", table of names and aliases. */
import { qualifiedKey } from '../metadata/schema/common.ts';
import { arrayOf, type Catalog, type PgType } from './types.ts';

/** SQL's names of types → Postgres's own. */
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

/** A length, a precision: `varchar(20)`, `timestamp(3) with time zone`. What it limits no longer matters to a reader. */
const MODIFIER = /\s*\(\s*\d+\s*(,\s*-?\d+\s*)?\)/;

/** Undefined when the database has no such type, or several and nothing says which. */
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
