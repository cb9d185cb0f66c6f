/** Tests on random permissions of parents that a change of what a role reads in which row is never said to be less than it is: the cells are
 *  enumerated over all rows. Single changes are in access-changes.test.ts. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { differingKeys, objectsByKey } from '../testing/objects-by-key.ts';
import { accessChanges } from './access-changes.ts';

type Row = { readonly id: number; readonly isPublic: boolean };
const ROWS: readonly Row[] = [1, 2, 3].flatMap((id) => [true, false].map((isPublic) => ({ id, isPublic })));
const COLUMNS = ['id', 'salary', 'note', 'other'];

/** Filters, and what they admit. */
const FILTERS: readonly (readonly [object, (row: Row) => boolean])[] = [
  [{}, () => true],
  [{ is_public: { _eq: true } }, ({ isPublic }) => isPublic],
  [{ id: { _gt: 1 } }, ({ id }) => id > 1],
  [{ id: { _gt: 2 } }, ({ id }) => id > 2],
  [{ _and: [{ id: { _gt: 1 } }, { is_public: { _eq: true } }] }, ({ id, isPublic }) => id > 1 && isPublic],
];

const permission = fc.option(
  fc.record({
    columns: fc.oneof(fc.constant('*' as const), fc.subarray(COLUMNS.slice(0, 3))),
    filter: fc.nat(FILTERS.length - 1),
  }),
  { freq: 6 },
);
type Permission = { readonly columns: '*' | readonly string[]; readonly filter: number } | null;

const PARENTS: Readonly<Record<string, readonly string[]>> = { staff: ['a', 'b'], boss: ['staff', 'c'] };
const LEAVES: Readonly<Record<string, readonly number[]>> = { staff: [0, 1], boss: [0, 1, 2] };

function objectsOf(permissions: readonly Permission[]) {
  const roles = Object.entries(PARENTS).map(([role_name, role_set]) => ({
    [`inherited_role/${role_name}`]: { role_name, role_set },
  }));
  const selects = permissions.flatMap((one, i) => {
    const role = 'abc'[i]!;
    // Each parent is named, whether or not it reads the table.
    const elsewhere = {
      [`select_permission/default/public/other/${role}`]: { role, permission: { columns: [], filter: {} } },
    };
    if (one === null) return [elsewhere];
    const rule = { columns: one.columns, filter: FILTERS[one.filter]![0] };
    return [elsewhere, { [`select_permission/default/public/t/${role}`]: { role, permission: rule } }];
  });
  return objectsByKey(...roles, ...selects);
}

/** Returns the cells and rows that one of the parents gives. */
function reached(permissions: readonly Permission[], role: string): ReadonlySet<string> {
  const lent = LEAVES[role]!.flatMap((i) => permissions[i] ?? []);
  const all = lent.flatMap(({ columns, filter }) =>
    ROWS.filter(FILTERS[filter]![1]).flatMap((row) =>
      ['row', ...(columns === '*' ? COLUMNS : columns)].map(
        (column) => `${row.id} ${row.isPublic} ${column}`,
      ),
    ),
  );
  return new Set(all);
}

test('what a role that inherits gains or loses is never left out', () => {
  const three = fc.tuple(permission, permission, permission);
  fc.assert(
    fc.property(three, three, fc.subarray([0, 1, 2], { minLength: 1 }), (before, other, changed) => {
      const after = before.map((one, i) => (changed.includes(i) ? other[i]! : one));
      const objects = [objectsOf(before), objectsOf(after)] as const;
      const changes = accessChanges(differingKeys(...objects), ...objects);
      for (const role of Object.keys(PARENTS)) {
        const [old, next] = [reached(before, role), reached(after, role)];
        const found = changes.find(
          ({ change }) => change.key === `select_permission/default/public/t/${role}`,
        );
        const verdicts = new Set(found?.change.parts.map(({ verdict }) => verdict));
        const mayGain = found?.change.change === 'granted' || verdicts.has('wider') || verdicts.has('other');
        const mayLose =
          found?.change.change === 'revoked' || verdicts.has('narrower') || verdicts.has('other');
        if ([...next].some((cell) => !old.has(cell))) expect(mayGain).toBe(true);
        if ([...old].some((cell) => !next.has(cell))) expect(mayLose).toBe(true);
      }
    }),
    { numRuns: 2000 },
  );
});
