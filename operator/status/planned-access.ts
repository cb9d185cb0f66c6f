/** The changes of access that a plan makes, for its text and its data: those that single objects show, those that follow from them for
 *  roles that inherit, and those for requests, as the engine reports them. Pure. Not here: the comparison and the words
 *  (decide/access.ts). */
import type { AccessChange } from '@pergola/engine/metadata';
import { accessOfDecisions, type DecidedAccess } from '../decide/access.ts';
import type { Decision } from '../decide/decide.ts';
import { objectsIn } from '../objects/normal-form.ts';
import type { SchemaEffects } from '../ports/schema-effects.ts';
import { type PassPlan, plannedDecisions } from './report.ts';

export type PlannedAccess = {
  /** Returns what the change of the object with the key means; null when nothing. */
  readonly of: (key: string) => AccessChange | null;
  /** The changes that belong to none of the changed objects, those that only the engine knows among them. */
  readonly others: readonly AccessChange[];
};

/** Returns the changes of access by the decisions that would be applied, with the decisions that cause each. */
export function appliedAccess(
  { reading, settled }: PassPlan,
  { requests = [] }: SchemaEffects,
): readonly DecidedAccess[] {
  return [
    ...accessOfDecisions(objectsIn(reading.metadata), settled.applied),
    ...requests.map((change) => ({ change, decisions: decisionsAbout(change, settled.applied) })),
  ];
}

/** Returns the decisions about the object that a change names. A query is allowed by its collection and by the entry of it. */
function decisionsAbout({ key, operation }: AccessChange, decisions: readonly Decision[]) {
  const entry = operation === 'run' ? key.replace(/^query_collection/, 'allowlist') : key;
  return decisions.filter((decision) => decision.key === key || decision.key === entry);
}

/** Returns the changes of access of a plan. `effects` are absent where the engine does not report them. */
export function plannedAccess(made: PassPlan, effects?: SchemaEffects): PlannedAccess {
  const decisions = plannedDecisions(made);
  const keys = new Set(decisions.map(({ key }) => key));
  const changes = accessOfDecisions(objectsIn(made.reading.metadata), decisions).map(({ change }) => change);
  const byKey = new Map(changes.map((change) => [change.key, change]));
  return {
    of: (key) => byKey.get(key) ?? null,
    others: [...changes.filter(({ key }) => !keys.has(key)), ...(effects?.requests ?? [])],
  };
}
