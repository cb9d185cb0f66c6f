/** Two tables whose every name in Postgres is hostile, tracked under names GraphQL can spell, with a role that may do
 *  everything within conditions that are hostile, too; and a canary that nobody may touch.
 *  In: choices. Out: SQL that makes them, and their metadata. Not here: requests (hostile-request.ts). */

import pg from 'pg';
import type { Choices } from './choices.ts';
import { hostileName, hostileText, KEYWORD_NAMES } from './hostile.ts';
import {
  computedFields,
  enumSql,
  functionsSql,
  type HostileFunctions,
  INDEX,
  makeHostileFunctions,
  SHADE_TYPE,
  SHADES,
  sourceParts,
} from './hostile-functions.ts';
import type { HostileColumn, HostileTable } from './hostile-types.ts';

export type HostileWorld = {
  readonly schema: string;
  readonly role: string;
  readonly parent: HostileTable;
  readonly child: HostileTable;
  /** Names of the relationships: the parent's to its children, and theirs back. */
  readonly children: string;
  readonly back: string;
  /** The enum's table. */
  readonly shade: string;
  readonly functions: HostileFunctions;
  readonly sql: string;
  /** The source of a document, without its name and configuration. */
  readonly source: Readonly<Record<string, unknown>>;
};

const name = pg.escapeIdentifier;

export function makeHostileWorld(choices: Choices, marker: string): HostileWorld {
  let count = 0;
  const next = () => hostileName(choices, count++);
  const schema = next();
  const mood = next();
  const short = next();
  const shade = next();
  const types: readonly (readonly [string, string | null])[] = [
    ['int4', 'Int'],
    ['text', 'String'],
    ['int8', 'bigint'],
    ['numeric', 'numeric'],
    ['bool', 'Boolean'],
    ['uuid', 'uuid'],
    ['timestamptz', 'timestamptz'],
    ['jsonb', 'jsonb'],
    ['text[]', null],
    [`${name(schema)}.${name(mood)}`, null],
    [`${name(schema)}.${name(short)}`, 'String'],
    [`text references ${name(schema)}.${name(shade)}`, SHADE_TYPE],
  ];
  const table = (fields: readonly string[], field: string): HostileTable => ({
    name: next(),
    field,
    columns: types.map(([type, scalar], i) => ({
      // What Postgres prints of an index has quotes only around names that need them.
      name: i === 1 ? `${next().slice(0, 30)}"` : next(),
      field: fields[i] ?? `c${i}`,
      type,
      scalar,
    })),
    constraint: field === 'parent' ? 'select' : 'update',
  });
  const parent = table(KEYWORD_NAMES, 'parent');
  const child = table([], 'child');
  const children = choices.of(['where', 'order_by', 'limit', 'children']);
  const back = choices.of(['returning', 'nodes', 'parent', 'affected_rows']);
  // Metadata holds no text that Postgres could not keep, and no role's name of more than 255 characters.
  const role = hostileText(choices, 'role').replaceAll('\0', '').slice(0, 255).toWellFormed();
  const functions = makeHostileFunctions(next);
  const world = { schema, role, parent, child, children, back, shade, functions };
  const labels = [`happy'${marker.slice(0, 0)}`, 'sad"', 'x\\y'];
  const sql = [
    `create schema ${name(schema)}`,
    `create type ${name(schema)}.${name(mood)} as enum (${labels.map(pg.escapeLiteral).join(', ')})`,
    `create domain ${name(schema)}.${name(short)} as text`,
    enumSql(schema, shade, choices, marker),
    ...[parent, child].flatMap((each) => tableSql(each, world)),
    ...functionsSql(functions, world),
    `create table public.canary (id int primary key, song text); insert into public.canary values (1, 'cheep')`,
  ].join(';\n');
  const tables = [enumOf(world), ...tablesOf(world, marker)];
  return { ...world, sql, source: { tables, ...sourceParts(functions, schema, role, marker) } };
}

type Names = Omit<HostileWorld, 'sql' | 'source'>;

function tableSql(table: HostileTable, { schema, parent, child }: Names): string[] {
  const columns = table.columns.map((column) => `${name(column.name)} ${column.type}`);
  const [key, text, big] = table.columns as [HostileColumn, HostileColumn, HostileColumn];
  const at = `${name(schema)}.${name(table.name)}`;
  const rest = [
    `primary key (${name(key.name)})`,
    `constraint ${name(table.constraint)} unique (${name(text.name)})`,
    ...(table === child
      ? [`foreign key (${name(key.name)}) references ${name(schema)}.${name(parent.name)}`]
      : []),
  ];
  return [
    `create table ${at} (${[...columns, ...rest].join(', ')})`,
    `insert into ${at} (${[key, text, big].map((column) => name(column.name)).join(', ')})
      values (1, 'one', 1), (2, 'two', 2)`,
  ];
}

function enumOf({ schema, shade }: Names): unknown {
  return { table: { schema, name: shade }, is_enum: true, configuration: { custom_name: 'shade' } };
}

function tablesOf(world: Names, marker: string): unknown[] {
  const { schema, role, parent, child, children, back, functions } = world;
  return [parent, child].map((table) => {
    const isParent = table === parent;
    const [key, text] = table.columns as [HostileColumn, HostileColumn];
    const at = { schema, name: table.name };
    const other = { schema, name: (table === parent ? child : parent).name };
    const otherKey = (table === parent ? child : parent).columns[0]!.name;
    const mapping = {
      manual_configuration: { remote_table: other, column_mapping: { [key.name]: otherKey } },
    };
    const column_config = Object.fromEntries(
      table.columns.map((column) => [column.name, { custom_name: column.field }]),
    );
    const filter = {
      _or: [
        { [text.name]: { _neq: `${marker}' or true --` } },
        { [text.name]: { _in: [`"${marker}"`, 'X-Engine-Text'] } },
        ...(isParent ? [{ spoken: { _like: `${marker}%` } }] : []),
        { [table.columns.at(-1)!.name]: { _eq: SHADES[0] } },
        { _exists: { _table: other, _where: { [otherKey]: { _is_null: false } } } },
      ],
    };
    const columns = table.columns.map((column) => column.name);
    return {
      table: at,
      configuration: {
        custom_name: table.field,
        column_config,
        ...(isParent ? { conflict_indexes: [INDEX] } : {}),
      },
      ...(isParent ? { computed_fields: computedFields(functions, schema) } : {}),
      [table === parent ? 'array_relationships' : 'object_relationships']: [
        { name: table === parent ? children : back, using: mapping },
      ],
      select_permissions: [
        {
          role,
          permission: {
            columns: '*',
            filter,
            allow_aggregations: true,
            ...(isParent ? { computed_fields: ['spoken'] } : {}),
          },
        },
      ],
      insert_permissions: [{ role, permission: { columns, check: filter } }],
      update_permissions: [{ role, permission: { columns, filter, check: filter } }],
      delete_permissions: [{ role, permission: { filter } }],
    };
  });
}
