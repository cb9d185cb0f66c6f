/** A random world → one that a cluster can have however its tables are distributed. In: a world. Out: the same world, changed. */
import { EVERYTHING, looksAround } from '../../engine/oracle/testing/condition.ts';
import type { World } from '../../engine/oracle/testing/world.ts';

/** Returns the world without what a cluster refuses whatever the distribution: foreign keys and unique constraints that do not have the
 *  distribution column, functions that read tables, and updates of the distribution column. Relationships are declared by their columns.
 *  Checks do not look at other rows, since a cluster checks rows after they are written. */
export function loosened(world: World): World {
  for (const table of world.tables) {
    for (const each of table.relationships) Object.assign(each, { using: 'manual' });
    Object.assign(table, { foreignKeys: [], unique: null, partial: null });
    for (const { permissions } of [...world.roles, world.heir]) {
      const own = permissions.get(table)!;
      const { insert, update } = own;
      for (const may of [insert, update]) {
        if (may?.check && looksAround(may.check)) Object.assign(may, { check: EVERYTHING });
      }
      const columns = update?.columns.filter((each) => each !== table.key[0]) ?? [];
      // A role that may change no column has no updates to choose.
      Object.assign(own, { update: columns.length > 0 ? Object.assign(update!, { columns }) : null });
    }
  }
  return Object.assign(world, { functions: [] });
}
