/** A random row to insert, with the rows inserted through its relationships: before it those it refers to, after it those that
 *  refer to it. Source: docs/guides/inserting.md. Not here: what Postgres does (insert-sql.ts). */

import type { Choices } from './choices.ts';
import { EVERYTHING, makeCondition } from './condition.ts';
import type { Conflict, RelatedRows, Row } from './mutation-types.ts';
import type { Sight } from './request.ts';
import type { Value } from './types.ts';
import { keyValue } from './world.ts';
import type { Column, Permissions, Relationship, Role, Table } from './world-types.ts';

const DEEPEST = 2;

/** `determined` are columns that another row decides. */
export function makeRow(
  choices: Choices,
  sight: Sight,
  table: Table,
  role: Role,
  determined: readonly Column[],
  depth = 0,
): Row {
  const related = makeRelatedRows(choices, sight, table, role, determined, depth);
  const decided = related.flatMap(({ relationship }) =>
    isBefore(relationship) ? relationship.mapping.map(([local]) => local) : [],
  );
  const taken = [...determined, ...decided];
  const { columns } = role.permissions.get(table)!.insert!;
  const free = columns.filter((column) => !taken.includes(column));
  return { given: new Map(free.flatMap((column) => givenFor(choices, table, column))), related };
}

/** Is the other row inserted first? */
export function isBefore({ kind, using }: Relationship): boolean {
  return kind === 'object' && using !== 'their key';
}

function givenFor(choices: Choices, table: Table, column: Column): (readonly [Column, Value | null])[] {
  const isNeeded = !column.isNullable && column.standard === null;
  if (!choices.chance(isNeeded ? 96 : 70)) return [];
  if (choices.chance(column.isNullable ? 15 : 2)) return [[column, null]];
  return [[column, valueFor(choices, table, column)]];
}

/** Keys and references are numbers of rows, there or new. */
export function valueFor(choices: Choices, table: Table, column: Column): Value {
  const reference = table.foreignKeys.find(({ columns }) => columns.includes(column));
  const isKey = table.key.includes(column) || column === table.unique || column === table.partial?.column;
  if (!isKey && !reference) return choices.of(column.type.values);
  return keyValue(column.type, choices.below(isKey ? 14 : 8));
}

export function makeConflict(choices: Choices, sight: Sight, table: Table, may: Permissions): Conflict {
  const { name, key, unique, partial } = table;
  const when = EVERYTHING;
  const keys = [
    { constraint: `${name}_pkey`, columns: key, when },
    ...(unique ? [{ constraint: `${name}_u`, columns: [unique], when }] : []),
    ...(partial ? [{ constraint: `${name}_p`, columns: [partial.column], when: partial.when }] : []),
    ...table.foreignKeys.flatMap(({ isUnique, columns }, i) =>
      isUnique ? [{ constraint: `${name}_r${i}`, columns, when }] : [],
    ),
  ];
  return {
    ...choices.of(keys),
    update: choices.some(may.update!.columns, 50),
    where: choices.chance(30) ? makeCondition(choices, table, sight.words) : null,
  };
}

/** Where the role may insert, by columns nothing else decides. */
function makeRelatedRows(
  choices: Choices,
  sight: Sight,
  table: Table,
  role: Role,
  determined: readonly Column[],
  depth: number,
): RelatedRows[] {
  if (depth >= DEEPEST) return [];
  const able = table.relationships.filter(
    ({ to, using }) => using !== 'function' && role.permissions.get(to)!.insert !== null,
  );
  const decided = [...determined];
  return choices.some(able, 18).flatMap((relationship): RelatedRows[] => {
    const { to, mapping } = relationship;
    const here = mapping.map(([local]) => local);
    const isFirst = isBefore(relationship);
    if (isFirst && here.some((column) => decided.includes(column))) return [];
    if (isFirst) decided.push(...here);
    const theirs = isFirst ? [] : mapping.map(([, remote]) => remote);
    const may = role.permissions.get(to)!;
    const conflict = may.update && choices.chance(30) ? makeConflict(choices, sight, to, may) : null;
    const count = relationship.kind === 'object' || conflict ? 1 : choices.below(3);
    const row = () => makeRow(choices, sight, to, role, theirs, depth + 1);
    return [{ relationship, rows: choices.times(count, row), conflict }];
  });
}
