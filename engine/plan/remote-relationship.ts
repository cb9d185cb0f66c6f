/** Plans a field that is joined from another source: one statement of a source, or one document of a remote schema, for the keys of
 *  all rows or objects together. A plan holds no keys, so the text of the document is completed when the request runs
 *  (execute/join.ts).
 *  Raises `notSupported` in a subscription, except in live queries with the feature `remote_relationships_in_subscriptions`. Reference: docs/reference/behaviour/subscriptions.md, docs/reference/behaviour/remote-schemas.md. */

import { type ArgumentNode, isNonNullType, print, stripIgnoredCharacters } from 'graphql';
import { fail } from '../errors/engine-error.ts';
import type { RemoteStep } from '../resolve/model/remote-step.ts';
import { keyColumn } from '../resolve/remote-relationship.ts';
import { fieldsAlong } from '../resolve/remote-step.ts';
import type { UpstreamField } from '../resolve/upstream.ts';
import type { JoinedOrigin, RemoteJoinOrigin, RowsJoinOrigin } from '../schema/origin.ts';
import { readArguments } from './arguments.ts';
import type { PlanContext, SelectedNodes } from './context.ts';
import { planRelated } from './field.ts';
import { pathsInFields } from './join-paths.ts';
import { keyedRows } from './keyed-rows.ts';
import type { RemoteArguments } from './remote-arguments.ts';
import { freePrefix } from './remote-keys.ts';
import { RemoteSelection, shapeOf } from './remote-selection.ts';
import type { JoinStep, RemoteSchemaJoin, RowsJoin } from './remote-types.ts';

/** Plans a join and returns its index among the joins of the request. */
export function planJoin(to: JoinedOrigin['to'], selected: SelectedNodes, context: PlanContext): number {
  if (!context.mayJoin) {
    fail('notSupported', { text: 'Remote relationships are not allowed in subscriptions' });
  }
  const join =
    to.kind === 'rows' ? planRowsJoin(to, selected, context) : planRemoteJoin(to, selected, context);
  return context.joins.push(join) - 1;
}

function planRowsJoin(
  { related, keyTypes }: RowsJoinOrigin,
  { field, nodes }: SelectedNodes,
  context: PlanContext,
): RowsJoin {
  const member = 'rows';
  const fields = [planRelated({ alias: member, field, nodes, origin: related }, context)];
  const keys = keyTypes.map((type, i) => ({ column: keyColumn(i), type }));
  return {
    kind: 'rows',
    source: related.target.source,
    query: keyedRows(fields, keys, 0),
    member,
    isNullable: !isNonNullType(field.type),
    width: keys.length,
    paths: pathsInFields(fields)?.inner.get(member) ?? null,
  };
}

function planRemoteJoin(
  to: RemoteJoinOrigin,
  { field, nodes }: SelectedNodes,
  context: PlanContext,
): RemoteSchemaJoin {
  const { remote, part, steps } = to;
  readArguments({ field, nodes }, context);
  const selection = new RemoteSelection(to, context);
  const answer = selection.answer();
  const inner = selection.inner(nodes, field, answer);
  const along = fieldsAlong(steps, part);
  const planned = steps.map((step, depth): JoinStep => {
    const given = depth === steps.length - 1 ? (nodes[0]?.arguments ?? []) : [];
    return planStep(step, along[depth]!, given, selection.arguments);
  });
  const { definitions, variables } = selection.variables();
  return {
    kind: 'remote',
    remote,
    part,
    steps: planned,
    // What a key leads to may be missing, whatever the type of the last field.
    shape: { ...shapeOf(field, answer, remote.names.renamesObjects), isNullable: true },
    selection: inner ? stripIgnoredCharacters(print(inner)) : '',
    definitions: definitions.map((node) => print(node)),
    variables,
    prefix: freePrefix([...context.document.variables.keys(), ...variables.map(({ name }) => name)]),
    paths: answer.keys.finished(),
  };
}

/** Plans one step. Arguments of the relationship take precedence over presets of permissions. */
function planStep(
  step: RemoteStep,
  field: UpstreamField,
  given: readonly ArgumentNode[],
  read: RemoteArguments,
): JoinStep {
  const fixed: string[] = [];
  const filled: JoinStep['filled'][number][] = [];
  for (const argument of field.arguments) {
    const { name, type } = argument;
    const written = given.find((each) => each.name.value === name)?.value;
    const value = step.arguments.get(name);
    if (value) filled.push({ name, type, value, given: written ?? null, preset: argument.preset ?? null });
    else {
      const sent = read.value(argument, written);
      if (sent) fixed.push(`${name}:${stripIgnoredCharacters(print(sent))}`);
    }
  }
  return { field: step.field, fixed, filled };
}
