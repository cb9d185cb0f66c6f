/** The object relationships of one query: each is a LEFT JOIN to at most one row, shared by all fields that need the same one.
 *  The join is plain when a key makes the row unique, and lateral with `limit 1` otherwise (lateral joins everywhere cost 1.9
 *  times as much on wide results). */
import type { Join, Predicate } from '../resolve/predicate.ts';
import { allOf, filtered, joinedSource, matches } from './bool-exp.ts';
import { empty, type Fragment, id, join, sql } from './fragment.ts';
import { type Aliases, rowScope } from './scope.ts';

export class Joins {
  readonly aliases: Aliases;
  readonly #clauses: Fragment[] = [];
  readonly #known = new Map<string, string>();

  constructor(aliases: Aliases) {
    this.aliases = aliases;
  }

  get isEmpty(): boolean {
    return this.#clauses.length === 0;
  }

  /** Returns the alias of the row that `on` leads to from `local`. All its columns are null when there is no such row or
   *  `filter` excludes it. */
  to(on: Join, local: string, filter: Predicate): string {
    const key = JSON.stringify([local, on, filter]);
    const known = this.#known.get(key);
    if (known) return known;
    const remote = this.aliases.next({ mapping: on.mapping, outer: local });
    this.#known.set(key, remote);
    this.#clauses.push(leftJoin(on, local, remote, filter, this.aliases));
    return remote;
  }

  /** Returns the joins in the order they were added, so each refers only to earlier ones; empty when there are none. */
  clauses(): Fragment {
    return join(this.#clauses, empty);
  }
}

function leftJoin(on: Join, local: string, remote: string, filter: Predicate, aliases: Aliases): Fragment {
  const where = allOf([matches(on, local, remote), filtered(filter, rowScope(remote, aliases))]);
  const row = sql`${joinedSource(on, local, remote, aliases, filter)} ${id(remote)}`;
  if (on.isUnique) return sql` left join ${row} on ${where}`;
  return sql` left join lateral (select * from ${row} where ${where} limit 1) ${id(remote)} on true`;
}
