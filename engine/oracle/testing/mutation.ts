/** A random mutation of a role: what is inserted, updated, deleted, and what is to come back. Only what the role's
 *  permissions name. In: choices and a world. Out: Mutation, which reads as GraphQL (mutation-text.ts), and which
 *  mutation-sql.ts has Postgres do. */

import { makeChanges, makeRelatedWrites, writesTo } from './change.ts';
import type { Choices } from './choices.ts';
import { EVERYTHING, looksAround, makeCondition, readsRowsOf } from './condition.ts';
import type { Action, Mutation, MutationRoot } from './mutation-types.ts';
import { type Field, makeFields, type Sight } from './request.ts';
import { makeConflict, makeRow } from './row.ts';
import type { Value } from './types.ts';
import { keyValue } from './world.ts';
import type { Permissions, Role, Table } from './world-types.ts';

export function makeMutation(choices: Choices, sight: Sight, role: Role): Mutation | null {
  const makers = sight.world.tables.flatMap((table) => {
    const may = role.permissions.get(table)!;
    return [
      ...(may.insert ? [() => makeInsert(choices, sight, table, role)] : []),
      ...(may.update ? [() => makeUpdate(choices, sight, table, role)] : []),
      ...(may.delete ? [() => makeDelete(choices, sight, table, may)] : []),
    ].map((make) => (alias: string): MutationRoot => {
      const action = make();
      return { alias, table, action, returning: makeReturning(choices, sight, table, may, action) };
    });
  });
  if (makers.length === 0) return null;
  const count = choices.chance(20) ? 2 : 1;
  return { roots: choices.times(count, (i) => choices.of(makers)(`root${i}`)) };
}

function makeReturning(
  choices: Choices,
  sight: Sight,
  table: Table,
  { select }: Permissions,
  action: Action,
): readonly Field[] | null {
  if (!select) return null;
  const isRow = answersWithRow(action);
  if (!isRow && choices.chance(15)) return null;
  const isDelete = action.kind === 'delete' || action.kind === 'delete by key';
  const related = action.kind === 'update' || action.kind === 'update by key' ? action.related : [];
  // What is answered is what the first update has left.
  if (related.some((each) => writesTo(each, table))) return null;
  // What is deleted has no relationships any more; a filter that looks at the table sees another one before.
  if (isDelete && readsRowsOf(select.filter, table)) return null;
  return makeFields(choices, sight, table, isDelete ? Number.POSITIVE_INFINITY : 1);
}

export function answersWithRow(action: Action): boolean {
  return action.kind === 'insert' ? action.isOne : action.kind.endsWith('by key');
}

function makeInsert(choices: Choices, sight: Sight, table: Table, role: Role): Action {
  const may = role.permissions.get(table)!;
  const { check } = may.insert!;
  const isOne = may.select !== null && choices.chance(30);
  const conflict = may.update && choices.chance(40) ? makeConflict(choices, sight, table, may) : null;
  // Rows of one statement do not see each other; done one after the other, as the oracle does conflicts, they would.
  const looks = [check, may.update?.filter, may.update?.check, conflict?.where].some(
    (condition) => condition && looksAround(condition),
  );
  const count = isOne || (conflict && looks) ? 1 : choices.below(4);
  return {
    kind: 'insert',
    objects: choices.times(count, () => makeRow(choices, sight, table, role, [])),
    conflict,
    isOne,
  };
}

function makeUpdate(choices: Choices, sight: Sight, table: Table, role: Role): Action {
  const { columns } = role.permissions.get(table)!.update!;
  const related = () => makeRelatedWrites(choices, sight, table, role);
  const changes = () => makeChanges(choices, table, columns);
  const where = () => (choices.chance(30) ? EVERYTHING : makeCondition(choices, table, sight.words));
  const kind = choices.below(10);
  if (kind >= 8) {
    return {
      kind: 'update many',
      updates: choices.times(1 + choices.below(2), () => ({
        where: where(),
        changes: changes(),
        related: [],
      })),
    };
  }
  if (kind >= 5 && sight.mayRead(table) && sight.seesKey(table)) {
    return { kind: 'update by key', key: makeKey(choices, table), changes: changes(), related: [] };
  }
  return { kind: 'update', where: where(), changes: changes(), related: related() };
}

function makeKey(choices: Choices, table: Table): Value[] {
  return table.key.map(({ type }) => keyValue(type, choices.below(9)));
}

function makeDelete(choices: Choices, sight: Sight, table: Table, { select }: Permissions): Action {
  // The row itself is the answer, so it must be one that can be told before.
  const isTold = select !== null && !readsRowsOf(select.filter, table);
  if (isTold && sight.seesKey(table) && choices.chance(30)) {
    return { kind: 'delete by key', key: makeKey(choices, table) };
  }
  return { kind: 'delete', where: makeCondition(choices, table, sight.words) };
}
