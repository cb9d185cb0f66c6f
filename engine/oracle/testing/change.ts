/** Random changes of an update: of its rows' columns, and deletes and updates of the rows related to them.
 *  Source: docs/reference/behaviour/mutations.md; docs/guides/updating.md. Not here: what Postgres does (update-sql.ts). */

import type { Choices } from './choices.ts';
import { looksAround, makeCondition } from './condition.ts';
import type { Change, RelatedWrites, Update } from './mutation-types.ts';
import type { Sight } from './request.ts';
import { valueFor } from './row.ts';
import { JSONB, TEXT } from './types.ts';
import type { Column, Relationship, Role, Table } from './world-types.ts';

const DEEPEST = 2;

/** At least one. */
export function makeChanges(choices: Choices, table: Table, columns: readonly Column[]): Change[] {
  const chosen = choices.some(columns, 30);
  return (chosen.length > 0 ? chosen : [choices.of(columns)]).map((column) =>
    makeChange(choices, table, column),
  );
}

function makeChange(choices: Choices, table: Table, column: Column): Change {
  const { type } = column;
  const { graphql } = type;
  if (type.isNumber && choices.chance(35)) {
    return { column, operator: '_inc', value: choices.of(type.values), type: graphql };
  }
  if (type === JSONB && choices.chance(60)) {
    const operator = choices.of(['_append', '_prepend', '_delete_key'] as const);
    const isKey = operator === '_delete_key';
    const value = choices.of(isKey ? TEXT.values : type.values);
    return { column, operator, value, type: isKey ? 'String' : graphql };
  }
  const value = choices.chance(column.isNullable ? 15 : 2) ? null : valueFor(choices, table, column);
  return { column, operator: '_set', value, type: graphql };
}

/** In the order of the schema: objects come first. A filter that looks around could see the row after it was reached
 *  otherwise than before. */
export function makeRelatedWrites(
  choices: Choices,
  sight: Sight,
  table: Table,
  role: Role,
  depth = 0,
): RelatedWrites[] {
  const { select } = role.permissions.get(table)!;
  if (depth >= DEEPEST || !select || looksAround(select.filter)) return [];
  const may = ({ to }: Relationship) => role.permissions.get(to)!;
  const able = table.relationships.filter((each) => {
    const { update, delete: remove } = may(each);
    return each.using !== 'function' && sight.mayRead(each.to) && (update !== null || remove !== null);
  });
  const chosen = choices.some(able, 20);
  const inOrder = [
    ...chosen.filter(({ kind }) => kind === 'object'),
    ...chosen.filter(({ kind }) => kind === 'array'),
  ];
  return inOrder.map((relationship) => {
    const { to } = relationship;
    const { update, delete: remove } = may(relationship);
    const where = () => makeCondition(choices, to, sight.words, 2);
    const change = (): Update => ({
      where: where(),
      changes: makeChanges(choices, to, update!.columns),
      related: makeRelatedWrites(choices, sight, to, role, depth + 1),
    });
    return {
      relationship,
      deletes: remove ? choices.times(choices.below(2), where) : [],
      updates: update ? choices.times(choices.below(3), change) : [],
    };
  });
}

/** Does it write rows of the table, at any depth? */
export function writesTo({ relationship, updates }: RelatedWrites, table: Table): boolean {
  return (
    relationship.to === table || updates.some(({ related }) => related.some((each) => writesTo(each, table)))
  );
}
