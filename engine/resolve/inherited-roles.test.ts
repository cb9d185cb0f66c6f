/** What an inherited role gets of one table's accesses. Rows and cells as Postgres answers them: inherited-roles.test.ts. */
import { describe, expect, test } from 'vitest';
import { builtinType } from '../catalog/types.ts';
import { ALL_CELLS, NO_ACCESS } from './access.ts';
import { type Inheritance, inheritAccess, withInheritedRoles } from './inherited-roles.ts';
import type { SelectAccess, TableAccess, UpdateAccess } from './model/access.ts';
import { and, type Predicate, TRUE } from './predicate.ts';

const type = builtinType('int4');
const is = (column: string, value: string): Predicate => ({
  kind: 'compare',
  left: { column, type },
  operator: '_eq',
  right: { kind: 'constant', value, type },
});
const [ONE, TWO] = [is('id', '1'), is('id', '2')];

const reads = (columns: readonly string[], filter: Predicate, rest: Partial<SelectAccess> = {}) => ({
  ...NO_ACCESS,
  select: {
    columns: new Set(columns),
    computedFields: new Set<string>(),
    cells: ALL_CELLS,
    filter,
    limit: null,
    allowsAggregation: false,
    queryRootFields: null,
    subscriptionRootFields: null,
    ...rest,
  },
});
const writes = (rest: Partial<UpdateAccess> = {}): TableAccess => ({
  ...NO_ACCESS,
  update: {
    ...{ columns: new Set(['a', 'b']), filter: and(ONE, TWO), check: TRUE },
    ...{ presets: new Map(), backendOnly: false, ...rest },
  },
});

function inherit(
  own: Readonly<Record<string, TableAccess>>,
  inherited: Readonly<Record<string, readonly string[]>>,
  rest: Partial<Inheritance> = {},
): { of: (role: string) => TableAccess; conflicts: string[] } {
  const conflicts: string[] = [];
  const accesses = inheritAccess(new Map(Object.entries(own)), {
    inheritedRoles: Object.entries(inherited).map(([role_name, parents]) => ({
      role_name,
      role_set: [...parents],
    })),
    hasOwn: () => false,
    onConflict: (role, kind) => conflicts.push(`${role} ${kind}`),
    ...rest,
  });
  return { of: (role) => accesses.get(role) ?? NO_ACCESS, conflicts };
}

describe('reading', () => {
  test('a single parent is inherited as it is', () => {
    const a = reads(['id'], ONE);
    expect(inherit({ a }, { heir: ['a', 'stranger'] }).of('heir').select).toBe(a.select);
  });

  test('what every parent grants, or a parent that shows every row, is shown everywhere', () => {
    const a = reads(['id', 'name', 'x'], ONE);
    const b = reads(['id', 'name'], TRUE);
    const { select } = inherit({ a, b }, { heir: ['a', 'b'] }).of('heir');
    expect(select).toMatchObject({ filter: TRUE, columns: new Set(['id', 'name', 'x']) });
    expect(select!.cells.columns).toEqual(new Map([['x', ONE]]));
  });

  test('what one parent alone grants has its condition, also where the other reads the same rows: a write may ask of others', () => {
    const { of } = inherit({ a: reads(['x'], ONE), b: reads(['y'], ONE) }, { heir: ['a', 'b'] });
    const { select } = of('heir');
    expect(select!.filter).toEqual(ONE);
    expect(select!.cells.columns).toEqual(
      new Map([
        ['x', ONE],
        ['y', ONE],
      ]),
    );
  });

  test('of an inheriting parent a cell is shown where the parent shows it', () => {
    const own = { a: reads(['id', 'x'], ONE), b: reads(['id'], TWO), c: reads(['id'], TRUE) };
    const { of } = inherit(own, { ab: ['a', 'b'], abc: ['c', 'ab'], copy: ['ab', 'stranger'] });
    const both = { kind: 'or', any: [ONE, TWO] };
    expect(of('ab').select!.cells.columns).toEqual(new Map([['x', ONE]]));
    expect(of('copy').select).toBe(of('ab').select);
    expect(of('abc').select!.filter).toEqual(TRUE);
    expect(of('abc').select!.cells.columns).toEqual(new Map([['x', and(both as Predicate, ONE)]]));
  });

  test('limits are the largest, and none is larger than any', () => {
    const own = {
      two: reads(['id'], ONE, { limit: 2 }),
      five: reads(['id'], TWO, { limit: 5 }),
      all: reads(['id'], TWO),
    };
    const { of } = inherit(own, { a: ['two', 'five'], b: ['two', 'all'] });
    expect([of('a').select!.limit, of('b').select!.limit]).toEqual([5, null]);
  });

  test('root fields are those of any parent; aggregates, when one may ask for them', () => {
    const own = {
      none: reads(['id'], ONE, { queryRootFields: new Set(), subscriptionRootFields: new Set(['select']) }),
      some: reads(['id'], TWO, { queryRootFields: new Set(['select']), allowsAggregation: true }),
    };
    expect(inherit(own, { heir: ['none', 'some'] }).of('heir').select).toMatchObject({
      queryRootFields: new Set(['select']),
      subscriptionRootFields: null,
      allowsAggregation: true,
    });
  });

  test('a permission of its own stands, even one that did not resolve', () => {
    const own = { a: reads(['id', 'x'], TRUE), b: reads(['id'], ONE), heir: reads(['id'], TWO) };
    const { of } = inherit(own, { heir: ['a', 'b'], broken: ['a'] }, { hasOwn: () => true });
    expect(of('heir').select).toBe(own.heir.select);
    expect(of('broken')).toBe(NO_ACCESS);
  });
});

describe('writing', () => {
  test('parents agree when they mean the same', () => {
    const own = {
      a: writes(),
      b: writes({ columns: new Set(['b', 'a']), filter: and(TWO, ONE) }),
      c: NO_ACCESS,
    };
    const { of, conflicts } = inherit(own, { heir: ['a', 'b', 'c'] });
    expect(of('heir').update).toEqual(own.b.update);
    expect(conflicts).toEqual([]);
  });

  const preset = new Map([['a', { kind: 'session', variable: 'x-engine-user-id', type } as const]]);
  test.each<[string, Partial<UpdateAccess>]>([
    ['columns', { columns: new Set(['a']) }],
    ['rows', { filter: ONE }],
    ['check', { check: ONE }],
    ['presets', { presets: preset }],
    ['being for backends', { backendOnly: true }],
  ])('parents that differ in %s lend nothing, to nobody further down either', (_, difference) => {
    const own = { a: writes(), b: writes(difference) };
    const { of, conflicts } = inherit(own, { heir: ['a', 'b'], next: ['heir', 'a'] });
    expect([of('heir').update, of('next').update]).toEqual([null, null]);
    expect(conflicts).toEqual(['heir update']);
  });

  test('a permission of its own settles what the parents do not', () => {
    const own = { a: writes(), b: writes({ check: ONE }), heir: writes({ check: TWO }) };
    const hasOwn = (role: string, kind: string) => role === 'heir' && kind === 'update';
    const { of, conflicts } = inherit(own, { heir: ['a', 'b'], next: ['heir'] }, { hasOwn });
    expect([of('heir').update, of('next').update]).toEqual([own.heir.update, own.heir.update]);
    expect(conflicts).toEqual([]);
  });
});

test('a call is open to whoever inherits from one who may make it, at any distance', () => {
  const inherited = [
    { role_name: 'b', role_set: ['a', 'x'] },
    { role_name: 'c', role_set: ['b'] },
    { role_name: 'd', role_set: ['x'] },
  ];
  expect(withInheritedRoles(new Set(['a']), inherited)).toEqual(new Set(['a', 'b', 'c']));
  expect(withInheritedRoles(new Set(['a']), inherited.toReversed())).toEqual(new Set(['a', 'b', 'c']));
});
