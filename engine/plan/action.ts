/** Plans a root field that is an action: the input of its webhook, the selected part of the answer, and the rows joined to it.
 *  Arguments stay as the client wrote them, so that a plan holds no values. Rows are joined by keys in the answer of the
 *  webhook. Reference: docs/reference/behaviour/remote-schemas.md, docs/reference/behaviour/actions.md.
 *  Not here: calling and validating the answer (execute/action.ts). */
import { type GraphQLObjectType, getNamedType, isObjectType, Kind } from 'graphql';
import { withPath } from '../errors/engine-error.ts';
import { requiredFields } from '../resolve/custom-type.ts';
import type { CustomKey, TypeUse } from '../resolve/model/custom-type.ts';

import { type FieldOrigin, fieldOrigin } from '../schema/origin.ts';
import type { KeyedRows, OutputField, OutputPlan } from './action-types.ts';
import { readArguments } from './arguments.ts';
import type { PlanContext, SelectedField, SelectedNodes } from './context.ts';
import { planRelated } from './field.ts';
import { pathsInFields } from './join-paths.ts';
import { keyedRows } from './keyed-rows.ts';
import type { Field } from './query-types.ts';
import { selectedFields, subselections } from './selection.ts';
import type { Call, Root } from './types.ts';

type ActionField = SelectedNodes & {
  readonly alias: string;
  readonly origin: Extract<FieldOrigin, { kind: 'action' | 'action-result' }>;
};

export function planAction({ alias, field, nodes, origin }: ActionField, context: PlanContext): Root {
  // What is wrong with the arguments is found now; what they hold is read when the webhook is called.
  readArguments({ field, nodes }, context);
  const { kind, action } = origin;
  const fields = (nodes[0]?.arguments ?? []).map(({ name, value }) => {
    return { kind: Kind.OBJECT_FIELD, name, value } as const;
  });
  const joins: KeyedRows[] = [];
  const type = kind === 'action' ? action.output : RESULT;
  const isLater = kind === 'action' && action.isAsynchronous;
  const selected = isLater ? null : planOutput(type, { field, nodes }, { context, joins });
  const { customTypes: types } = context.document.role.model;
  const required = kind === 'action' ? requiredFields(types, type) : [];
  const output = selected && required.length > 0 ? { ...selected, required } : selected;
  const call: Call = { kind, action, input: { kind: Kind.OBJECT, fields }, types, output, joins };
  return { kind: 'called', alias, call: context.calls.push(() => call) - 1, field: 0 };
}

/** The type of an asynchronous action's result, which is null when there is no such call. */
const RESULT: TypeUse = { kind: 'named', name: '', isNullable: true };

type Planning = { readonly context: PlanContext; readonly joins: KeyedRows[] };

function planOutput(type: TypeUse, at: SelectedNodes, planning: Planning): OutputPlan {
  const named = getNamedType(at.field.type);
  if (!isObjectType(named)) return { type, fields: null, join: null };
  const declared = planning.context.document.role.model.customTypes.declared.get(named.name);
  const keys = declared?.kind === 'object' ? declared.keys : [];
  const selection = withPath('selectionSet', () =>
    selectedFields(subselections(at.nodes), named, planning.context),
  );
  const joined: Joined[] = [];
  const fields = withPath('selectionSet', () =>
    selection.map((selected) => planField(selected, named, joined, planning)),
  );
  return { type, fields, join: addJoins(joined, keys, planning) };
}

/** Rows of one source. */
type Joined = { readonly source: string; readonly field: Field };

function planField(
  { alias, name, nodes, field }: SelectedField,
  type: GraphQLObjectType,
  joined: Joined[],
  planning: Planning,
): OutputField {
  if (!field) return { kind: 'constant', alias, json: JSON.stringify(type.name) };
  return withPath(name, (): OutputField => {
    const origin = fieldOrigin(field);
    if (origin.kind === 'output') {
      return { kind: 'value', alias, name, value: planOutput(origin.field.type, { field, nodes }, planning) };
    }
    if (origin.kind !== 'relationship' && origin.kind !== 'relationship-aggregate') {
      throw new Error(`${origin.kind} is not part of an answer`);
    }
    const related = planRelated({ alias, field, nodes, origin }, planning.context);
    joined.push({ source: origin.target.source, field: related });
    const paths = pathsInFields([related])?.inner.get(alias) ?? null;
    return { kind: 'joined', alias, paths };
  });
}

/** Adds a query for each source of the fields, and returns the indexes of these queries. */
function addJoins(
  joined: readonly Joined[],
  keys: readonly CustomKey[],
  { joins }: Planning,
): OutputPlan['join'] {
  if (joined.length === 0) return null;
  const indexes = [...new Set(joined.map(({ source }) => source))].map((source) => {
    const fields = joined.filter((each) => each.source === source).map(({ field }) => field);
    const query = keyedRows(fields, keys, joins.length);
    return joins.push({ source, query, fields: keys.map(({ field }) => field) }) - 1;
  });
  return { indexes };
}
