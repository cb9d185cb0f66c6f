/** A set of objects that enter and leave often, such as the requests in flight. Adding and removing links an object and creates nothing.
 *  A Set would keep what has left it: V8's table of a Set that has outgrown it points to the next table, so that once one is in the
 *  old generation, every later one stays in memory until the next full collection, with all that was in it. That was 3 kB of each
 *  request, most of the work of each minor collection, and the slowest responses.
 *  Not here: time limits, which are linked as well (timer-wheel.ts). */

/** A member of a LinkedSet, and of no other one at the same time. Only this file changes the fields. */
export abstract class Linked {
  previous: Linked | null = null;
  next: Linked | null = null;
}

class Ends extends Linked {}

export class LinkedSet<T extends Linked> implements Iterable<T> {
  readonly #first = new Ends();
  readonly #last = new Ends();
  #size = 0;

  constructor() {
    this.#first.next = this.#last;
    this.#last.previous = this.#first;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds an object that is in no set. */
  add(member: T): void {
    const before = this.#last.previous!;
    before.next = member;
    member.previous = before;
    member.next = this.#last;
    this.#last.previous = member;
    this.#size += 1;
  }

  /** Removes a member. Without effect for an object that is in no set. */
  delete(member: T): void {
    if (!member.next) return;
    member.previous!.next = member.next;
    member.next.previous = member.previous;
    member.previous = null;
    member.next = null;
    this.#size -= 1;
  }

  /** Iterates in the order of adding. The member that was returned last may be removed meanwhile. */
  *[Symbol.iterator](): Iterator<T> {
    for (let at = this.#first.next!; at !== this.#last; ) {
      const { next } = at;
      yield at as T;
      at = next!;
    }
  }
}
