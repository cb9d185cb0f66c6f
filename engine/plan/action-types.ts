/** A call to an action, as part of a Plan: the input of its webhook, the selected part of its answer, and the rows joined to it.
 *  Pure data, built by action.ts. Not here: other calls, and the Plan (types.ts). */

import type { ValueNode } from 'graphql';
import type { ResolvedAction } from '../resolve/model/action.ts';
import type { ActionTypes, TypeUse } from '../resolve/model/custom-type.ts';
import type { QueryRoot } from './query-types.ts';
import type { JoinPaths } from './remote-types.ts';

/** A call to the webhook of an action with the arguments of one field, or a read of an earlier call's result. */
export type ActionCall = {
  readonly kind: 'action' | 'action-result';
  readonly action: ResolvedAction;
  /** The arguments as the client wrote them. */
  readonly input: ValueNode;
  /** The types that the arguments refer to. */
  readonly types: ActionTypes;
  /** The selected part of the answer; null for an action that answers with an id only. */
  readonly output: OutputPlan | null;
  /** Joins with rows for the objects of the answer. */
  readonly joins: readonly KeyedRows[];
};

/** A value of an answer: a scalar, an object with these fields, or a list of them. */
export type OutputPlan = {
  readonly type: TypeUse;
  readonly fields: readonly OutputField[] | null;
  /** The fields that an object must have besides the selected ones. */
  readonly required?: readonly string[];
  /** The indexes of the call's joins that hold rows for its objects, in the order of the objects. */
  readonly join: { readonly indexes: readonly number[] } | null;
};

export type OutputField =
  | { readonly kind: 'constant'; readonly alias: string; readonly json: string }
  | { readonly kind: 'value'; readonly alias: string; readonly name: string; readonly value: OutputPlan }
  /** A value of the joined rows, under its alias. */
  | { readonly kind: 'joined'; readonly alias: string; readonly paths: JoinPaths | null };

/** A query for a JSON array with an object of rows for each object of the answer. Its keys are the values of `fields`. */
export type KeyedRows = {
  readonly source: string;
  readonly query: QueryRoot;
  readonly fields: readonly string[];
};
