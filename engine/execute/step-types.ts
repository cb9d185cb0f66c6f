/** What the steps of one request share while they run, and what a step results in. Not here: the steps of a plan (sql/plan.ts). */
import type { Databases } from '../database/databases.ts';
import type { Session } from '../resolve/session.ts';
import type { OutboundContext } from '../webhook/outbound.ts';
import type { Column, Row } from '../wire/statement.ts';
import type { Binding } from './bind.ts';
import type { PlannedRequest } from './plan-cache.ts';

export type RunContext = {
  readonly planned: PlannedRequest;
  readonly session: Session;
  readonly databases: Databases;
  readonly outbound: OutboundContext;
};

/** The result of a step, with a column for each field it answers. */
export type StepResult = {
  readonly columns: Row;
  /** Errors that stand beside `data`, in the form that clients receive. */
  readonly errors: readonly unknown[];
  /** False when `data` is null because of this step. */
  readonly isUsable: boolean;
};

/** The memory of parsed JSON, as a multiple of its text. */
const PARSED_SHARE = 8;

/** Holds the memory that a column takes once it is parsed. Raises `overloaded`. */
export function holdParsed(column: Column, { outbound }: RunContext): void {
  if (column !== null) outbound.holding?.hold(PARSED_SHARE * column.length);
}

/** Returns what statements of the request are bound with. */
export function bindingOf({ planned, session, outbound }: RunContext): Binding {
  return { session, variables: planned.variables.values, trace: outbound.span?.spanContext ?? null };
}
