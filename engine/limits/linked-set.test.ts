/** Tests linked-set.ts against a Set, with random calls. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Linked, LinkedSet } from './linked-set.ts';

class Member extends Linked {
  readonly id: number;

  constructor(id: number) {
    super();
    this.id = id;
  }
}

const CALL = fc.record({ isAdded: fc.boolean(), id: fc.integer({ min: 0, max: 5 }) });

test('it has the members of a Set, in the same order', () => {
  fc.assert(
    fc.property(fc.array(CALL, { maxLength: 30 }), (calls) => {
      const members = Array.from({ length: 6 }, (_, id) => new Member(id));
      const [linked, plain] = [new LinkedSet<Member>(), new Set<Member>()];
      for (const { isAdded, id } of calls) {
        const member = members[id]!;
        if (!isAdded) linked.delete(member);
        else if (!plain.has(member)) linked.add(member);
        if (isAdded) plain.add(member);
        else plain.delete(member);
      }
      expect([...linked].map(({ id }) => id)).toEqual([...plain].map(({ id }) => id));
      expect(linked.size).toBe(plain.size);
    }),
  );
});

test('each member may be removed while it is visited', () => {
  const linked = new LinkedSet<Member>();
  for (let id = 0; id < 4; id++) linked.add(new Member(id));
  const visited: number[] = [];
  for (const member of linked) {
    visited.push(member.id);
    linked.delete(member);
  }
  expect([visited, linked.size]).toEqual([[0, 1, 2, 3], 0]);
});
