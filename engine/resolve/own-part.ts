/** The part of a predicate that is about columns of its row only. A Citus cluster can evaluate it wherever the row is. In: a predicate. Out: one
 *  that follows from it. Not here: how a cluster evaluates the rest (sql/distribution.ts). */
import { and, type Predicate, TRUE } from './predicate.ts';

/** Returns the members of a conjunction that are about columns of the row only. */
export function ownPart(predicate: Predicate): Predicate {
  if (predicate.kind === 'and') return and(...predicate.all.map(ownPart));
  if (predicate.kind === 'barrier') return ownPart(predicate.filter);
  return isOwn(predicate) ? predicate : TRUE;
}

/** Returns the members of a conjunction, at any depth. */
export function conjuncts(predicate: Predicate): readonly Predicate[] {
  return predicate.kind === 'and' ? predicate.all.flatMap(conjuncts) : [predicate];
}

/** True when the predicate, which is about columns of the row only, is about this one. */
export function isAbout(predicate: Predicate, column: string): boolean {
  switch (predicate.kind) {
    case 'and':
      return predicate.all.some((each) => isAbout(each, column));
    case 'or':
      return predicate.any.some((each) => isAbout(each, column));
    case 'not':
      return isAbout(predicate.not, column);
    case 'is-null':
      return predicate.left.column === column;
    case 'compare': {
      const { left, right } = predicate;
      return left.column === column || (right.kind === 'column' && right.column === column);
    }
    default:
      return false;
  }
}

/** True when the predicate is about columns of the row only. */
export function isOwn(predicate: Predicate): boolean {
  switch (predicate.kind) {
    case 'true':
    case 'false':
      return true;
    case 'and':
      return predicate.all.every(isOwn);
    case 'or':
      return predicate.any.every(isOwn);
    case 'not':
      return isOwn(predicate.not);
    case 'is-null':
    case 'compare': {
      const { call, aggregate, visibleIf } = predicate.left;
      const isRoot =
        predicate.kind === 'compare' && predicate.right.kind === 'column' && predicate.right.scope === 'root';
      return !call && !aggregate && !visibleIf && !isRoot;
    }
    default:
      return false;
  }
}

/** True when the predicate reads no other row and calls no function, so that the shard of a row can evaluate it while it writes. */
export function isOfRow(predicate: Predicate): boolean {
  switch (predicate.kind) {
    case 'and':
      return predicate.all.every(isOfRow);
    case 'or':
      return predicate.any.every(isOfRow);
    case 'not':
      return isOfRow(predicate.not);
    case 'barrier':
      return isOfRow(predicate.filter) && isOfRow(predicate.where);
    case 'is-null':
    case 'compare': {
      const { call, aggregate, visibleIf } = predicate.left;
      return !call && !aggregate && !visibleIf;
    }
    default:
      return isOwn(predicate);
  }
}
