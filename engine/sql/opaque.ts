/** Global ids and cursors, composed in SQL: base64 of JSON. The JSON is printed as `json_build_…` prints it, with spaces, like
 *  the ids of the reference. Not here: reading them (plan/opaque.ts). PostgreSQL manual, "JSON Functions and Operators". */
import { builtinType, type PgType } from '../catalog/types.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { CursorKey, Field } from '../plan/query-types.ts';
import { comma, type Fragment, join, param, sql } from './fragment.ts';
import { columnOf } from './scope.ts';

type NodeIdField = Extract<Field, { kind: 'node-id' }>;

/** Returns a global id, base64 of `[1, "public", "author", 7]`. */
export function nodeId({ table, key }: Pick<NodeIdField, 'table' | 'key'>, row: string): Fragment {
  const values = key.map(({ column, type }) => member(columnOf(row, column), type));
  return base64(sql`json_build_array(${join([sql`1`, ...nameOf(table), ...values], comma)})`);
}

function nameOf({ schema, name }: QualifiedName): readonly Fragment[] {
  return [schema, name].map((value) => param({ kind: 'constant', value, type: builtinType('text') }));
}

/** Returns a cursor, base64 of `{"author" : {"name" : "Ada"}, "id" : 1}` with one value per key. */
export function cursor(keys: readonly CursorKey[], values: readonly Fragment[]): Fragment {
  return base64(objectOf(keys.map(({ names, type }, i) => ({ names, value: member(values[i]!, type) }))));
}

type Entry = { readonly names: readonly string[]; readonly value: Fragment };

/** Returns the JSON object of entries; those whose first name is equal form one nested object. */
function objectOf(entries: readonly Entry[]): Fragment {
  const groups = Map.groupBy(entries, ({ names }) => names[0]!);
  const members = [...groups].flatMap(([name, inner]) => {
    const [only] = inner;
    const value =
      inner.length === 1 && only!.names.length === 1
        ? only!.value
        : objectOf(inner.map(({ names, value: each }) => ({ names: names.slice(1), value: each })));
    return [param({ kind: 'constant', value: name, type: builtinType('text') }), value];
  });
  return sql`json_build_object(${join(members, comma)})`;
}

/** Converts arrays and composite values to text, because they must stay one JSON value, which is later parsed from that text. */
function member(value: Fragment, type: PgType): Fragment {
  const real = type.base ?? type;
  return real.element || real.kind === 'composite' ? sql`${value}::text` : value;
}

/** Encodes base64 without the line breaks that Postgres adds. */
function base64(json: Fragment): Fragment {
  return sql`replace(encode(convert_to(${json}::text, 'UTF8'), 'base64'), chr(10), '')`;
}
