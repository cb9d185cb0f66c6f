/** What a hostile world has besides tables: an enum whose names and comments are hostile, functions with hostile names of
 *  their own and of their arguments, a unique index of some rows, and an administrator's own SQL with arguments.
 *  In: choices, the names of the world. Out: SQL, and parts of the metadata. Not here: tables (hostile-world.ts). */

import pg from 'pg';
import type { Choices } from './choices.ts';
import { hostileText, KEYWORD_NAMES } from './hostile.ts';
import type { HostileTable } from './hostile-types.ts';

const name = pg.escapeIdentifier;
const text = pg.escapeLiteral;

/** Values of the enum: names that GraphQL can spell. */
export const SHADES = KEYWORD_NAMES.slice(0, 9);
export const SHADE_TYPE = 'shade_enum';
/** Of the index of some rows. */
export const INDEX = 'some_rows';

export type HostileFunctions = {
  readonly spoken: string;
  readonly kin: string;
  readonly called: string;
  /** Of a row, of what is given, of the session. */
  readonly row: string;
  readonly given: string;
  readonly session: string;
};

export function makeHostileFunctions(next: () => string): HostileFunctions {
  return { spoken: next(), kin: next(), called: next(), row: next(), given: next(), session: next() };
}

/** An argument that GraphQL cannot spell has a number. */
export function argumentName({ given }: HostileFunctions): string {
  return /^[_A-Za-z]\w*$/.test(given) ? given : 'arg_1';
}

type Place = { readonly schema: string; readonly parent: HostileTable; readonly child: HostileTable };

export function enumSql(schema: string, shade: string, choices: Choices, marker: string): string {
  const rows = SHADES.map((value) => {
    const comment = hostileText(choices, marker).replaceAll('\0', '').toWellFormed();
    return `(${text(value)}, ${text(comment)})`;
  });
  return `create table ${name(schema)}.${name(shade)} (value text primary key, comment text);
    insert into ${name(schema)}.${name(shade)} values ${rows.join(', ')}`;
}

export function functionsSql(functions: HostileFunctions, { schema, parent, child }: Place): string[] {
  const { spoken, kin, called, row, given, session } = functions;
  const at = (each: string) => `${name(schema)}.${name(each)}`;
  const said = name(parent.columns[1]!.name);
  const rest = 'language sql stable as';
  const own = `select x.* from ${at(parent.name)} x where x.${said} in ($1, $2->>'x-engine-text')`;
  return [
    `create function ${at(spoken)}(${name(row)} ${at(parent.name)}, ${name(given)} text default 'x') returns text
      ${rest} ${text(`select $1.${said} || $2`)}`,
    `create function ${at(kin)}(${name(row)} ${at(parent.name)}) returns setof ${at(child.name)}
      ${rest} ${text(`select x.* from ${at(child.name)} x`)}`,
    `create function ${at(called)}(${name(given)} text, ${name(session)} json) returns setof ${at(parent.name)}
      ${rest} ${text(own)}`,
    `create unique index ${INDEX} on ${at(parent.name)} (lower(${said})) where ${said} <> 'a''"b\\'`,
  ];
}

/** Of the parent. */
export function computedFields({ spoken, kin, row }: HostileFunctions, schema: string): unknown[] {
  const definition = (each: string) => ({ function: { schema, name: each }, table_argument: row });
  return [
    { name: 'spoken', definition: definition(spoken) },
    { name: 'kin', definition: definition(kin) },
  ];
}

/** Of the source, beside its tables. */
export function sourceParts(
  { called, session }: HostileFunctions,
  schema: string,
  role: string,
  marker: string,
): Readonly<Record<string, unknown>> {
  const filter = { one: { _neq: `${marker}'--` } };
  const code = `select song as one, id as two, {{doc}} as three from public.canary
    where song <> {{word}} or id = {{number}} or song like {{word}} || '%'`;
  return {
    functions: [
      {
        function: { schema, name: called },
        configuration: { custom_name: 'called', session_argument: session },
      },
    ],
    logical_models: [
      {
        name: 'asked_row',
        fields: [
          { name: 'one', type: 'text' },
          { name: 'two', type: 'integer' },
          { name: 'three', type: { scalar: 'jsonb', nullable: true } },
        ],
        select_permissions: [{ role, permission: { columns: '*', filter } }],
      },
    ],
    native_queries: [
      {
        root_field_name: 'asked',
        code,
        returns: 'asked_row',
        arguments: {
          word: { type: 'text' },
          number: { type: 'integer', nullable: true },
          doc: { type: 'jsonb', nullable: true },
        },
      },
    ],
  };
}
