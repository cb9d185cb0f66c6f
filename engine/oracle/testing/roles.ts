/** What the roles of a random world may do with its tables, and what their heir may. Reference: docs/reference/behaviour/permissions.md; spec:
 *  "Permission arguments". Not here: the tables (world.ts), policies that say the same (policies.ts). */

import type { Choices } from './choices.ts';
import { EVERYTHING, makeCondition } from './condition.ts';
import { JSONB } from './types.ts';
import type { Permissions, Preset, Role, Table } from './world-types.ts';

/** Some of what it may write is what `other` may: that, their heir may, too. */
export function makeRole(choices: Choices, name: string, tables: readonly Table[], other: Role | null): Role {
  const permissions = tables.map((table): readonly [Table, Permissions] => {
    const own = makePermissions(choices, table, tables);
    const theirs = other?.permissions.get(table);
    if (!theirs || !choices.chance(30)) return [table, own];
    return [table, { ...theirs, select: own.select }];
  });
  return { name, parents: [], permissions: new Map(permissions) };
}

/** A role that no permission names is none that could be inherited from. */
function isKnown({ permissions }: Role): boolean {
  return [...permissions.values()].some((each) => each.select || each.insert || each.update || each.delete);
}

/** Columns are those of any parent, rows too: a cell is seen where a parent may read both. A limit is the largest, and none
 *  where a parent has none. Reference: docs/reference/behaviour/permissions.md. */
export function makeHeir(name: string, roles: readonly Role[], tables: readonly Table[]): Role {
  const parents = roles.filter(isKnown);
  const permissions = tables.map((table): readonly [Table, Permissions] => {
    const selects = parents.flatMap((role) => role.permissions.get(table)!.select ?? []);
    const limits = selects.map(({ limit }) => limit ?? Number.POSITIVE_INFINITY);
    const limit = Math.max(...limits);
    const select = {
      columns: table.columns.filter((each) => selects.some(({ columns }) => columns.includes(each))),
      computed: table.computed.filter((each) => selects.some(({ computed }) => computed.includes(each))),
      filter: { kind: 'or', any: selects.map(({ filter }) => filter) } as const,
      limit: Number.isFinite(limit) ? limit : null,
      allowsAggregation: selects.some(({ allowsAggregation }) => allowsAggregation),
    };
    // What they write by they must agree on. Rules that were made apart may be equal all the same: nobody asks for those.
    const agreed = <K extends 'insert' | 'update' | 'delete'>(kind: K): Permissions[K] => {
      const [one = null, ...others] = new Set(
        parents.flatMap((role) => role.permissions.get(table)![kind] ?? []),
      );
      return others.length === 0 ? one : null;
    };
    const writes = { insert: agreed('insert'), update: agreed('update'), delete: agreed('delete') };
    return [table, { select: selects.length > 0 ? select : null, ...writes }];
  });
  return { name, parents, permissions: new Map(permissions) };
}

function makePermissions(choices: Choices, table: Table, tables: readonly Table[]): Permissions {
  const words = {
    columns: (on: Table) => [...on.columns, ...on.computed],
    relationships: (on: Table) => on.relationships,
    aggregated: () => null,
    permission: { root: table, tables },
  };
  const rule = () => (choices.chance(25) ? EVERYTHING : makeCondition(choices, table, words));
  const writable = (percent: number, presets: readonly Preset[]) => {
    const free = table.columns.filter((each) => !presets.some(({ column }) => column === each));
    const chosen = choices.some(free, percent);
    return chosen.length > 0 ? chosen : [free[0]!];
  };
  const mayChange = (percent: number) => table.of === null && choices.chance(percent);
  const readable = choices.some(table.columns, 80);
  const inserted = makePresets(choices, table);
  const updated = makePresets(choices, table);
  const isKeyReadable = table.key.every((each) => readable.includes(each));
  return {
    select: choices.chance(88)
      ? {
          columns: readable,
          computed: choices.some(table.computed, 70),
          filter: rule(),
          // Which rows a limit leaves is only known where there is an order of all rows.
          limit: isKeyReadable && choices.chance(20) ? choices.below(4) : null,
          allowsAggregation: choices.chance(70),
        }
      : null,
    insert: mayChange(65) ? { columns: writable(85, inserted), check: rule(), presets: inserted } : null,
    update: mayChange(65)
      ? {
          columns: writable(75, updated),
          filter: rule(),
          check: choices.chance(60) ? rule() : null,
          presets: updated,
        }
      : null,
    delete: mayChange(65) ? { filter: rule() } : null,
  };
}

function makePresets(choices: Choices, table: Table): Preset[] {
  const keys = [...table.key, table.unique, table.partial?.column];
  const plain = table.columns.filter((each) => !keys.includes(each));
  return choices.some(plain, 12).map((each) => {
    const isSession =
      each.type.graphql !== null && each.type !== JSONB && !each.type.isEnum && choices.chance(40);
    return { column: each, value: choices.of(each.type.values), isSession };
  });
}
