/** The public interface of the room: for the operator, which must know before a migration what will be held back, and for tests. */
export { rivalsOf } from './admit.ts';
export { type ComparedDocuments, comparisonOf, summaryOf } from './breaking.ts';
export type { Cause, Change, Misfit } from './change.ts';
export { feasible } from './feasible.ts';
export { admitHoldingBack, type Break, type Held } from './hold-back.ts';
export { refusalOfCycle } from './role-cycles.ts';
export { wideningsOf } from './widening.ts';
