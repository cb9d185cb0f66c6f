/** Prepared document × variables → Plan: each root field handed to its concept, in response order.
 *  Raises validation errors with paths that begin at `selectionSet`. Not here: statements (sql/plan.ts). */
import type { GraphQLField, GraphQLObjectType, OperationDefinitionNode } from 'graphql';
import { fail, withPath } from '../errors/engine-error.ts';
import type { ResolvedFunction } from '../resolve/model/function.ts';
import type { FunctionCall } from '../resolve/predicate.ts';
import { type FieldOrigin, fieldOrigin } from '../schema/origin.ts';
import { planAction } from './action.ts';
import { planAggregate } from './aggregate.ts';
import { readArguments } from './arguments.ts';
import { planConnection } from './connection.ts';
import {
  PlanContext,
  type Planners,
  type PreparedDocument,
  type SelectedField,
  type SelectedNodes,
  type VariableDependencies,
} from './context.ts';
import { REQUEST_DIRECTIVES } from './directives.ts';
import { planEntities, planService } from './federation.ts';
import { planField } from './field.ts';
import { planCall } from './function.ts';
import { planGroups } from './group-by.ts';
import { withoutImpliedConditions } from './implied.ts';
import { readInput } from './input.ts';
import { introspectionText, isIntrospection } from './introspection.ts';
import { planMutation } from './mutation.ts';
import { planNode } from './node.ts';
import { planJoin } from './remote-relationship.ts';
import { RemoteLevel } from './remote-schema.ts';
import { selectedFields, subselections } from './selection.ts';
import { planStream } from './stream.ts';
import { objectTypeOf, planCalled, planRow, planRows } from './table.ts';
import type { Call, Plan, Root } from './types.ts';
import { NO_DEPENDENCIES, type RequestVariables } from './variables.ts';

const PLANNERS: Planners = { field: planField, join: planJoin };

type PlanResult = {
  readonly plan: Plan;
  /** The dependencies of the document's plans: `known`, and those that this plan added. */
  readonly dependencies: VariableDependencies;
  /** The work of the request as a number of fields. */
  readonly size: number;
};

/** Plans a request. `known` is what earlier plans of the document depend on. */
export function planRequest(
  document: PreparedDocument,
  variables: RequestVariables,
  known: VariableDependencies = NO_DEPENDENCIES,
): PlanResult {
  const { operation } = document;
  const context = new PlanContext(document, variables.values, PLANNERS);
  const type = document.rootType;
  readDirectives(operation, context);
  const selection = withPath('selectionSet', () => selectedFields([operation.selectionSet], type, context));
  if (selection.length !== 1 && operation.operation === 'subscription') {
    // However many are allowed, they are not of different namespaces.
    const isOneSelection = document.mayHaveManyRoots && !selection.some(isNamespace);
    if (!isOneSelection) fail('validationFailed', { text: ONE_FIELD });
  }
  const roots = planRoots(selection, type, context, []);
  const calls = context.calls.map((finish) => finish());
  if (operation.operation === 'subscription') checkCompany(leavesOf(roots), calls);
  const { validations, joins } = context;
  const plan: Plan = {
    operation: operation.operation,
    roots,
    ...(calls.length > 0 ? { calls } : {}),
    ...(joins.length > 0 ? { joins } : {}),
    ...(validations.length > 0 ? { validations } : {}),
  };
  return {
    plan: withoutImpliedConditions(plan, document.role.model),
    dependencies: extended(known, context),
    size: context.size.fields + context.inputs.asFields,
  };
}

/** Reads the arguments of the operation's directives, so that a wrong value is refused. They have no effect on the plan. */
function readDirectives({ directives = [] }: OperationDefinitionNode, context: PlanContext): void {
  for (const { name, arguments: given = [] } of directives) {
    const known = REQUEST_DIRECTIVES[name.value]!.args;
    const read = () =>
      given.map((each) => {
        const { type, isOptional } = known[each.name.value]!;
        return withPath(each.name.value, () => readInput(each.value, type, context, isOptional));
      });
    withPath(name.value, () => withPath('args', read));
  }
}

/** Returns `known` itself when nothing was found besides it. */
function extended(
  known: VariableDependencies,
  { byValue, facets }: VariableDependencies,
): VariableDependencies {
  const isKnown =
    [...byValue].every((name) => known.byValue.has(name)) &&
    [...facets.keys()].every((name) => known.facets.has(name));
  if (isKnown) return known;
  return {
    byValue: new Set([...known.byValue, ...byValue]),
    facets: new Map([...known.facets, ...facets]),
  };
}

/** Raises unless a stream, or a subscription of a remote schema, is the only field. */
function checkCompany(leaves: readonly Root[], calls: readonly Call[]): void {
  const isEvents = (root: Root) => root.kind === 'called' && calls[root.call]!.kind === 'remote';
  if (leaves.length > 1 && leaves.some((root) => isStream(root) || isEvents(root))) {
    fail('validationFailed', { text: ONE_FIELD });
  }
}

const ONE_FIELD = 'subscriptions must select one top level field';

/** Returns the roots, with those inside namespaces in place of the namespaces. */
function leavesOf(roots: readonly Root[]): readonly Root[] {
  return roots.flatMap((root) => (root.kind === 'namespace' ? leavesOf(root.roots) : [root]));
}

function isStream(root: Root): boolean {
  return root.kind === 'database' && root.query.kind === 'stream';
}

function isNamespace({ field }: SelectedField): boolean {
  return field !== null && !isIntrospection(field.name) && fieldOrigin(field).kind === 'namespace';
}

function planRoots(
  selection: readonly SelectedField[],
  type: GraphQLObjectType,
  context: PlanContext,
  path: readonly string[],
): readonly Root[] {
  const remote = new RemoteLevel(context, path);
  return withPath('selectionSet', () =>
    selection.map((selected): Root => {
      const { alias, name, nodes, field } = selected;
      if (!field) return { kind: 'local', alias, json: JSON.stringify(type.name) };
      return withPath(name, () => {
        if (isIntrospection(name)) {
          return { kind: 'schema-text', alias, text: introspectionText({ field, nodes }, context) };
        }
        const origin = fieldOrigin(field);
        if (origin.kind === 'remote') return remote.add(selected, origin);
        if (origin.kind === 'service') return planService(selected, context);
        if (origin.kind === 'entities') return planEntities(selected, context);
        remote.interrupt();
        if (origin.kind !== 'namespace') {
          return withJoins(origin, context, () => planRoot(selected, field, origin, context));
        }
        return {
          kind: 'namespace',
          alias,
          roots: planNamespace({ field, nodes }, context, [...path, alias]),
        };
      });
    }),
  );
}

/** Calls `plan` with `context.mayJoin` as it is for the root. Parts of remote schemas are planned after it, outside. */
function withJoins(origin: FieldOrigin, context: PlanContext, plan: () => Root): Root {
  const { mayJoin } = context;
  context.mayJoin ||= origin.kind !== 'stream' && context.document.role.model.features.has(JOINS_FEATURE);
  try {
    return plan();
  } finally {
    context.mayJoin = mayJoin;
  }
}

const JOINS_FEATURE = 'remote_relationships_in_subscriptions';

function planNamespace(at: SelectedNodes, context: PlanContext, path: readonly string[]): readonly Root[] {
  const type = objectTypeOf(at.field);
  const selection = withPath('selectionSet', () => selectedFields(subselections(at.nodes), type, context));
  return planRoots(selection, type, context, path);
}

function planRoot(
  { alias, nodes }: SelectedField,
  field: GraphQLField<unknown, unknown>,
  origin: Exclude<FieldOrigin, { kind: 'remote' | 'namespace' | 'service' | 'entities' }>,
  context: PlanContext,
): Root {
  switch (origin.kind) {
    case 'rows':
    case 'row':
    case 'stream':
    case 'rows-aggregate':
    case 'rows-groups':
    case 'function':
    case 'function-aggregate':
    case 'connection':
    case 'function-connection':
    case 'node':
      return { kind: 'database', alias, ...planQuery(origin, { field, nodes }, context) };
    case 'placeholder':
      return { kind: 'local', alias, json: JSON.stringify(field.description ?? '') };
    case 'action':
    case 'action-result':
      return planAction({ alias, field, nodes, origin }, context);
    case 'output':
    case 'column':
    case 'computed':
    case 'relationship-aggregate':
    case 'aggregate':
    case 'group-keys':
    case 'aggregate-function':
    case 'count':
    case 'nodes':
    case 'relationship':
    case 'joined':
    case 'relationship-connection':
    case 'edges':
    case 'edge-node':
    case 'cursor':
    case 'page-info':
    case 'page-info-part':
    case 'node-id':
    case 'sdl':
    case 'affected-rows':
    case 'returning':
      throw new Error(`${origin.kind} is no root field`);
    default:
      return planMutation({ alias, field, nodes, origin }, context);
  }
}

type QueryOrigin = Extract<
  FieldOrigin,
  { kind: RowsKind | 'function' | 'function-aggregate' | 'function-connection' | 'node' }
>;
type RowsKind = 'rows' | 'row' | 'stream' | 'rows-aggregate' | 'rows-groups' | 'connection';

/** Plans a root field as a query on its source. */
function planQuery(
  origin: QueryOrigin,
  at: SelectedNodes,
  context: PlanContext,
): Omit<Extract<Root, { kind: 'database' }>, 'kind' | 'alias'> {
  if (origin.kind === 'node') {
    const { source, select } = planNode(at, context);
    return { source, query: { kind: 'row', select } };
  }
  const { table } = origin;
  const { source } = table;
  switch (origin.kind) {
    case 'rows':
      return { source, query: { kind: 'rows', select: planRows(table, at, context) } };
    case 'row':
      return { source, query: { kind: 'row', select: planRow(table, at, context) } };
    case 'stream':
      return { source, query: { kind: 'stream', ...planStream(table, at, context) } };
    case 'rows-aggregate':
      return { source, query: { kind: 'aggregate', ...planAggregate(table, at, context) } };
    case 'rows-groups':
      return { source, query: { kind: 'groups', groups: planGroups(table, at, context) } };
    case 'connection':
      return { source, query: { kind: 'connection', ...planConnection(table, at, context) } };
    case 'function': {
      const { fn } = origin;
      const select = planCalled(table, rootCall(fn, at, context), at, context);
      return { source, query: { kind: fn.returnsSet ? 'rows' : 'row', select }, ...repetition(fn) };
    }
    case 'function-aggregate': {
      const { fn } = origin;
      const query = planAggregate(table, at, context, countedCall(fn, at, context));
      return { source, query: { kind: 'aggregate', ...query }, ...repetition(fn) };
    }
    case 'function-connection': {
      const { fn } = origin;
      const page = planConnection(table, at, context, countedCall(fn, at, context));
      return { source, query: { kind: 'connection', ...page }, ...repetition(fn) };
    }
    default:
      return origin satisfies never;
  }
}

function rootCall(fn: ResolvedFunction, at: SelectedNodes, context: PlanContext): FunctionCall {
  const given = readArguments(at, context);
  return withPath('args', () => planCall(fn, given, null));
}

/** Returns a call whose rows are counted. */
function countedCall(fn: ResolvedFunction, at: SelectedNodes, context: PlanContext): FunctionCall {
  const call = rootCall(fn, at, context);
  return fn.returnsSet ? call : { ...call, mayBeNull: true };
}

/** Said only of functions that may write. */
const repetition = ({ isVolatile }: ResolvedFunction) => (isVolatile ? { isVolatile } : {});
