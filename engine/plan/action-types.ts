/** A call to an action, as part of a Plan: what its webhook is told, what is kept of its answer, and the rows joined to that.
 *  Pure data, made by action.ts. Not here: other calls, and the Plan (types.ts). */

import type { ValueNode } from 'graphql';
import type { ResolvedAction, TypeUse } from '../resolve/types.ts';
import type { QueryRoot } from './query-types.ts';
import type { JoinPlaces } from './remote-types.ts';

/** A webhook that is told of the arguments of one field; or the answer to an earlier call. */
export type ActionCall = {
  readonly kind: 'action' | 'action-result';
  readonly action: ResolvedAction;
  /** The arguments as the client wrote them. */
  readonly input: ValueNode;
  /** What is kept of the answer; null where there is only an id. */
  readonly output: OutputPlan | null;
  /** Rows that belong to objects of the answer. */
  readonly joins: readonly KeyedRows[];
};

/** A value of an answer: a scalar, or an object of these fields; or a list of such. */
export type OutputPlan = {
  readonly type: TypeUse;
  readonly fields: readonly OutputField[] | null;
  /** Which of the root's joins hold its rows, in the order of its objects. */
  readonly join: { readonly places: readonly number[] } | null;
};

/** In response order. */
export type OutputField =
  | { readonly kind: 'constant'; readonly alias: string; readonly json: string }
  | { readonly kind: 'value'; readonly alias: string; readonly name: string; readonly value: OutputPlan }
  /** Found in the joined rows, under its alias. */
  | { readonly kind: 'joined'; readonly alias: string; readonly places: JoinPlaces | null };

/** A JSON array with an object of rows for each object of the answer, which it finds by the values of `fields`. */
export type KeyedRows = {
  readonly source: string;
  readonly query: QueryRoot;
  readonly fields: readonly string[];
};
