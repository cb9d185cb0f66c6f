/** Base64 of JSON, made in SQL: global ids, and cursors. The JSON is printed as `json_build_…` does it, spaces included, which is
 *  how the reference's ids look. Not here: reading them (plan/opaque.ts). PostgreSQL manual, "JSON Functions and Operators". */
import { builtinType, type PgType } from '../catalog/types.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { CursorKey, Field } from '../plan/query-types.ts';
import { comma, type Fragment, join, param, sql } from './fragment.ts';
import { columnOf } from './scope.ts';

type NodeIdField = Extract<Field, { kind: 'node-id' }>;

/** `[1, "public", "author", 7]` */
export function nodeId({ table, key }: Pick<NodeIdField, 'table' | 'key'>, row: string): Fragment {
  const values = key.map(({ column, type }) => member(columnOf(row, column), type));
  return base64(sql`json_build_array(${join([sql`1`, ...nameOf(table), ...values], comma)})`);
}

function nameOf({ schema, name }: QualifiedName): readonly Fragment[] {
  return [schema, name].map((value) => param({ kind: 'constant', value, type: builtinType('text') }));
}

/** `{"author" : {"name" : "Ada"}, "id" : 1}`: a value each key. */
export function cursor(keys: readonly CursorKey[], values: readonly Fragment[]): Fragment {
  return base64(objectOf(keys.map(({ names, type }, i) => ({ names, value: member(values[i]!, type) }))));
}

type Entry = { readonly names: readonly string[]; readonly value: Fragment };

/** Entries that begin with one name are one object. */
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

/** What would be more than one JSON value is its text, which is read again as it is. */
function member(value: Fragment, type: PgType): Fragment {
  const real = type.base ?? type;
  return real.element || real.kind === 'composite' ? sql`${value}::text` : value;
}

/** Postgres breaks base64 into lines. */
function base64(json: Fragment): Fragment {
  return sql`replace(encode(convert_to(${json}::text, 'UTF8'), 'base64'), chr(10), '')`;
}
